"""Influences are what they say: how a statistic moves with the weight of a cluster."""

import numpy as np
import pytest

from elicit_gym.statistics.resampling import (
    Statistic,
    cluster_numbers,
    cluster_sums,
    mean_statistic,
    smooth_statistic,
    studentised_interval,
    tail_mean_statistic,
)

RNG = np.random.default_rng(0)
MEMBERS = np.concatenate([np.arange(8), RNG.integers(0, 8, 52)])
RETURNS = RNG.integers(0, 6, 60).astype(float)
OTHERS = RETURNS + RNG.normal(size=60)
STATISTICS = {
    "mean": mean_statistic(cluster_sums(OTHERS, MEMBERS, 8), np.bincount(MEMBERS).astype(float)),
    "ratio": smooth_statistic(
        RNG.random((8, 4)) + 0.1, lambda s: np.asarray(s[..., 0] * s[..., 3] / s[..., 1] / s[..., 2])
    ),
    "worst quarter": tail_mean_statistic(RETURNS, RETURNS, MEMBERS, 0.25),
    "worst quarter, not of integers": tail_mean_statistic(OTHERS, OTHERS, MEMBERS, 0.25),
    "something else over the worst quarter": tail_mean_statistic(RETURNS, OTHERS, MEMBERS, 0.25),
}


@pytest.mark.parametrize("statistic", STATISTICS.values(), ids=STATISTICS)
def test_influences_are_derivatives(statistic: Statistic) -> None:
    weights = np.random.default_rng(1).dirichlet(np.ones(8), 5)
    values, influences = statistic(weights)
    assert (weights * influences).sum(axis=1) == pytest.approx(0, abs=1e-9)
    for k, corner in enumerate(np.eye(8)):
        more, _ = statistic(weights + 1e-6 * (corner - weights))
        less, _ = statistic(weights - 1e-6 * (corner - weights))
        assert (more - less) / 2e-6 == pytest.approx(influences[:, k], abs=1e-6)
    again, _ = statistic(3 * weights)
    assert again == pytest.approx(values)


def test_the_interval_says_why_there_is_none() -> None:
    assert studentised_interval(mean_statistic(np.ones(6), np.ones(6)), 6) == "alike"
    with np.errstate(all="ignore"):
        only_one = smooth_statistic(
            np.array([[1.0, 1.0], *[[0.0, 0.0]] * 5]), lambda s: np.asarray(s[..., 0] / s[..., 1])
        )
        assert studentised_interval(only_one, 6) == "undefined"


def test_clusters_are_numbered_in_order_of_appearance() -> None:
    numbers, count = cluster_numbers(["b", "a", "b", "c"])
    assert numbers.tolist() == [0, 1, 0, 2]
    assert count == 3
    assert cluster_sums(np.array([1.0, 2, 3, 4]), numbers, count).tolist() == [4, 2, 4]
