"""Words and stems."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.text import READ_LIMIT, content_stems, stem, words


def test_content_and_function_words() -> None:
    assert content_stems("How much of the money was spent on kitchens?") == {"money", "spent", "kitchen"}
    assert words("Don’t, I've said: 3 times!") == ["don't", "i've", "said", "3", "times"]
    assert stem("2026") == "2026"


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    assert content_stems(text) == content_stems(text)


@pytest.mark.parametrize("filler", ["a ", "?", "a,", "😀", "\ud83d", "what and ", "\n", "1. ", "given "])
def test_reading_is_linear(filler: str) -> None:
    long = filler * (200_000 // len(filler))
    start = time.process_time()
    content_stems(long)
    assert time.process_time() - start < 1.0  # a quadratic pattern would take minutes
    assert len(words(long)) <= READ_LIMIT
