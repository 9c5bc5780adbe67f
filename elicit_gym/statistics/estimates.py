"""Intervals and tests that respect clusters: episodes that share an opening message are no independent evidence.

Every interval of the package comes from here, and every p-value from `elicit_gym.statistics.significance`. What the
data cannot carry is said in words, in `reason`, and never filled with a number: an interval over fewer than five
clusters, or the spread of clusters that are all alike. How often the intervals hold is measured by
`benchmarks/interval_coverage.py`. All randomness comes from a fixed seed: the same records give the same intervals.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from elicit_gym.statistics.resampling import (
    CONFIDENCE,
    Floats,
    Missing,
    Statistic,
    cluster_numbers,
    cluster_sums,
    mean_statistic,
    smooth_statistic,
    studentised_interval,
    tail_mean_statistic,
)

__all__ = [
    "MIN_CLUSTERS",
    "Estimate",
    "alpha_of_coincidences",
    "cluster_alpha",
    "cluster_kappa",
    "cluster_mean",
    "cluster_ratio",
    "cluster_worst_mean",
    "cohen_kappa",
    "kappa_of_counts",
    "number_of",
]

MIN_CLUSTERS = 5
"""Below it no method that was tried holds what it says, and a wrong interval is worse than none."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Estimate:
    """A number with its interval.

    Attributes:
        value: None when there is nothing to estimate it from; `reason` says why.
        low: lower end of the 95 % interval; None where there is none, and `reason` says why.
        high: upper end.
        num: episodes (or windows, ratings, ...) behind it.
        num_clusters: opening messages (or interviews) behind it.
        reason: what is missing and why, for example ``no interval: 3 interviews``; also where the interval is no
            bootstrap's.
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


def number_of(count: int, unit: str) -> str:
    """Write a number of clusters: ``1 interview``, ``3 interviews``."""
    return f"{count} {unit}" + ("" if count == 1 else "s")


_ANY = (-math.inf, math.inf)
_Found = tuple[float, float] | Missing | Literal["too few"]


def cluster_mean(
    values: Sequence[float], clusters: Sequence[str], *, unit: str, bounds: tuple[float, float] = _ANY
) -> Estimate:
    """Estimate a mean, with a bootstrap-t interval over whole clusters.

    Clusters that are all alike do not tell how far the next one may differ. With finite bounds the interval then rests
    on those: with 95 % confidence at most the share 1 - 0.05^(1/K) of all clusters differs (the rule of three), by as
    much as the bounds allow. Without them there is no interval.

    Args:
        values: one for each episode, shape (n,).
        clusters: the cluster of each, shape (n,).
        unit: what a cluster is, in the singular, for reasons: ``opening message``, ``interview``.
        bounds: what a value can be by its definition; the interval is cut there.

    References:
        Hanley and Lippman-Hand (1983), "If nothing goes wrong, is everything all right?".
    """
    if not len(values):
        return Estimate(value=None, reason="nothing measured")
    array = np.asarray(values, dtype=np.float64)
    members, num_clusters = cluster_numbers(clusters)
    sums, counts = cluster_sums(array, members, num_clusters), np.bincount(members).astype(np.float64)
    value = float(array.mean())
    estimate = Estimate(value=value, num=len(array), num_clusters=num_clusters)
    found = _studentised(mean_statistic(sums, counts), num_clusters)
    if found == "alike" and all(map(math.isfinite, bounds)):
        differ = 1 - (1 - CONFIDENCE) ** (1 / num_clusters)
        low, high = (value + differ * (bound - value) for bound in bounds)
        reason = f"all {number_of(num_clusters, unit)} alike: by the rule of three"
        return replace(estimate, low=low, high=high, reason=reason)
    return _with(estimate, found, unit, bounds)


def cluster_ratio(
    values: Floats,
    clusters: Sequence[str],
    statistic: Callable[[Floats], Floats],
    *,
    unit: str,
    positive: bool = False,
) -> Estimate:
    """Estimate a smooth function of sums (a micro average, a ratio of means), with a bootstrap-t interval.

    Args:
        values: one row for each episode, shape (n, m).
        clusters: the cluster of each, shape (n,).
        statistic: from sums over episodes, shape (..., m), to numbers, shape (...); the same for any multiple of the
            sums.
        unit: what a cluster is.
        positive: it is positive by definition, and the interval is that of its logarithm.
    """
    if not len(values):
        return Estimate(value=None, reason="nothing measured")
    array = np.asarray(values, dtype=np.float64)
    members, num_clusters = cluster_numbers(clusters)
    value = float(statistic(array.sum(axis=0)))
    estimate = Estimate(value=value, num=len(array), num_clusters=num_clusters)
    sums = cluster_sums(array, members, num_clusters)
    if not positive:
        return _with(estimate, _studentised(smooth_statistic(sums, statistic), num_clusters), unit)
    found = _studentised(smooth_statistic(sums, lambda drawn: np.log(statistic(drawn))), num_clusters)
    return _with(estimate, found if isinstance(found, str) else (math.exp(found[0]), math.exp(found[1])), unit)


def cluster_worst_mean(
    values: Sequence[float],
    clusters: Sequence[str],
    *,
    unit: str,
    of: Sequence[float] | None = None,
    share: float = 0.25,
    bounds: tuple[float, float] = _ANY,
) -> Estimate:
    """Estimate the mean of the lowest `share` of the values; the bootstrap-t interval chooses those anew each time.

    Episodes that tie at the boundary count in part.

    Args:
        values: one for each episode, shape (n,).
        clusters: the cluster of each, shape (n,).
        unit: what a cluster is.
        of: what is averaged over the episodes with the lowest values, shape (n,); the values themselves by default.
        share: between 0 and 1.
        bounds: what an averaged value can be by its definition; the interval is cut there.

    References:
        InfoQuest, Figure 4: the 25 % of episodes with the lowest rewards.
    """
    if not len(values):
        return Estimate(value=None, reason="nothing measured")
    order = np.asarray(values, dtype=np.float64)
    averaged = order if of is None else np.asarray(of, dtype=np.float64)
    members, num_clusters = cluster_numbers(clusters)
    statistic = tail_mean_statistic(order, averaged, members, share)
    value = float(statistic(np.ones((1, num_clusters)))[0][0])
    estimate = Estimate(value=value, num=len(order), num_clusters=num_clusters)
    found = _studentised(statistic, num_clusters, max_stretch=1.5)
    return _with(estimate, found, unit, bounds, alike="the worst are all alike")


def cluster_kappa(
    first: Sequence[bool], second: Sequence[bool | None], clusters: Sequence[str], *, unit: str
) -> Estimate:
    """Estimate Cohen's kappa of two raters' yes/no answers, with a bootstrap-t interval over clusters.

    Args:
        first: shape (n,).
        second: shape (n,), without None.
        clusters: the cluster of each pair of answers, shape (n,).
        unit: what a cluster is.

    References:
        Cohen (1960), "A coefficient of agreement for nominal scales".
    """
    if not len(first):
        return Estimate(value=None, reason="nothing measured")
    pairs = np.array([[a and b, a and not b, b and not a, not a and not b] for a, b in zip(first, second, strict=True)])
    return _of_sums(
        pairs.astype(np.float64), clusters, kappa_of_counts, unit, "one answer throughout: kappa is not defined"
    )


def cohen_kappa(first: Sequence[bool], second: Sequence[bool | None]) -> float | None:
    """Return Cohen's kappa as `cluster_kappa` does, without an interval; None where it is not defined."""
    return cluster_kappa(first, second, ["all"] * len(first), unit="cluster").value


