"""Tests of whether two policies differ."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm

from elicit_gym.reporting.page import format_test
from elicit_gym.statistics.resampling import Floats
from elicit_gym.statistics.significance import PairedTest, correct_for_family, holm, sign_flip_test, swap_test

OPENING = "opening message"


def flipped(sums: list[float]) -> float:
    """Return the p-value by looking at every pattern of signs."""
    totals = [abs(sum(s * x for s, x in zip(signs, sums, strict=True))) for signs in product((1, -1), repeat=len(sums))]
    return sum(total >= abs(sum(sums)) - 1e-9 for total in totals) / len(totals)


def names(count: int) -> list[str]:
    return [str(i) for i in range(count)]


@pytest.mark.parametrize("count", [1, 2, 5, 7, 10])
def test_few_clusters_are_enumerated(count: int) -> None:
    sums = np.random.default_rng(count).integers(-3, 5, count).astype(float).tolist()
    test = sign_flip_test(sums, names(count), unit=OPENING)
    assert test.p_value == pytest.approx(flipped(sums))
    assert test.smallest == 2.0 ** (1 - count)
    assert sign_flip_test([1.0] * count, names(count), unit=OPENING).p_value == test.smallest


def test_sign_flips_of_whole_clusters() -> None:
    assert sign_flip_test([0.0] * 12, names(12), unit=OPENING).p_value == 1.0
    assert sign_flip_test([1.0, -1.0] * 6, names(12), unit=OPENING).p_value == 1.0
    # Forty copies in one cluster are no more evidence than one.
    copied = sign_flip_test([1.0] * 40 + [1.0] * 11, ["a"] * 40 + names(11), unit=OPENING)
    assert copied.p_value == pytest.approx(2 / 2**12)
    assert copied.num_clusters == 12


def test_many_clusters_are_sampled_and_agree_with_what_is_known() -> None:
    values = np.random.default_rng(3).normal(0.35, 1, 40)
    by_normal = 2 * norm.sf(abs(values.sum()) / np.sqrt((values**2).sum()))
    test = sign_flip_test(values.tolist(), names(40), unit=OPENING)
    assert test.p_value == pytest.approx(by_normal, abs=0.01)
    assert sign_flip_test([1.0] * 40, names(40), unit=OPENING).p_value == test.smallest == 1 / 20_000


def test_two_policies_exchanged_in_a_ratio() -> None:
    def mean(sums: Floats) -> Floats:
        return np.asarray(sums[..., 0] / sums[..., 1])

    rng = np.random.default_rng(4)
    first, second = (np.stack([rng.normal(gain, 1, 9), np.ones(9)], axis=1) for gain in (0.8, 0.0))
    swapped = swap_test(first, second, names(9), mean, unit="interview")
    flipped_signs = sign_flip_test((first - second)[:, 0].tolist(), names(9), unit="interview")
    assert swapped.p_value == flipped_signs.p_value  # with equal sizes the two are one test
    assert swap_test(first, first, names(9), mean, unit="interview").p_value == 1.0


@pytest.mark.parametrize(
    ("count", "pairs", "possible"), [(5, 1, False), (6, 1, True), (7, 3, True), (7, 4, False), (10, 25, True)]
)
def test_what_no_outcome_could_make_significant_is_said_in_place_of_a_p_value(
    count: int, pairs: int, possible: bool
) -> None:
    family = correct_for_family([sign_flip_test([1.0] * count, names(count), unit="interview")] * pairs)
    for test in family:
        assert test.significant is possible
        if possible:
            assert test.p_corrected == pytest.approx(min(1.0, pairs * 2.0 ** (1 - count)))
            continue
        assert (test.p_value, test.p_corrected) == (None, None)
        assert format_test(test) == test.to_row()["test_reason"] == f"cannot be significant with {count} interviews"


def test_a_family_of_unequal_sizes() -> None:
    large, small = (sign_flip_test([1.0] * n, names(n), unit="interview") for n in (12, 5))
    one, other = correct_for_family([large, small])
    assert one.p_corrected == pytest.approx(2 * 2**-11)
    assert other.reason == "cannot be significant with 5 interviews"
    # A p-value that could have been smaller stays, however large it is.
    dull = correct_for_family([sign_flip_test([1.0, -1.0] * 4, names(8), unit="interview")])
    assert (dull[0].p_corrected, dull[0].reason) == (1.0, None)
    nothing = correct_for_family([sign_flip_test([], [], unit="interview"), large])
    assert nothing[0].reason == "nothing measured"
    assert nothing[1].p_corrected == large.p_value  # what could not be tested does not count
    assert correct_for_family([]) == []


def test_holm_against_a_worked_example() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm_keeps_the_order_and_never_lowers(p_values: list[float]) -> None:
    corrected = holm(p_values)
    for p, q in zip(p_values, corrected, strict=True):
        assert p <= q <= 1
    ranked = sorted(range(len(p_values)), key=lambda i: p_values[i])
    values = [corrected[i] for i in ranked]
    assert values == sorted(values)


def test_a_p_value_in_words() -> None:
    assert format_test(PairedTest(p_value=0.0002, p_corrected=0.0004)) == "< 0.001"
    assert format_test(PairedTest(p_value=0.02, p_corrected=0.04)) == "0.040"
