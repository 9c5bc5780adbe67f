"""Dialogues as episodes of offline reinforcement learning."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from elicit_gym.episode import EpisodeRecord, Transition
from elicit_gym.errors import SettingError
from elicit_gym.lazy_sequence import LazySequence
from elicit_gym.offline.dialogue_rewards import DialogueReward
from elicit_gym.offline.licences import licence_of
from elicit_gym.offline.merging import merge_turns
from elicit_gym.offline.returns import returns_to_go
from elicit_gym.offline.schema import Dialogue, DialogueRole
from elicit_gym.types import ChatHistory, Message

__all__ = ["OfflineEpisode", "checked_episode", "episode_of_dialogue", "episode_of_record"]

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
        turn_ids: the id of each message's first raw turn, or its place in the dialogue; shape (M,).
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


def checked_episode(episode: OfflineEpisode) -> OfflineEpisode:
    """Return an episode that was read from a file, if its parts fit together.

    Raises:
        ValueError: they do not, or a number is not finite; says which.
    """
    log_probs = episode.behaviour_log_probs or ()
    for name, found, wanted in (
        ("turn_ids", len(episode.turn_ids), len(episode.messages)),
        ("rewards", len(episode.rewards), len(episode)),
        ("returns_to_go", len(episode.returns_to_go), len(episode)),
        ("behaviour_log_probs", len(log_probs), len(episode) if episode.behaviour_log_probs is not None else 0),
    ):
        if found != wanted:
            raise ValueError(f"{name} of the episode {episode.id!r:.60}: expected {wanted}, got {found}")
    for name, values in (
        ("rewards", episode.rewards), ("returns_to_go", episode.returns_to_go), ("behaviour_log_probs", log_probs),
    ):  # fmt: skip
        for i, value in enumerate(values):
            if not math.isfinite(value):
                raise ValueError(
                    f"{name}[{i}] of the episode {episode.id!r:.60}: expected a finite number, got {value}"
                )
    return episode


def _worth(reward: DialogueReward, utterances: Sequence[tuple[DialogueRole, str]], dialogue_id: str) -> list[float]:
    """Ask a reward, which may be a user's own, for its numbers, and see that they are numbers.

    Raises:
        SettingError: it gives another count of them, or one that is not finite.
    """
    worth = [float(value) for value in reward(utterances)]
    doing = f"Rewarding the dialogue {dialogue_id!r:.60} by {reward.name!r}"
    if len(worth) != len(utterances):
        raise SettingError(f"{doing}: expected a number for each of {len(utterances)} turns, got {len(worth)}.")
    for i, value in enumerate(worth):
        if not math.isfinite(value):
            raise SettingError(f"{doing}: expected finite numbers, got {value} for turn {i}. Correct the reward.")
    return worth


def episode_of_dialogue(
    dialogue: Dialogue, reward: DialogueReward, *, gamma: float = 0.9, published: bool = False
) -> OfflineEpisode:
    """Turn a dialogue into an episode.

    Args:
        dialogue: the raw dialogue.
        reward: what replies are worth.
        gamma: the discount.
        published: how the dialogue becomes an episode where neighbours of the same role are merged.

            False (default) follows the paper's definition on merged turns: the reward of an action is the worth of the
            whole merged reply, and returns are discounted from action to action.

            True reproduces the released rows, whole: a merged reply takes the reward and the return of its *last raw*
            turn, and returns are discounted over the raw respondent turns; merged utterances are joined by blank lines;
            a turn is numbered by its place in the dialogue and not by its ``turn_id``; a last action that nobody
            answers is left out.

    Returns:
        The episode; an action that nobody answers earns 0.

    Raises:
        SettingError: the reward gives something else than a finite number for each turn.
    """
    merged = merge_turns(dialogue, published=published)
    if published:
        if merged and merged[-1].role == "elicitor":
            merged.pop()
        raw_worth = _worth(reward, [(turn.role, turn.utterance) for turn in dialogue.turns], dialogue.dialogue_id)
        answered = [i for i, turn in enumerate(dialogue.turns) if turn.role == "respondent"]
        raw_returns = dict(zip(answered, returns_to_go([raw_worth[i] for i in answered], gamma), strict=True))
        replies = [merged[i + 1].raw[1] for i, turn in enumerate(merged) if turn.role == "elicitor"]
        rewards = [raw_worth[last] for last in replies]
        returns = [raw_returns[last] for last in replies]
    else:
        actions = [i for i, turn in enumerate(merged) if turn.role == "elicitor"]
        worth = _worth(reward, [(turn.role, turn.text) for turn in merged], dialogue.dialogue_id)
        rewards = [worth[i + 1] if i + 1 < len(merged) else 0.0 for i in actions]
        returns = returns_to_go(rewards, gamma)
    return OfflineEpisode(
        id=dialogue.dialogue_id,
        domain=dialogue.domain,
        messages=tuple(
            Message(role="assistant" if turn.role == "elicitor" else "user", content=turn.text) for turn in merged
        ),
        turn_ids=tuple(turn.raw[0] if published else turn.turn_id for turn in merged),
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
