"""Intervals against known answers, what they say where there is none, and how often they hold."""

import json
import math

import krippendorff
import numpy as np
import pytest
from scipy.stats import t as student

from benchmarks.interval_coverage import cases, covered, measure
from elicit_gym.statistics.estimates import (
    MIN_CLUSTERS,
    Estimate,
    cluster_alpha,
    cluster_kappa,
    cluster_mean,
    cluster_ratio,
    cluster_worst_mean,
    cohen_kappa,
)
from elicit_gym.statistics.resampling import Floats

OPENING = "opening message"


def width(estimate: Estimate) -> float:
    assert estimate.low is not None
    assert estimate.high is not None
    return estimate.high - estimate.low


def names(count: int, each: int = 1) -> list[str]:
    return [str(i) for i in np.repeat(np.arange(count), each)]


def quotient(sums: Floats) -> Floats:
    return np.asarray(sums[..., 0] / sums[..., 1])


def test_the_interval_respects_clusters() -> None:
    rng = np.random.default_rng(1)
    centres = rng.normal(size=30)
    values = np.repeat(centres, 20) + 0.01 * rng.normal(size=600)
    together = cluster_mean(values.tolist(), names(30, 20), unit=OPENING)
    apart = cluster_mean(values.tolist(), names(600), unit=OPENING)
    # 20 copies of a number are one piece of evidence: the honest interval is about sqrt(20) times as wide.
    assert width(together) > 3 * width(apart)
    assert width(together) == pytest.approx(2 * student.ppf(0.975, 29) * centres.std(ddof=1) / np.sqrt(30), rel=0.2)
    assert (together.num, together.num_clusters) == (600, 30)


# Seven clusters are the pilot's interviews, ten the test openings. The band is what 400 experiments allow about 0.95.
@pytest.mark.parametrize("count", [7, 10])
@pytest.mark.parametrize(
    "name",
    [
        "mean: returns of ask-one or adaptive",
        "mean: normal",
        "mean: skewed, lengths of utterances",
        "difference: returns, pairs of ask-one, adaptive, oracle",
        "ratio: turn lengths",
    ],
)
def test_intervals_hold_as_often_as_they_say_where_the_percentile_bootstrap_does_not(name: str, count: int) -> None:
    row = measure(cases()[name], count, 400, seed=3)
    assert row["without_interval"] < 0.01
    assert 0.915 <= covered(row, "package") <= 0.985
    assert covered(row, "percentile") < 0.935
    assert row["package"]["median_width"] < 4 * row["others"]["percentile"]["median_width"]


@pytest.mark.parametrize("count", [1, 2, MIN_CLUSTERS - 1])
def test_below_five_clusters_there_is_no_interval_and_the_reason_is_told(count: int) -> None:
    rng = np.random.default_rng(0)
    values, clusters = rng.random((4 * count, 2)) + 0.1, names(count, 4)
    found = [
        cluster_mean(values[:, 0].tolist(), clusters, unit="interview", bounds=(0, 5)),
        cluster_ratio(values, clusters, quotient, unit="interview", positive=True),
        cluster_worst_mean(values[:, 0].tolist(), clusters, unit="interview", bounds=(0, 5)),
        cluster_kappa(
            [True, True, False, False] * count, [True, False, False, False] * count, clusters, unit="interview"
        ),
        cluster_alpha(np.array([[1, 2, 3, 4.0] * count, [1, 2, 3, 5.0] * count]), clusters, unit="interview"),
    ]
    for estimate in found:
        assert estimate.value is not None
        assert math.isfinite(estimate.value)
        assert (estimate.low, estimate.high) == (None, None)
        assert estimate.reason == f"no interval: {count} interview" + ("s" if count > 1 else "")
        assert "NaN" not in json.dumps(estimate.to_row())
        assert estimate.to_row()["reason"] == estimate.reason


def test_five_clusters_have_one() -> None:
    estimate = cluster_mean([1.0, 2, 4, 3, 2], names(5), unit=OPENING)
    assert width(estimate) > 0
    assert estimate.reason is None