def kappa_of_counts(counts: Floats) -> Floats:
    """Return Cohen's kappa of counts of (both yes, first only, second only, neither), shape (..., 4)."""
    both, one, other, neither = np.moveaxis(counts / counts.sum(axis=-1, keepdims=True), -1, 0)
    p, q = both + one, both + other
    expected = p * q + (1 - p) * (1 - q)
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected < 1, (both + neither - expected) / (1 - expected), np.nan)


def cluster_alpha(ratings: Floats, clusters: Sequence[str], *, unit: str) -> Estimate:
    """Estimate Krippendorff's alpha for ordinal ratings, with a bootstrap-t interval over clusters.

    Args:
        ratings: NaN where a rater did not rate, shape (raters, n).
        clusters: the cluster of each rated thing, shape (n,).
        unit: what a cluster is.

    References:
        Krippendorff (2011), "Computing Krippendorff's alpha-reliability".
    """
    levels = np.unique(ratings[~np.isnan(ratings)])
    counts = (ratings[:, :, None] == levels).sum(axis=0).astype(np.float64)  # (n, levels)
    raters = counts.sum(axis=1)
    shared = raters > 1
    if not shared.any():
        return Estimate(value=None, reason="nothing was rated twice")
    own, pairs = counts[shared], np.maximum(raters[shared] - 1, 1)[:, None, None]
    same = own[:, :, None] * np.eye(len(levels))
    coincidences = (own[:, :, None] * own[:, None, :] - same) / pairs
    kept = [cluster for cluster, both in zip(clusters, shared, strict=True) if both]
    flat = coincidences.reshape(len(kept), -1)
    return _of_sums(flat, kept, alpha_of_coincidences, unit, "every rating alike: alpha is not defined")


