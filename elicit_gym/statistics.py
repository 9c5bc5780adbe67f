"""Intervals and tests that respect clusters: episodes that share an opening message are not independent evidence.

All randomness comes from a fixed seed, so that the same records give the same intervals.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Estimate",
    "cluster_estimate",
    "cluster_mean",
    "cluster_ratio",
    "cohen_kappa",
    "holm",
    "sign_flip_p_value",
    "worst_mean",
]

Floats = NDArray[np.float64]

NUM_RESAMPLES = 2_000
NUM_PERMUTATIONS = 9_999
CONFIDENCE = 0.95


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: None when there is nothing to estimate it from; `reason` says why.
        low: the lower end of the 95 % interval; None with fewer than two clusters.
        high: the upper end.
        num: the number of episodes behind it.
        num_clusters: the number of opening messages behind it.
    """

    value: float | None
    low: float | None = None
    high: float | None = None
    num: int = 0
    num_clusters: int = 0
    reason: str | None = None

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        row: dict[str, Any] = {"value": self.value, "low": self.low, "high": self.high}
        row |= {"num": self.num, "num_clusters": self.num_clusters}
        return row | ({"reason": self.reason} if self.reason else {})


def _groups(clusters: Sequence[str]) -> list[NDArray[np.intp]]:
    order: dict[str, list[int]] = {}
    for i, cluster in enumerate(clusters):
        order.setdefault(cluster, []).append(i)
    return [np.array(members) for members in order.values()]


def cluster_mean(values: Sequence[float], clusters: Sequence[str]) -> Estimate:
    """Estimate a mean, with a percentile bootstrap interval over whole clusters.

    Args:
        values: one number per episode, shape (n,).
        clusters: the cluster of each episode, shape (n,).
    """
    if not values:
        return Estimate(value=None, reason="no episodes")
    array = np.asarray(values, dtype=np.float64)
    groups = _groups(clusters)
    sums = np.array([array[members].sum() for members in groups])
    counts = np.array([len(members) for members in groups], dtype=np.float64)
    mean = float(array.mean())
    if len(groups) < 2:
        return Estimate(value=mean, num=len(array), num_clusters=len(groups), reason="one cluster: no interval")
    low, high = _interval((sums, counts), lambda s, c, axis=-1: s.sum(axis=axis) / c.sum(axis=axis), vectorized=True)
    return Estimate(value=mean, low=low, high=high, num=len(array), num_clusters=len(groups))


def cluster_ratio(values: Floats, clusters: Sequence[str], statistic: Callable[[Floats], Floats]) -> Estimate:
    """Estimate a function of sums (a micro average, a ratio of means), bootstrapped over whole clusters.

    Args:
        values: one row per episode, shape (n, m).
        clusters: the cluster of each episode, shape (n,).
        statistic: a function from sums over episodes, shape (..., m), to numbers, shape (...).
    """
    if not len(values):
        return Estimate(value=None, reason="no episodes")
    array = np.asarray(values, dtype=np.float64)
    sums = np.stack([array[members].sum(axis=0) for members in _groups(clusters)])  # (clusters, m)
    value = float(statistic(array.sum(axis=0)))
    if len(sums) < 2:
        return Estimate(value=value, num=len(array), num_clusters=len(sums), reason="one cluster: no interval")
    columns = tuple(sums.T)
    low, high = _interval(
        columns,
        lambda *drawn, axis=-1: statistic(np.stack([d.sum(axis=axis) for d in drawn], axis=-1)),
        vectorized=True,
    )
    return Estimate(value=value, low=low, high=high, num=len(array), num_clusters=len(sums))


def cluster_estimate(
    values: Sequence[float], clusters: Sequence[str], statistic: Callable[[Floats], float]
) -> Estimate:
    """Estimate any statistic of the values, with a percentile bootstrap interval over whole clusters.

    Args:
        values: one number per episode, shape (n,).
        clusters: the cluster of each episode, shape (n,).
        statistic: a function from values of shape (m,) to a number.
    """
    if not values:
        return Estimate(value=None, reason="no episodes")
    array = np.asarray(values, dtype=np.float64)
    groups = [array[members] for members in _groups(clusters)]
    value = float(statistic(array))
    if len(groups) < 2:
        return Estimate(value=value, num=len(array), num_clusters=len(groups), reason="one cluster: no interval")

    def of_clusters(chosen: NDArray[np.intp]) -> float:
        return float(statistic(np.concatenate([groups[int(i)] for i in chosen])))

    low, high = _interval((np.arange(len(groups)),), of_clusters, vectorized=False)
    return Estimate(value=value, low=low, high=high, num=len(array), num_clusters=len(groups))


def _interval(data: tuple[Any, ...], statistic: Callable[..., Any], *, vectorized: bool) -> tuple[float, float]:
    from scipy.stats import bootstrap

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # degenerate data (all episodes alike) have an interval of width zero
        result = bootstrap(
            data,
            statistic,
            paired=True,
            vectorized=vectorized,
            n_resamples=NUM_RESAMPLES,
            confidence_level=CONFIDENCE,
            method="percentile",
            rng=np.random.default_rng(0),
        )
    return float(result.confidence_interval.low), float(result.confidence_interval.high)


def worst_mean(values: Floats, share: float = 0.25) -> float:
    """Return the mean of the lowest `share` of the values, at least one.

    References:
        InfoQuest, Figure 4: the 25 % of episodes with the lowest rewards.
    """
    count = max(1, round(share * len(values)))
    return float(np.partition(values, count - 1)[:count].mean())


def sign_flip_p_value(differences: Sequence[float], clusters: Sequence[str]) -> float | None:
    """Return the two-sided p-value of a sign-flip permutation test on the clusters' sums of paired differences.

    Whole clusters flip together, which keeps whatever dependence they have inside. None with fewer than two clusters.
    """
    from scipy.stats import permutation_test

    array = np.asarray(differences, dtype=np.float64)
    sums = np.array([array[members].sum() for members in _groups(clusters)]) if len(array) else np.array([])
    if len(sums) < 2:
        return None
    if not sums.any():
        return 1.0
    result = permutation_test(
        (sums,),
        lambda x, axis=-1: x.mean(axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=NUM_PERMUTATIONS,
        rng=np.random.default_rng(0),
    )
    return float(min(1.0, result.pvalue))


def cohen_kappa(first: Sequence[bool], second: Sequence[bool | None]) -> float | None:
    """Return Cohen's kappa of two raters' yes/no answers, or None if it is not defined.

    Args:
        first: the first rater's answers, shape (n,).
        second: the second rater's answers, shape (n,), without None.

    References:
        Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    n = len(first)
    if n == 0:
        return None
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    p, q = sum(first) / n, sum(bool(b) for b in second) / n
    expected = p * q + (1 - p) * (1 - q)
    return None if expected == 1 else (observed - expected) / (1 - expected)


def holm(p_values: Sequence[float | None]) -> list[float | None]:
    """Correct p-values for their number by Holm's step-down method; None stays None and does not count.

    References:
        Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    known = sorted((p, i) for i, p in enumerate(p_values) if p is not None)
    corrected: list[float | None] = [None] * len(p_values)
    floor = 0.0
    for rank, (p, i) in enumerate(known):
        floor = max(floor, min(1.0, p * (len(known) - rank)))
        corrected[i] = floor
    return corrected
