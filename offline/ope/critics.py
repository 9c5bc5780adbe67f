"""Critics: estimates of values that doubly robust estimators correct."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from elicit_gym.errors import SettingError
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.offline.log_probs import PolicyView
from elicit_gym.policy import StochasticPolicy
from elicit_gym.statistics.resampling import Floats
from elicit_gym.types import ChatHistory

__all__ = ["ArrayCritic", "Critic", "D3rlpyCritic", "FittedQ", "Values", "action_probabilities"]

Values = tuple[list[Floats], list[Floats]]
"""For each episode the values of its actions and of the histories before them under the target, shape (T_i,) each."""


class Critic(Protocol):
    """Estimates values under a policy.

    Attributes:
        name: the critic's name in reports.
    """

    name: str

    def values(
        self, episodes: Sequence[OfflineEpisode], target: StochasticPolicy, view: PolicyView, gamma: float
    ) -> Values:
        """Return the values of what was done and of the histories before it, for each episode."""
        ...


class ArrayCritic:
    """Values that were computed elsewhere.

    Args:
        q_values: the value of each action, for each episode, shape (T_i,).
        state_values: the value of each history under the target.
        name: the critic's name in reports.
    """

    def __init__(
        self, q_values: Sequence[Sequence[float]], state_values: Sequence[Sequence[float]], name: str = "given values"
    ) -> None:
        self.name = name
        self._values = tuple([np.asarray(row, dtype=np.float64) for row in rows] for rows in (q_values, state_values))

    def values(
        self, episodes: Sequence[OfflineEpisode], target: StochasticPolicy, view: PolicyView, gamma: float
    ) -> Values:
        """Return the values that were given.

        Raises:
            SettingError: they are of other episodes.
        """
        lengths = [len(episode) for episode in episodes]
        for rows in self._values:
            if [len(row) for row in rows] != lengths:
                raise SettingError(
                    f"Evaluating off-policy: expected one value for each of {sum(lengths)} actions of "
                    f"{len(lengths)} episodes, got {sum(map(len, rows))} of {len(rows)}. Compute them for these."
                )
        return self._values[0], self._values[1]


def action_probabilities(
    target: StochasticPolicy, histories: Sequence[ChatHistory], actions: Sequence[str]
) -> NDArray[np.float64]:
    """Return the probability of each action of a set after each history, shape (n, A)."""
    repeated = [history for history in histories for _ in actions]
    log_probs = target.action_log_probs(repeated, [*actions] * len(histories))
    return np.exp(np.array(log_probs, dtype=np.float64).reshape(len(histories), len(actions)))


class D3rlpyCritic:
    """The values of d3rlpy's `DiscreteFQE` (or of any of its algorithms for discrete actions) on the numeric view.

    Args:
        model: something with d3rlpy's ``predict_value(observations, actions)``, trained on
            ``dataset.to_arrays(encoder, actions="discrete", action_texts=...)``.
        encode: the encoder of that view, from histories to vectors; see `elicit_gym.offline.arrays.encode_histories`.
        action_texts: what each number of an action stands for, ``arrays.action_texts``.
    """

    name = "d3rlpy"

    def __init__(
        self, model: Any, encode: Callable[[Sequence[ChatHistory]], NDArray[np.float32]], action_texts: Sequence[str]
    ) -> None:
        self._model, self._encode, self._texts = model, encode, tuple(action_texts)

    def values(
        self, episodes: Sequence[OfflineEpisode], target: StochasticPolicy, view: PolicyView, gamma: float
    ) -> Values:
        """Return the model's values; those of histories are means over the target's probabilities.

        Raises:
            SettingError: an action is not among the texts.
        """
        places = {text: place for place, text in enumerate(self._texts)}
        q_rows, v_rows = [], []
        for episode in episodes:
            histories = view.histories(episode)
            observations = self._encode(histories)
            strange = next((action for action in episode.actions if action not in places), None)
            if strange is not None:
                raise SettingError(
                    f"Valuing {episode.id} by d3rlpy: expected one of {len(places)} known actions, got "
                    f"{strange[:60]!r}. Train on a view with all of them."
                )
            taken = np.array([places[action] for action in episode.actions])
            of_all = np.stack(
                [self._model.predict_value(observations, np.full((len(taken), 1), a)) for a in range(len(places))],
                axis=1,
            ).astype(np.float64)  # (T_i, A)
            q_rows.append(of_all[np.arange(len(taken)), taken])
            v_rows.append((action_probabilities(target, histories, self._texts) * of_all).sum(axis=1))
        return q_rows, v_rows


class FittedQ:
    """Fitted Q evaluation by ridge regression, for policies that choose among few utterances, such as a question bank.

    One regression for each step, backwards from the last. The features of an action are which of the utterances it is
    and whether it was said before. The value of an episode's steps comes from a fit on the other folds, so that
    doubly robust estimates stay unbiased.

    Args:
        folds: how many parts the episodes are cut into.
        ridge: the penalty on squared coefficients.
        max_actions: the largest number of different utterances.

    References:
        Le, Voloshin and Yue (2019), "Batch policy learning under constraints", Algorithm 3; Chernozhukov et al. (2018)
        for the folds.
    """

    name = "fitted Q"

    def __init__(self, *, folds: int = 5, ridge: float = 1.0, max_actions: int = 64) -> None:
        self._folds, self._ridge, self._max_actions = folds, ridge, max_actions

    def values(
        self, episodes: Sequence[OfflineEpisode], target: StochasticPolicy, view: PolicyView, gamma: float
    ) -> Values:
        """Return the fitted values.

        Raises:
            SettingError: there are too few episodes for the folds, or too many different actions.
        """
        texts = list(dict.fromkeys(action for episode in episodes for action in episode.actions))
        if len(texts) > self._max_actions:
            raise SettingError(
                f"Fitting values: expected at most {self._max_actions} different actions, got {len(texts)}. Use a "
                "value head, or give values of your own."
            )
        if len(episodes) < self._folds:
            raise SettingError(f"Fitting values: expected at least {self._folds} episodes, got {len(episodes)}.")
        steps = max(len(episode) for episode in episodes)
        shape = (len(episodes), steps)
        taken = np.zeros(shape, dtype=np.intp)
        said = np.zeros((*shape, len(texts)))
        chosen_by = np.zeros((*shape, len(texts)))
        rewards, alive = np.zeros(shape), np.zeros(shape, dtype=bool)
        places = {text: place for place, text in enumerate(texts)}
        for i, episode in enumerate(episodes):
            n = len(episode)
            taken[i, :n] = [places[action] for action in episode.actions]
            for step in range(1, n):
                said[i, step] = said[i, step - 1]
                said[i, step, taken[i, step - 1]] = 1.0
            chosen_by[i, :n] = action_probabilities(target, view.histories(episode), texts)
            rewards[i, :n], alive[i, :n] = episode.rewards, True
        q, v = np.zeros(shape), np.zeros(shape)
        fold = np.random.default_rng(0).permutation(len(episodes)) % self._folds
        for held_out in range(self._folds):
            of_all, of_state = self._fit(fold != held_out, taken, said, chosen_by, rewards, alive, gamma)
            rows = fold == held_out
            v[rows] = of_state[rows]
            q[rows] = np.take_along_axis(of_all, taken[..., None], axis=2)[..., 0][rows]
        lengths = [len(episode) for episode in episodes]
        return [q[i, :n] for i, n in enumerate(lengths)], [v[i, :n] for i, n in enumerate(lengths)]

    def _fit(
        self,
        train: NDArray[np.bool_],
        taken: NDArray[np.intp],
        said: Floats,
        chosen_by: Floats,
        rewards: Floats,
        alive: NDArray[np.bool_],
        gamma: float,
    ) -> tuple[Floats, Floats]:
        """Return the values of all actions (N, T, A) and of the histories (N, T), fitted on the rows in `train`."""
        count, steps, num_actions = said.shape
        of_all, of_state = np.zeros((count, steps, num_actions)), np.zeros((count, steps + 1))
        eye = np.eye(num_actions)
        for step in range(steps - 1, -1, -1):
            rows = train & alive[:, step]
            if not rows.any():
                continue
            again = said[rows, step, taken[rows, step]]
            which = eye[taken[rows, step]]
            features = np.hstack([which, which * again[:, None]])  # (n, 2A)
            targets = rewards[rows, step] + gamma * of_state[rows, step + 1]
            mean = targets.mean()  # what is never seen is worth the mean
            gram = features.T @ features + self._ridge * np.eye(2 * num_actions)
            weights = np.linalg.solve(gram, features.T @ (targets - mean))
            of_all[:, step] = mean + weights[:num_actions] + said[:, step] * weights[num_actions:]
            of_state[:, step] = np.where(alive[:, step], (chosen_by[:, step] * of_all[:, step]).sum(axis=1), 0.0)
        return of_all, of_state[:, :steps]