def test_nothing_is_nothing() -> None:
    nothing = np.zeros((0, 2))
    for estimate in (
        cluster_mean([], [], unit=OPENING),
        cluster_ratio(nothing, [], quotient, unit=OPENING),
        cluster_worst_mean([], [], unit=OPENING),
        cluster_kappa([], [], [], unit=OPENING),
    ):
        assert (estimate.value, estimate.low, estimate.reason) == (None, None, "nothing measured")


def test_clusters_that_are_all_alike_claim_no_certainty() -> None:
    unbounded = cluster_mean([5.0] * 14, names(7, 2), unit="interview")
    assert (unbounded.low, unbounded.high) == (None, None)
    assert unbounded.reason == "no interval: all 7 interviews alike"
    # If more than 1 - 0.05^(1/7) of all interviews were different, seven alike would be rarer than 1 in 20.
    differ = 1 - 0.05 ** (1 / 7)
    bounded = cluster_mean([5.0] * 14, names(7, 2), unit="interview", bounds=(0, 5))
    assert (bounded.low, bounded.high) == (pytest.approx(5 - 5 * differ), 5.0)
    assert bounded.reason == "all 7 interviews alike: by the rule of three"
    tied = cluster_mean([0.0] * 40, names(40), unit=OPENING, bounds=(-5, 5))
    assert (tied.low, tied.high) == (pytest.approx(-0.36, abs=0.005), pytest.approx(0.36, abs=0.005))
    # Within clusters there may be spread: it says nothing of other clusters.
    inside = cluster_mean([0.0, 1.0] * 7, names(7, 2), unit="interview")
    assert inside.reason == unbounded.reason
    ratio = cluster_ratio(np.array([[2.0, 1.0], [4.0, 2.0]] * 4), names(8), quotient, unit="interview", positive=True)
    assert (ratio.value, ratio.reason) == (pytest.approx(2.0), "no interval: all 8 interviews alike")


@pytest.mark.parametrize("count", [5, 7, 12, 40])
@pytest.mark.parametrize("odd", [1, 2])
def test_few_clusters_that_differ_from_the_rest_do_not_explode(count: int, odd: int) -> None:
    values = [0.0] * (count - odd) + [1.0] * odd
    estimate = cluster_mean(values, names(count), unit=OPENING)
    error = np.std(values, ddof=1) / np.sqrt(count)
    assert estimate.value == pytest.approx(odd / count)
    limit = 2.5 * student.ppf(0.975, count - 1) * error * np.sqrt(count / (count - 1)) * 2
    assert error < width(estimate) <= limit
    # Wider than what a test of the proportion allows, never narrower: 0.05 < P(no more than this | upper end).
    assert estimate.high is not None
    assert estimate.high > 1 - 0.05 ** (1 / count)
    bounded = cluster_mean(values, names(count), unit=OPENING, bounds=(0, 1))
    assert (bounded.low, bounded.high) == (max(0.0, estimate.low or 0.0), min(1.0, estimate.high))


def test_intervals_move_and_scale_with_the_data_and_do_not_depend_on_order() -> None:
    rng = np.random.default_rng(5)
    values, clusters = rng.gamma(1, size=30), names(10, 3)
    plain = cluster_mean(values.tolist(), clusters, unit=OPENING)
    moved = cluster_mean((7 + 3 * values).tolist(), clusters, unit=OPENING)
    assert moved.low == pytest.approx(7 + 3 * (plain.low or 0))
    assert moved.high == pytest.approx(7 + 3 * (plain.high or 0))
    assert cluster_mean(values.tolist(), clusters, unit=OPENING) == plain
    mixed = rng.permutation(30).reshape(3, 10).T.ravel()
    by_cluster = sorted(range(30), key=lambda i: (clusters[i], mixed[i]))
    assert cluster_mean(values[by_cluster].tolist(), clusters, unit=OPENING).low == pytest.approx(plain.low)


