"""Resampling whole clusters: the numbers behind `elicit_gym.statistics.estimates`, vectorised and seeded.

A statistic is a function of weights over clusters: it takes weights of shape (B, K), each row with sum 1, and gives B
values and the influence of each cluster on each value. The sample itself is the row of equal weights.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "CONFIDENCE",
    "Floats",
    "Missing",
    "Statistic",
    "cluster_numbers",
    "cluster_sums",
    "flip_p_value",
    "jackknife_error",
    "mean_statistic",
    "num_sign_patterns",
    "smooth_statistic",
    "studentised_interval",
    "tail_mean_statistic",
]

Floats = NDArray[np.float64]
Statistic = Callable[[Floats], tuple[Floats, Floats]]
"""From weights (B, K) to values (B,) and influences (B, K); the influences' weighted sum is 0 in each row."""

Missing = Literal["alike", "undefined"]
"""Why there is no interval: the statistic does not vary over the clusters, or is not defined on too many resamples."""

CONFIDENCE = 0.95
NUM_RESAMPLES = 1_999
MAX_EXACT = 14
"""Up to so many clusters every pattern of signs is tried, beyond it `NUM_FLIPS` random ones."""
NUM_FLIPS = 19_999
_CHUNK = 2_000_000


def cluster_numbers(clusters: Sequence[str]) -> tuple[NDArray[np.intp], int]:
    """Return the cluster of each episode as a number, in order of appearance, and how many clusters there are."""
    order: dict[str, int] = {}
    numbers = [order.setdefault(cluster, len(order)) for cluster in clusters]
    return np.array(numbers, dtype=np.intp), len(order)


def cluster_sums(values: Floats, members: NDArray[np.intp], num_clusters: int) -> Floats:
    """Return the sums over each cluster of values of shape (n, ...), shape (K, ...)."""
    sums = np.zeros((num_clusters, *values.shape[1:]))
    np.add.at(sums, members, values)
    return sums


@lru_cache(maxsize=3)
def _beta_weights(num_clusters: int) -> Floats:
    """Weights of the beta bootstrap, shape (B, K): never 0, with the mean, variance and skewness of counts."""
    drawn = np.random.default_rng(0).beta(0.5, 1.5, (NUM_RESAMPLES, num_clusters))
    drawn /= drawn.sum(axis=1, keepdims=True)
    drawn.flags.writeable = False
    return drawn


def mean_statistic(sums: Floats, counts: Floats) -> Statistic:
    """Return the mean over episodes as a statistic.

    Args:
        sums: of each cluster, shape (K,).
        counts: episodes of each cluster, shape (K,).
    """

    def statistic(weights: Floats) -> tuple[Floats, Floats]:
        total = weights @ counts
        values = (weights @ sums) / total
        return values, (sums - values[:, None] * counts) / total[:, None]

    return statistic


def smooth_statistic(sums: Floats, function: Callable[[Floats], Floats]) -> Statistic:
    """Return a smooth function of sums as a statistic; its gradient is taken by central differences.

    Args:
        sums: of each cluster, shape (K, m).
        function: from sums over episodes, shape (..., m), to numbers, shape (...).
    """
    clusters = sums * len(sums)  # with weights of sum 1 their mean is a sum over episodes
    scale = np.sqrt((clusters**2).mean(axis=0))

    def statistic(weights: Floats) -> tuple[Floats, Floats]:
        totals = weights @ clusters  # (B, m)
        values = function(totals)
        influence = np.zeros_like(weights)
        for j in range(sums.shape[1]):
            step = np.zeros_like(totals)
            step[:, j] = 1e-6 * np.maximum(np.abs(totals[:, j]), 1e-6 * scale[j])
            width = np.where(step[:, j] > 0, 2 * step[:, j], 1.0)
            slope = (function(totals + step) - function(totals - step)) / width
            influence += slope[:, None] * (clusters[:, j] - totals[:, j, None])
        return values, influence

    return statistic


def tail_mean_statistic(order: Floats, values: Floats, members: NDArray[np.intp], share: float) -> Statistic:
    """Return as a statistic the mean of `values` over the `share` of episodes that comes first in `order`.

    Episodes that tie at the boundary count in part, all to the same part.

    Args:
        order: what episodes are ranked by, shape (n,).
        values: what is averaged, shape (n,).
        members: the cluster of each, shape (n,), from 0 to K - 1.
        share: between 0 and 1.
    """
    levels, level = np.unique(order, return_inverse=True)
    shape = (int(members.max()) + 1, len(levels))
    counts, sums = np.zeros(shape), np.zeros(shape)  # (K, V)
    np.add.at(counts, (members, level), 1.0)
    np.add.at(sums, (members, level), values)
    below_counts, below_sums = counts.cumsum(axis=1) - counts, sums.cumsum(axis=1) - sums
    sizes = counts.sum(axis=1)

    def statistic(weights: Floats) -> tuple[Floats, Floats]:
        mass = weights @ counts  # (B, V)
        total = mass.sum(axis=1)
        rows = np.arange(len(weights))
        at = np.minimum((mass.cumsum(axis=1) < share * total[:, None] * (1 - 1e-12)).sum(axis=1), len(levels) - 1)
        under, under_sum = (weights @ below_counts)[rows, at], (weights @ below_sums)[rows, at]
        at_mass, at_sum = mass[rows, at], (weights @ sums)[rows, at]
        at_mean = at_sum / at_mass
        part = np.clip((share * total - under) / at_mass, 0.0, 1.0)
        found = (under_sum + part * at_sum) / (share * total)
        # How the mean moves with one cluster's weight, the boundary moving too.
        inside = below_sums[:, at].T - at_mean[:, None] * below_counts[:, at].T
        tied = sums[:, at].T - at_mean[:, None] * counts[:, at].T
        influence = (inside + part[:, None] * tied) / share + (at_mean - found)[:, None] * sizes
        return found, influence / total[:, None]

    return statistic


