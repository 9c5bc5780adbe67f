"""Tests of whether two policies differ, by exchanging the two in whole clusters.

No p-value is below one over the number of patterns of signs. Where that is too much for the family of comparisons it
stands in, no data could have made it significant, and the reason says so in the place of a p-value.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from elicit_gym.statistics.estimates import number_of
from elicit_gym.statistics.resampling import (
    Floats,
    cluster_numbers,
    cluster_sums,
    flip_p_value,
    num_sign_patterns,
)

__all__ = ["SIGNIFICANCE", "PairedTest", "correct_for_family", "holm", "sign_flip_test", "swap_test"]

SIGNIFICANCE = 0.05


@dataclass(frozen=True, kw_only=True, slots=True)
class PairedTest:
    """A test of whether two policies differ.

    Attributes:
        p_value: two-sided; None where `reason` says why.
        p_corrected: after Holm's correction over the family of comparisons; None likewise.
        smallest: no outcome with so many clusters could have given a smaller p-value; None where there is no test.
        num_clusters: opening messages (or interviews) behind it.
        unit: what the clusters are.
        reason: why there is no p-value, for example ``cannot be significant with 3 interviews``.
    """

    p_value: float | None
    p_corrected: float | None = None
    smallest: float | None = None
    num_clusters: int = 0
    unit: str = "cluster"
    reason: str | None = None

    @property
    def significant(self) -> bool:
        """Whether the corrected p-value is below 0.05."""
        return self.p_corrected is not None and self.p_corrected < SIGNIFICANCE

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        row: dict[str, Any] = {"p_value": self.p_value, "p_corrected": self.p_corrected, "smallest_p": self.smallest}
        return row | ({"test_reason": self.reason} if self.reason else {})


def sign_flip_test(differences: Sequence[float], clusters: Sequence[str], *, unit: str) -> PairedTest:
    """Test whether paired differences are centred on 0 by flipping the signs of whole clusters' sums.

    Clusters flip whole, which keeps whatever dependence they have inside.

    Args:
        differences: shape (n,).
        clusters: the cluster of each, shape (n,).
        unit: what a cluster is.
    """
    members, num_clusters = cluster_numbers(clusters)
    sums = cluster_sums(np.asarray(differences, dtype=np.float64), members, num_clusters)
    moved = sums[sums != 0]  # a cluster without a difference is the same under both signs
    return _paired_test(lambda signs: signs @ moved, len(moved), num_clusters, unit)


def swap_test(
    first: Floats, second: Floats, clusters: Sequence[str], statistic: Callable[[Floats], Floats], *, unit: str
) -> PairedTest:
    """Test whether two policies differ in a function of sums by exchanging the two in whole clusters.

    Args:
        first: one row for each episode of the first policy, shape (n, m).
        second: the same of the second.
        clusters: the cluster of each, shape (n,).
        statistic: as in `cluster_ratio`.
        unit: what a cluster is.
    """
    members, num_clusters = cluster_numbers(clusters)
    one, other = cluster_sums(first, members, num_clusters), cluster_sums(second, members, num_clusters)
    middle, half = (one + other).sum(axis=0) / 2, (one - other) / 2
    return _paired_test(
        lambda signs: statistic(middle + signs @ half) - statistic(middle - signs @ half),
        num_clusters,
        num_clusters,
        unit,
    )


def _paired_test(statistic: Callable[[Floats], Floats], num_flipped: int, num_clusters: int, unit: str) -> PairedTest:
    if num_clusters == 0:
        return PairedTest(p_value=None, unit=unit, reason="nothing measured")
    p_value = flip_p_value(statistic, num_flipped) if num_flipped else 1.0
    smallest = 1 / num_sign_patterns(num_clusters)
    return PairedTest(p_value=p_value, smallest=smallest, num_clusters=num_clusters, unit=unit)


def correct_for_family(tests: Sequence[PairedTest]) -> list[PairedTest]:
    """Correct the tests of one family of comparisons by Holm's method, and say which could not have come out.

    K clusters have 2^(K-1) patterns of signs, so that no p-value is below 2^(1-K). Where even that is no less than 0.05
    after the correction, whatever the data, the p-value goes and the reason says so.
    """
    tested = [test for test in tests if test.p_value is not None]
    corrected = iter(holm([test.p_value for test in tested if test.p_value is not None]))
    best = iter(holm([test.smallest for test in tested if test.smallest is not None]))
    done = []
    for test in tests:
        if test.p_value is None:
            done.append(test)
            continue
        p_corrected, least = next(corrected), next(best)
        if least < SIGNIFICANCE:
            done.append(replace(test, p_corrected=p_corrected))
        else:
            reason = f"cannot be significant with {number_of(test.num_clusters, test.unit)}"
            done.append(replace(test, p_value=None, p_corrected=None, reason=reason))
    return done


def holm(p_values: Sequence[float]) -> list[float]:
    """Correct p-values for their number by Holm's step-down method.

    References:
        Holm (1979), "A simple sequentially rejective multiple test procedure".
    """
    corrected = [0.0] * len(p_values)
    floor = 0.0
    for rank, (p, i) in enumerate(sorted((p, i) for i, p in enumerate(p_values))):
        floor = max(floor, min(1.0, p * (len(p_values) - rank)))
        corrected[i] = floor
    return corrected
