"""Estimators of a policy's value from another policy's episodes, with intervals over dialogues.

All are per-decision: a reward is weighed with the probabilities of the actions up to it, and not of later ones.
"""

from typing import Literal, get_args

import numpy as np

from elicit_gym.offline.ope.trajectories import Trajectories
from elicit_gym.statistics.estimates import Estimate, cluster_mean, cluster_ratio
from elicit_gym.statistics.resampling import Floats

__all__ = ["ESTIMATORS", "EstimatorName", "estimate_value", "needs_critic"]

EstimatorName = Literal["ordinary", "weighted", "clipped", "fitted", "doubly_robust", "weighted_doubly_robust"]
ESTIMATORS: tuple[EstimatorName, ...] = get_args(EstimatorName)
"""In the order in which tables show them."""

_LARGEST = 700.0
"""The logarithm of the largest weight whose product with a reward is a number."""


def needs_critic(estimator: EstimatorName) -> bool:
    """Say whether an estimator needs the values of a critic."""
    return estimator in ("fitted", "doubly_robust", "weighted_doubly_robust")


def estimate_value(
    estimator: EstimatorName,
    data: Trajectories,
    *,
    gamma: float = 1.0,
    clip: float = 10.0,
    q_values: Floats | None = None,
    state_values: Floats | None = None,
) -> Estimate:
    """Estimate the expected discounted return of the target.

    Args:
        estimator: ``ordinary`` is unbiased and has the largest variance. ``weighted`` divides by the sum of the weights
            at each step: biased in small samples, consistent, and nearly always nearer to the truth. ``clipped`` cuts
            the weights at `clip`: biased for good, in the direction of the behaviour. ``fitted`` is the critic alone,
            and as wrong as it is. ``doubly_robust`` is unbiased whatever the critic says if the probabilities are
            right, and has a small variance if the critic is good; ``weighted_doubly_robust`` divides by the sums of
            weights, too.
        data: the episodes.
        gamma: the discount.
        clip: the largest weight of ``clipped``.
        q_values: the critic's value of the action that was taken, 0 after the end, shape (N, T).
        state_values: the critic's value of the history under the target, 0 after the end, shape (N, T).

    References:
        Precup, Sutton and Singh (2000) for ``ordinary`` and ``weighted``; Ionides (2008) for ``clipped``; Jiang and Li
        (2016), Equation 10, for ``doubly_robust``; Thomas and Brunskill (2016), Section 5, for the weighted form.
    """
    discounts = gamma ** np.arange(data.rewards.shape[1])  # (T,)
    if not needs_critic(estimator):
        if estimator == "weighted":
            return _normalised(data, discounts * data.rewards, None)
        weights = _weights(data, clip if estimator == "clipped" else None)
        if weights is None:
            return _overflown(data)
        return _mean((weights * discounts * data.rewards).sum(axis=1), data)
    if q_values is None or state_values is None:
        raise ValueError(f"{estimator} needs q_values and state_values")
    if estimator == "fitted":
        # How far a critic is from the truth no resampling of dialogues shows: in benchmarks/ope_truth.py, intervals
        # around its values held the truth in 12 to 19 of 100 datasets.
        return Estimate(
            value=float(state_values[:, 0].mean()), num=len(data.clusters), num_clusters=len(set(data.clusters)),
            reason="no interval: the critic's own error is not known",
        )  # fmt: skip
    corrections, baselines = discounts * (data.rewards - q_values), discounts * state_values
    if estimator == "weighted_doubly_robust":
        return _normalised(data, corrections, baselines)
    weights = _weights(data, None)
    if weights is None:
        return _overflown(data)
    before = np.hstack([np.ones((len(weights), 1)), weights[:, :-1]])
    return _mean((weights * corrections + before * baselines).sum(axis=1), data)


def _mean(values: Floats, data: Trajectories) -> Estimate:
    return cluster_mean(values.tolist(), data.clusters, unit=data.unit)


def _weights(data: Trajectories, clip: float | None) -> Floats | None:
    if clip is not None:
        return np.exp(np.minimum(data.log_weights, np.log(clip)))
    return np.exp(data.log_weights) if data.log_weights.max() < _LARGEST else None


def _overflown(data: Trajectories) -> Estimate:
    reason = "the weights are too large for numbers: target and behaviour differ too much"
    return Estimate(value=None, num=len(data.clusters), num_clusters=len(set(data.clusters)), reason=reason)


def _normalised(data: Trajectories, worth: Floats, baselines: Floats | None) -> Estimate:
    """Estimate the sum over steps of weighted means, each divided by the sum of the weights at its step.

    Args:
        data: the episodes.
        worth: what is weighed with the weights up to the step itself, shape (N, T).
        baselines: what is weighed with those up to the step before, shape (N, T).
    """
    weights = data.scaled_weights()
    steps = weights.shape[1]
    columns = [weights * worth, weights]
    if baselines is not None:
        before = np.hstack([np.ones((len(weights), 1)), weights[:, :-1]])
        columns += [before * baselines, before]

    def statistic(sums: Floats) -> Floats:
        parts = [sums[..., i * steps : (i + 1) * steps] for i in range(len(columns))]
        with np.errstate(invalid="ignore", divide="ignore"):
            ratios = parts[0] / parts[1]
            if baselines is not None:
                ratios = ratios + parts[2] / parts[3]
        total: Floats = ratios.sum(axis=-1)
        return total

    if not (weights.sum(axis=0) > 0).all():
        reason = "the target never takes what was done in any dialogue"
        return Estimate(value=None, num=len(weights), num_clusters=len(set(data.clusters)), reason=reason)
    return cluster_ratio(np.hstack(columns), data.clusters, statistic, unit=data.unit)