def jackknife_error(statistic: Statistic, num_clusters: int) -> tuple[float, float]:
    """Return the statistic of the sample and its standard error from leaving out one cluster at a time.

    The factor (K - 1) / K of the usual jackknife is left out on purpose, as in HC3: a sample's own tails are lighter
    than those of what it was drawn from, and without that reserve intervals over few clusters are too narrow
    (`benchmarks/interval_coverage.py`).

    References:
        Davidson and MacKinnon (1993), "Estimation and inference in econometrics". MacKinnon, Nielsen and Webb
        (2023), "Fast and reliable jackknife and bootstrap methods for cluster-robust inference".
    """
    value = float(statistic(np.full((1, num_clusters), 1 / num_clusters))[0][0])
    without = (1 - np.eye(num_clusters)) / (num_clusters - 1)
    left, _ = statistic(without)
    return value, float(np.sqrt(((left - value) ** 2).sum()))


def _with_errors(statistic: Statistic, weights: Floats) -> tuple[Floats, Floats]:
    values, influences = statistic(weights)
    return values, np.sqrt((weights * influences**2).sum(axis=1) / weights.shape[1])


def studentised_interval(
    statistic: Statistic, num_clusters: int, *, max_stretch: float = 2.5
) -> tuple[float, float] | Missing:
    """Return the bootstrap-t interval over clusters, or why there is none.

    Weights come from the beta bootstrap, under which no resample loses a cluster: the ordinary bootstrap-t has infinite
    ends as soon as a few clusters are alike. What remains of that is bounded: no end lies further from the value than
    `max_stretch` times Student's. Skewed values seldom come so far; where nearly all clusters are alike, the bound
    keeps the interval near what the number of those that differ allows.

    Args:
        statistic: of weights over clusters.
        num_clusters: K.
        max_stretch: over Student's quantile with K - 1 degrees of freedom.

    References:
        Owen (2025), "Better bootstrap t confidence intervals for the mean". Hall (1992), "The bootstrap and Edgeworth
        expansion".
    """
    from scipy.stats import t as student

    value, error = jackknife_error(statistic, num_clusters)
    blocks = np.array_split(_beta_weights(num_clusters), 1 + NUM_RESAMPLES * num_clusters // _CHUNK)
    values, errors = (
        np.concatenate(parts) for parts in zip(*(_with_errors(statistic, w) for w in blocks), strict=True)
    )
    if not (np.isfinite(error) and np.isfinite(values).all() and np.isfinite(errors).all()):
        return "undefined"
    if error <= 1e-9 * max(1.0, abs(value)):
        return "alike"
    limit = max_stretch * float(student.ppf((1 + CONFIDENCE) / 2, num_clusters - 1))
    ratios = (values - value) / np.maximum(errors, 1e-12 * error)
    low, high = np.quantile(ratios, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2])
    return value - float(np.clip(high, 0, limit)) * error, value - float(np.clip(low, -limit, 0)) * error


def num_sign_patterns(num_clusters: int) -> int:
    """Return how many patterns of signs a sign-flip test over so many clusters tells apart (a mirror image is none)."""
    return 2 ** (num_clusters - 1) if num_clusters <= MAX_EXACT else NUM_FLIPS + 1


def flip_p_value(statistic: Callable[[Floats], Floats], num_clusters: int) -> float:
    """Return the two-sided p-value of the sample among all patterns of signs, or among random ones.

    Args:
        statistic: from signs (P, K), 1 as observed and -1 for a cluster whose two sides are exchanged, to numbers (P,)
            that change sign when all signs do.
        num_clusters: K.

    References:
        Phipson and Smyth (2010), "Permutation p-values should never be zero": the sample counts among the random ones.
    """
    observed = abs(float(statistic(np.ones((1, num_clusters)))[0]))
    if num_clusters <= MAX_EXACT:
        codes = np.arange(2 ** (num_clusters - 1))[:, None]  # the last cluster keeps its sign
        signs = np.asarray(1.0 - 2.0 * ((codes >> np.arange(num_clusters)) & 1), dtype=np.float64)
        found = np.abs(statistic(signs))
        return float((found >= observed * (1 - 1e-9)).mean())
    rng = np.random.default_rng(0)
    reached, drawn = 1, 0
    while drawn < NUM_FLIPS:
        count = min(NUM_FLIPS - drawn, max(1, _CHUNK // num_clusters))
        signs = np.asarray(1.0 - 2.0 * rng.integers(0, 2, (count, num_clusters)), dtype=np.float64)
        reached += int((np.abs(statistic(signs)) >= observed * (1 - 1e-9)).sum())
        drawn += count
    return reached / (NUM_FLIPS + 1)
