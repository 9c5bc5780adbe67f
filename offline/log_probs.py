"""The probabilities of recorded actions: those of who acted, as a column of the data, and those of any policy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from elicit_gym.errors import SettingError
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.episodes import CONTEXT, OfflineEpisode
from elicit_gym.offline.windows import system_line
from elicit_gym.policy import Policy, StochasticPolicy
from elicit_gym.types import ChatHistory, Message

__all__ = ["PolicyView", "score_episodes", "with_log_probs"]

Context: TypeAlias = int | Literal["auto"] | None

_BATCH = 512
"""Histories per call of a policy, so that those of a large dataset are never all in memory."""


@dataclass(frozen=True, kw_only=True)
class PolicyView:
    """What a policy sees of an episode before each action.

    Attributes:
        context: the largest number of messages; None for all; ``auto`` for all in InfoQuest and for five elsewhere, as
            the windows have them.
        system_line: whether the domain's system line comes first, as in the windows; ``auto`` for everywhere but in
            InfoQuest, whose environment has none.
    """

    context: Context = "auto"
    system_line: bool | Literal["auto"] = "auto"

    def histories(self, episode: OfflineEpisode) -> list[ChatHistory]:
        """Return the history before each action, shape (T,)."""
        return [self._history(episode, step) for step in range(len(episode))]

    def last_history(self, episode: OfflineEpisode) -> ChatHistory:
        """Return what the policy would see before a further action."""
        return self._history(episode, len(episode))

    def _history(self, episode: OfflineEpisode, step: int) -> ChatHistory:
        of_environment = episode.domain == "infoquest"
        context = (None if of_environment else CONTEXT) if self.context == "auto" else self.context
        with_line = not of_environment if self.system_line == "auto" else self.system_line
        line = (Message(role="system", content=system_line(episode.domain)),) if with_line else ()
        return (*line, *episode.observation(step, context))


def score_episodes(
    policy: Policy, episodes: Sequence[OfflineEpisode], view: PolicyView | None = None
) -> Iterator[tuple[float, ...]]:
    """Yield for each episode the log probabilities that a policy gives to its actions, shape (T,).

    Args:
        policy: a `elicit_gym.policy.StochasticPolicy`.
        episodes: the episodes.
        view: what the policy sees of them.

    Raises:
        SettingError: the policy cannot say how probable its actions are.
    """
    if not isinstance(policy, StochasticPolicy):
        raise SettingError(
            f"Weighing actions by {policy.name!r}: expected a policy that knows the probabilities of its actions "
            "(action_log_probs), got one that does not. Use 'random', elicit_gym.agents.baselines:SoftmaxQuestions, a "
            "local model with a temperature, or a policy of your own with that method."
        )
    view = view or PolicyView()
    start = 0
    while start < len(episodes):
        histories: list[ChatHistory] = []
        actions: list[str] = []
        lengths: list[int] = []
        while start + len(lengths) < len(episodes) and (not histories or len(histories) < _BATCH):
            episode = episodes[start + len(lengths)]
            histories += view.histories(episode)
            actions += episode.actions
            lengths.append(len(episode))
        scores = policy.action_log_probs(histories, actions)
        start += len(lengths)
        at = 0
        for length in lengths:
            yield tuple(scores[at : at + length])
            at += length


def with_log_probs(dataset: OfflineDataset, policy: Policy, view: PolicyView | None = None) -> OfflineDataset:
    """Return a dataset whose episodes say how probable each action was to who acted.

    Args:
        dataset: the dataset.
        policy: the policy that acted, or a model of it: for interviews by people, one that was trained on them by SFT.
        view: what the policy saw.

    Raises:
        SettingError: the policy cannot say how probable its actions are.
    """
    scored = score_episodes(policy, dataset, view)
    return OfflineDataset(
        [replace(episode, behaviour_log_probs=found) for episode, found in zip(dataset, scored, strict=True)],
        dataset.name,
    )
