"""Episodes as padded arrays of rewards and importance weights."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from elicit_gym.errors import SettingError
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.statistics.resampling import Floats

__all__ = ["Trajectories", "padded"]


def padded(rows: Sequence[Sequence[float] | Floats]) -> Floats:
    """Return rows of different lengths as one array, with zeros after each row's end, shape (N, T)."""
    array = np.zeros((len(rows), max(map(len, rows), default=0)))
    for i, row in enumerate(rows):
        array[i, : len(row)] = row
    return array


@dataclass(frozen=True, kw_only=True)
class Trajectories:
    """N episodes of at most T steps.

    After an episode's end its rewards are 0 and its weight stays what it was: so every episode counts at every step,
    and a policy under which conversations end sooner is not favoured.

    Attributes:
        rewards: shape (N, T).
        log_weights: the logarithm of the product of the ratios of probabilities (target over behaviour) up to and
            including each step; ``-inf`` from the first action that the target never takes. Shape (N, T).
        lengths: the number of steps of each episode, shape (N,).
        clusters: what each episode counts as in intervals.
        unit: what a cluster is, in the singular.
    """

    rewards: Floats
    log_weights: Floats
    lengths: NDArray[np.intp]
    clusters: tuple[str, ...]
    unit: str = "dialogue"

    @classmethod
    def of(
        cls,
        episodes: Sequence[OfflineEpisode],
        target: Sequence[Sequence[float]],
        behaviour: Sequence[Sequence[float]],
        clusters: Sequence[str] | None = None,
    ) -> "Trajectories":
        """Build them from the log probabilities of each episode's actions.

        Args:
            episodes: the episodes, of which at least one has an action.
            target: by the policy to be evaluated, one row for each episode, shape (T_i,).
            behaviour: by the policy that acted.
            clusters: see the class; by default, each dialogue, and in InfoQuest all episodes of a scenario together.

        Raises:
            SettingError: there is no action, or the behaviour cannot have taken one.
        """
        lengths = np.array([len(episode) for episode in episodes], dtype=np.intp)
        if not lengths.sum():
            raise SettingError("Evaluating off-policy: expected episodes with actions, got none. Check the data.")
        for episode, row in zip(episodes, behaviour, strict=True):
            for step, log_prob in enumerate(row):
                if not math.isfinite(log_prob) or log_prob > 1e-6:
                    raise SettingError(
                        f"Evaluating off-policy: expected the log probabilities of the policy that acted, got "
                        f"{log_prob:g} ({episode.id}, action {step}: {episode.actions[step][:60]!r}). Name the policy "
                        "that made the data, or one that was trained on them."
                    )
        ratios = [np.subtract(t, b) for t, b in zip(target, behaviour, strict=True)]
        if clusters is None:
            played = any(episode.domain == "infoquest" for episode in episodes)
            clusters, unit = [_cluster_of(episode) for episode in episodes], "scenario" if played else "dialogue"
        else:
            unit = "cluster"
        return cls(
            rewards=padded([episode.rewards for episode in episodes]),
            log_weights=padded(ratios).cumsum(axis=1),
            lengths=lengths,
            clusters=tuple(clusters),
            unit=unit,
        )

    @property
    def unsupported(self) -> float:
        """The share of the episodes in which the target never takes one of the actions: they weigh 0 in the end."""
        return float(np.isneginf(self.log_weights[:, -1]).mean())

    def effective_sizes(self) -> Floats:
        """Return the effective number of episodes at each step, by Kish's formula, shape (T,); 0 if all weigh nothing.

        References:
            Kish (1965), "Survey Sampling": (sum w)^2 / sum w^2.
        """
        weights = self.scaled_weights()
        squares = (weights**2).sum(axis=0)
        sizes: Floats = np.divide(weights.sum(axis=0) ** 2, squares, out=np.zeros_like(squares), where=squares > 0)
        return sizes

    def scaled_weights(self) -> Floats:
        """Return the weights up to a factor for each step, with 1 for the heaviest: none overflows. Shape (N, T)."""
        top = self.log_weights.max(axis=0)
        scaled: Floats = np.exp(self.log_weights - np.where(np.isfinite(top), top, 0.0))
        return scaled


def _cluster_of(episode: OfflineEpisode) -> str:
    # The id of an episode of InfoQuest is policy/scenario/repeat: repeats of a scenario are no independent evidence.
    return episode.id.rpartition("/")[0] if episode.domain == "infoquest" else episode.id
