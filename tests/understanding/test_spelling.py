"""Typing errors are mended, words and names are not."""

import pytest

from elicit_gym.understanding.spelling import mended


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("hwo", "how"), ("wehn", "when"), ("deadlien", "deadline"), ("moeny", "money"), ("dont", "do not"), ("ur", "your"),
        ("money", "money"), ("kitchens", "kitchens"), ("2026", "2026"), ("bores", "bores"), ("zzzzzqqqq", "zzzzzqqqq"), ("a", "a"), ("avian", "avian"),
        ("tjme", "time"), ("prablem", "problem"),
    ],
)  # fmt: skip
def test_words(typed: str, meant: str) -> None:
    assert mended(typed) == meant
