"""Estimates from numbers of windows: sums are pooled before they become ratios."""

import numpy as np
import pytest

from elicit_gym.offline.evaluation.estimates import by_domain


def test_perplexity_pools_tokens_before_it_is_exponentiated() -> None:
    sums = np.array([[2.0, 1.0], [4.0, 2.0], [np.nan, 1.0]])  # minus log probability, tokens
    found = by_domain("perplexity", sums, ["a", "a", "b"], ["1", "2", "3"])
    assert found["a"].value == found["all"].value == pytest.approx(np.exp(2.0))
    assert found["b"].value is None


def test_turn_length_ratio_is_of_means() -> None:
    # Tokens and number of the respondent's turns, then of the elicitor's.
    sums = np.array([[10.0, 1, 5, 1], [20.0, 1, 10, 2]])
    assert by_domain("turn_length_ratio", sums, ["a", "a"], ["1", "2"])["all"].value == pytest.approx(3.0)