def test_a_ratio_of_sums_and_its_logarithm() -> None:
    rng = np.random.default_rng(6)
    tokens = rng.integers(1, 40, 60).astype(float)
    nats = tokens * (3 + 0.3 * rng.normal(size=60))
    columns, clusters = np.stack([nats, tokens], axis=1), names(12, 5)
    mean = cluster_ratio(columns, clusters, quotient, unit="interview")
    perplexity = cluster_ratio(columns, clusters, lambda s: np.exp(quotient(s)), unit="interview", positive=True)
    assert mean.value == pytest.approx(nats.sum() / tokens.sum())
    assert perplexity.low == pytest.approx(math.exp(mean.low or 0))
    assert perplexity.high == pytest.approx(math.exp(mean.high or 0))
    ones = np.stack([nats, np.ones(60)], axis=1)
    plain = cluster_mean(nats.tolist(), clusters, unit="interview")
    assert cluster_ratio(ones, clusters, quotient, unit="interview").low == pytest.approx(plain.low)
    # All tokens in one interview: without it there is no ratio.
    alone = np.where(np.arange(60)[:, None] < 5, columns, 0.0)
    undefined = cluster_ratio(alone, clusters, quotient, unit="interview")
    assert (undefined.low, undefined.reason) == (None, "no interval: not defined on every resample")


def test_the_mean_of_the_worst_quarter() -> None:
    def worst(values: list[float], **kwargs: object) -> Estimate:
        return cluster_worst_mean(values, names(len(values)), unit=OPENING, **kwargs)  # type: ignore[arg-type]

    assert worst([4.0, 0.0, 2.0, 5.0, 5.0, 5.0, 5.0, 5.0]).value == 1.0
    assert worst([3.0]).value == 3.0
    assert worst([0.0, 3.0, 9, 9, 9, 9]).value == 1.0  # the worst one and a half of six
    assert worst([2.0, 1.0, 1.0, 5.0], of=[8.0, 3.0, 5.0, 0.0]).value == 4.0  # ties count in part
    values = np.random.default_rng(2).normal(size=400).round(1)
    estimate = worst(values.tolist())
    assert estimate.value == pytest.approx(np.sort(values)[:100].mean())
    assert (estimate.low or 0) < (estimate.value or 0) < (estimate.high or 0)
    assert worst([0.0] * 20 + [5.0] * 20).reason == "no interval: the worst are all alike"


def test_kappa() -> None:
    first = [True] * 20 + [True] * 5 + [False] * 10 + [False] * 15
    second = [True] * 20 + [False] * 5 + [True] * 10 + [False] * 15
    assert cohen_kappa(first, second) == pytest.approx(0.4)  # the example of many textbooks
    estimate = cluster_kappa(first, second, [str(i % 10) for i in range(50)], unit="judge's day")
    assert estimate.value == pytest.approx(0.4)
    assert -1 <= (estimate.low or -9) < 0.4 < (estimate.high or 9) <= 1
    assert cohen_kappa([True, True], [True, True]) is None
    one = cluster_kappa([True] * 9, [True] * 9, names(9), unit=OPENING)
    assert (one.value, one.reason) == (None, "one answer throughout: kappa is not defined")


def test_alpha_is_the_library_s_and_its_interval_is_over_clusters() -> None:
    rng = np.random.default_rng(8)
    for _ in range(20):
        ratings = rng.integers(1, 6, (4, 40)).astype(float)
        ratings[rng.random(ratings.shape) < 0.5] = np.nan
        estimate = cluster_alpha(ratings, names(10, 4), unit="interview")
        expected = krippendorff.alpha(reliability_data=ratings, level_of_measurement="ordinal")
        assert estimate.value == pytest.approx(expected)
        assert (estimate.low or 9) < expected < (estimate.high or -9)
    assert cluster_alpha(np.full((3, 8), 4.0), names(8), unit="interview").reason == (
        "every rating alike: alpha is not defined"
    )
    once = np.array([[1.0, np.nan], [np.nan, 2.0]])
    assert cluster_alpha(once, names(2), unit="interview").reason == "nothing was rated twice"
