"""Statistics against known answers."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.statistics import cluster_estimate, cluster_mean, holm, sign_flip_p_value, worst_mean


def test_the_interval_respects_clusters() -> None:
    rng = np.random.default_rng(1)
    centres = rng.normal(size=30)
    values = np.repeat(centres, 20) + 0.01 * rng.normal(size=600)
    clusters = [str(i) for i in np.repeat(np.arange(30), 20)]
    together = cluster_mean(values.tolist(), clusters)
    apart = cluster_mean(values.tolist(), [str(i) for i in range(600)])
    assert together.low is not None
    assert together.high is not None
    assert apart.low is not None
    assert apart.high is not None
    # 20 copies of a number are one piece of evidence: the honest interval is about sqrt(20) times as wide.
    assert (together.high - together.low) > 3 * (apart.high - apart.low)
    assert together.high - together.low == pytest.approx(2 * 1.96 * centres.std() / np.sqrt(30), rel=0.2)


def test_the_interval_covers_the_truth_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(2)
    hits = 0
    for _ in range(200):
        values = (rng.normal(size=40)[:, None] + rng.normal(size=(40, 2))).ravel()
        estimate = cluster_mean(values.tolist(), [str(i) for i in np.repeat(np.arange(40), 2)])
        assert estimate.low is not None
        assert estimate.high is not None
        hits += estimate.low <= 0 <= estimate.high
    assert 0.88 <= hits / 200 <= 0.99


def test_degenerate_cases_say_why() -> None:
    assert cluster_mean([], []).value is None
    assert cluster_mean([], []).reason == "no episodes"
    one = cluster_mean([1.0, 3.0], ["a", "a"])
    assert (one.value, one.low, one.reason) == (2.0, None, "one cluster: no interval")
    alike = cluster_mean([5.0] * 4, ["a", "a", "b", "c"])
    assert (alike.low, alike.high) == (5.0, 5.0)
    assert cluster_estimate([], [], worst_mean).value is None
    assert cluster_estimate([2.0], ["a"], worst_mean).low is None


def test_the_mean_of_the_worst_quarter() -> None:
    assert worst_mean(np.array([4.0, 0.0, 2.0, 5.0, 5.0, 5.0, 5.0, 5.0])) == 1.0
    assert worst_mean(np.array([3.0])) == 3.0
    estimate = cluster_estimate([0.0, 1.0, 4.0, 5.0] * 10, [str(i % 20) for i in range(40)], worst_mean)
    assert estimate.value == 0.0
    assert estimate.low == 0.0


def test_sign_flip() -> None:
    clusters = [str(i) for i in range(12)]
    assert sign_flip_p_value([1.0] * 12, clusters) == pytest.approx(2 / 2**12, rel=0.01)
    assert sign_flip_p_value([0.0] * 12, clusters) == 1.0
    assert sign_flip_p_value([1.0, -1.0] * 6, clusters) == 1.0
    assert sign_flip_p_value([1.0, 1.0], ["a", "a"]) is None
    # Forty copies in one cluster are no more evidence than one.
    copied = sign_flip_p_value([1.0] * 40 + [1.0] * 11, ["a"] * 40 + [str(i) for i in range(11)])
    assert copied == pytest.approx(2 / 2**12, rel=0.01)


def test_holm_against_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([None, 0.04, 0.03]) == [None, pytest.approx(0.06), pytest.approx(0.06)]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_never_lowers(p_values: list[float]) -> None:
    corrected = holm(p_values)
    for p, q in zip(p_values, corrected, strict=True):
        assert q is not None
        assert p <= q <= 1
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    values = [corrected[i] or 0.0 for i in ranked]
    assert values == sorted(values)