def alpha_of_coincidences(coincidences: Floats) -> Floats:
    """Return ordinal alpha of coincidences of levels in their order, shape (..., levels * levels)."""
    size = math.isqrt(coincidences.shape[-1])
    matrix = coincidences.reshape(*coincidences.shape[:-1], size, size)
    totals = matrix.sum(axis=-1)
    ranks = totals.cumsum(axis=-1) - totals / 2
    apart = (ranks[..., :, None] - ranks[..., None, :]) ** 2
    observed = (matrix * apart).sum(axis=(-2, -1)) * (totals.sum(axis=-1) - 1)
    expected = (totals[..., :, None] * totals[..., None, :] * apart).sum(axis=(-2, -1))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(expected > 0, 1 - observed / expected, np.nan)


def _of_sums(
    values: Floats, clusters: Sequence[str], statistic: Callable[[Floats], Floats], unit: str, undefined: str
) -> Estimate:
    members, num_clusters = cluster_numbers(clusters)
    value = float(statistic(values.sum(axis=0)))
    if math.isnan(value):
        return Estimate(value=None, num=len(values), num_clusters=num_clusters, reason=undefined)
    estimate = Estimate(value=value, num=len(values), num_clusters=num_clusters)
    sums = cluster_sums(values, members, num_clusters)
    return _with(estimate, _studentised(smooth_statistic(sums, statistic), num_clusters), unit, (-1.0, 1.0))


def _studentised(statistic: Statistic, num_clusters: int, *, max_stretch: float = 2.5) -> _Found:
    if num_clusters < MIN_CLUSTERS:
        return "too few"
    with np.errstate(all="ignore"):  # what is not defined on some resample is said in the reason
        return studentised_interval(statistic, num_clusters, max_stretch=max_stretch)


def _with(
    estimate: Estimate,
    found: _Found,
    unit: str,
    bounds: tuple[float, float] = _ANY,
    *,
    alike: str | None = None,
) -> Estimate:
    if not isinstance(found, str):
        return replace(estimate, low=float(max(found[0], bounds[0])), high=float(min(found[1], bounds[1])))
    number = number_of(estimate.num_clusters, unit)
    said = {"too few": number, "alike": alike or f"all {number} alike", "undefined": "not defined on every resample"}
    return replace(estimate, reason=f"no interval: {said[found]}")
