"""How messages are read."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.text import READ_LIMIT, analyse, content_stems, is_echo, questions_in, words


@pytest.mark.parametrize(
    ("message", "question"),
    [
        ("How much can you spend?", "how much can you spend?"),
        ("I see. Tell me about your budget.", "tell me about your budget."),
        ("Sure! I'd love to know when it starts.", "i'd love to know when it starts."),
        ("Who helps you, and when do they have time?", "who helps you"),
        ("Given that money is short, when must it be done?", "when must it be done?"),
        ("Let me know if you need anything else.", ""),
        ("Set a budget. Make a plan.", ""),
        ("1. **Where** is it?\n2. When is it?", "where** is it?"),
    ],
)
def test_first_question(message: str, question: str) -> None:
    assert analyse(message).question == question


@pytest.mark.parametrize(
    "message",
    [
        "budget deadline schedule tools family?",
        "What about your budget, deadline, schedule, tools and family?",
        "Did the assistant ask about the budget?",
        " ".join(["What is it?"] * 10),
        "What is it? " + "word " * 300,
    ],
)
def test_unspecific_questions(message: str) -> None:
    assert not analyse(message).specific


def test_an_echo_is_told_from_an_answer() -> None:
    heard = "I only have two hundred euros for it."
    assert is_echo(analyse("I only have two hundred euros for it?").words, heard)
    assert not is_echo(analyse("Could those two hundred euros be enough for a used one?").words, heard)


def test_questions_in_counts_requests_too() -> None:
    assert len(questions_in("Who? Where? Tell me more. Good.")) == 3


@given(st.text())
def test_any_text_can_be_read(text: str) -> None:
    analysis = analyse(text)
    assert analysis.num_questions >= bool(analysis.question)
    assert content_stems(text) == content_stems(text)
    assert analyse(text) == analysis


@pytest.mark.parametrize("filler", ["a ", "?", "a,", "😀", "\ud83d", "what and ", "\n", "1. ", "given "])
def test_reading_is_linear(filler: str) -> None:
    long = filler * (200_000 // len(filler))
    start = time.process_time()
    analysis = analyse(long)
    assert time.process_time() - start < 1.0  # a quadratic pattern would take minutes
    assert analysis.too_long
    assert len(words(long)) <= READ_LIMIT
