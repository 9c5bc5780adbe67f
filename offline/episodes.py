"""Dialogues as episodes of offline reinforcement learning."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from elicit_gym.episode import EpisodeRecord, Transition
from elicit_gym.offline.dialogue_rewards import DialogueReward
from elicit_gym.offline.lazy_sequence import LazySequence
from elicit_gym.offline.licences import licence_of
from elicit_gym.offline.merging import merge_turns
from elicit_gym.offline.returns import returns_to_go
from elicit_gym.offline.schema import Dialogue
from elicit_gym.types import ChatHistory, Message

__all__ = ["OfflineEpisode", "episode_of_dialogue", "episode_of_record"]

CONTEXT = 5


class _Observations(LazySequence[ChatHistory]):
    """The T+1 observations of an episode, made when they are asked for, since all of them take quadratic space."""

    def __init__(self, episode: "OfflineEpisode", context: int | None) -> None:
        self._episode = episode
        self._context = context

    def __len__(self) -> int:
        return len(self._episode) + 1

    def _make(self, index: int) -> ChatHistory:
        return self._episode.observation(index, self._context)


@dataclass(frozen=True, kw_only=True)
class OfflineEpisode:
    """One dialogue with T actions.

    Attributes:
        id: the dialogue's id.
        messages: the merged messages, whose roles alternate; the respondent is ``user``, the elicitor ``assistant``.
            Shape (M,).
        turn_ids: the id of each message's first raw turn, shape (M,).
        rewards: the reward of each action, shape (T,).
        returns_to_go: the return-to-go of each action, shape (T,).
        terminated: whether it ended by itself; a recorded interview always does.
        truncated: whether it was cut off.
        behaviour_log_probs: the natural logarithm of the probability with which whoever acted chose each action,
            shape (T,); None where it is not known. See `elicit_gym.offline.log_probs.with_log_probs`.
    """

    id: str
    domain: str
    messages: ChatHistory
    turn_ids: tuple[int, ...]
    rewards: tuple[float, ...]
    returns_to_go: tuple[float, ...]
    terminated: bool = True
    truncated: bool = False
    split: str | None = None
    licence: str = "unknown"
    behaviour_log_probs: tuple[float, ...] | None = None
    positions: tuple[int, ...] = field(init=False, repr=False, compare=False)
    """The index of each action in `messages`, shape (T,)."""

    def __post_init__(self) -> None:
        found = tuple([i for i, message in enumerate(self.messages) if message.role == "assistant"])
        object.__setattr__(self, "positions", found)

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def actions(self) -> tuple[str, ...]:
        """The elicitor's messages, shape (T,)."""
        return tuple(self.messages[p].content for p in self.positions)

    def observation(self, step: int, context: int | None = None) -> ChatHistory:
        """Return what the agent saw before action `step`; for ``step == T`` what it saw in the end.

        Args:
            step: 0 to T.
            context: the largest number of messages, of which the latest are kept; None for all.
        """
        end = self.positions[step] if step < len(self.positions) else len(self.messages)
        return self.messages[max(0, end - context) if context is not None else 0 : end]

    def observations(self, context: int | None = None) -> Sequence[ChatHistory]:
        """Return all T+1 observations, each made when it is asked for."""
        return _Observations(self, context)

    def transitions(self, context: int | None = CONTEXT) -> Iterator[Transition]:
        """Yield one transition for each action."""
        last = len(self) - 1
        for step, position in enumerate(self.positions):
            yield Transition(
                observation=self.observation(step, context),
                action=self.messages[position].content,
                reward=self.rewards[step],
                next_observation=self.observation(step + 1, context),
                terminated=step == last and self.terminated,
                truncated=step == last and self.truncated,
            )


def episode_of_dialogue(
    dialogue: Dialogue, reward: DialogueReward, *, gamma: float = 0.9, published: bool = False
) -> OfflineEpisode:
    """Turn a dialogue into an episode.

    Args:
        dialogue: the raw dialogue.
        reward: what replies are worth.
        gamma: the discount.
        published: how rewards and returns are counted if neighbours of the same role are merged.

            False (default) follows the paper's definition on merged turns: the reward of an action is the worth of the
            whole merged reply, and returns are discounted from action to action.

            True reproduces the published rows as they show it: a merged reply takes the reward and the return of its
            *last raw* turn, and returns are discounted over the raw respondent turns. The two differ wherever a
            respondent has two raw turns in a row.

    Returns:
        The episode; an action that nobody answers earns 0.
    """
    merged = merge_turns(dialogue)
    actions = [i for i, turn in enumerate(merged) if turn.role == "elicitor"]
    if published:
        raw_worth = reward([(turn.role, turn.utterance) for turn in dialogue.turns])
        answered = [i for i, turn in enumerate(dialogue.turns) if turn.role == "respondent"]
        raw_returns = dict(zip(answered, returns_to_go([raw_worth[i] for i in answered], gamma), strict=True))
        replies = [merged[i + 1].raw[1] if i + 1 < len(merged) else None for i in actions]
        rewards = [0.0 if last is None else raw_worth[last] for last in replies]
        returns = [0.0 if last is None else raw_returns[last] for last in replies]
    else:
        worth = reward([(turn.role, turn.text) for turn in merged])
        rewards = [worth[i + 1] if i + 1 < len(merged) else 0.0 for i in actions]
        returns = returns_to_go(rewards, gamma)
    return OfflineEpisode(
        id=dialogue.dialogue_id,
        domain=dialogue.domain,
        messages=tuple(
            Message(role="assistant" if turn.role == "elicitor" else "user", content=turn.text) for turn in merged
        ),
        turn_ids=tuple(turn.turn_id for turn in merged),
        rewards=tuple(rewards),
        returns_to_go=tuple(returns),
        split=dialogue.split,
        licence=licence_of(dialogue),
    )


def episode_of_record(record: EpisodeRecord, *, gamma: float = 0.9) -> OfflineEpisode:
    """Turn an episode collected in InfoQuest into an offline one; its id is policy, scenario and repeat."""
    history = record.episode.history
    rewards = tuple(turn.reward for turn in record.episode.turns)
    return OfflineEpisode(
        id=f"{record.policy}/{record.scenario_id}/{record.repeat}",
        domain="infoquest",
        messages=history,
        turn_ids=tuple(range(len(history))),
        rewards=rewards,
        returns_to_go=tuple(returns_to_go(rewards, gamma)),
        terminated=record.episode.terminated,
        truncated=record.episode.truncated,
    )
