"""Clauses: what each part of a message is, by its form."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_gym.understanding.clauses import Clause, questions_in, split_clauses


def forms(message: str) -> list[str]:
    return [clause.form for clause in split_clauses(message)]


@pytest.mark.parametrize(
    ("message", "questions"),
    [
        ("How much can you spend?", ["how much can you spend"]),
        ("what is your budget", ["what is your budget"]),
        ("I see. Tell me about your budget.", ["about your budget"]),
        ("It would help to know who else uses the room.", ["who else uses the room"]),
        ("I'm not sure whether you rent or own.", ["whether you rent or own"]),
        ("You haven't said yet when it starts.", ["when it starts"]),
        ("To give you good advice, I'd need to know when it starts.", ["when it starts"]),
        ("Who helps you, and when do they have time?", ["who helps you", "when do they have time"]),
        ("Given that money is short, when must it be done?", ["when must it be done"]),
        ("How much money can you spend, for example on rent, food, or travel?", ["how much money can you spend"]),
        ("You rent the place, right?", ["you rent the place"]),
        ("budget?", ["budget"]),
        ("hwo mcuh money do yuo have?", ["how much money do you have"]),
        ("Can I ask you something? Do you rent or own?", ["do you rent or own"]),
        ("1. **Where** is it?\n2. When is it?", ["where is it", "when is it"]),
        ("Let me know if you need anything else.", []),
        ("Set a budget. Make a plan.", []),
        ("What you need is a plan.", []),
    ],
)
def test_questions(message: str, questions: list[str]) -> None:
    assert questions_in(message) == questions


@pytest.mark.parametrize(
    "message",
    [
        "That sounds tough, doesn't it?", "Can I ask you a few questions?", "I'd love to learn a bit more so that I can help.",
        "I'm so sorry to hear that.", "Does that make sense?", "How are you today?",
    ],
)  # fmt: skip
def test_small_talk(message: str) -> None:
    assert forms(message) == ["small_talk"]


@pytest.mark.parametrize(
    "message",
    [
        "The topic of money bores me, right?", "I don't want to hear about the landlord.", "Skip the budget, okay?",
        "Never mind the deadline, right?",
    ],
)  # fmt: skip
def test_dismissals_ask_for_nothing(message: str) -> None:
    assert "question" not in forms(message)


@pytest.mark.parametrize(
    "message",
    [
        "budget deadline schedule tools family?", "about the money about the time about the rules?",
        "What is the money, the time, the rules, the tools, the friends?", "Did the assistant ask about the budget?",
        "Wie viel Geld haben Sie denn dafür?", "Hоw much mоney cаn you spend?", "word " * 300 + "what is it?",
        "Сколько денег у вас есть?",
    ],
)  # fmt: skip
def test_what_nobody_can_follow_is_no_question(message: str) -> None:
    assert "question" not in forms(message)


@pytest.mark.parametrize(
    ("message", "probe"),
    [
        ("Could you tell me more about the deposit letter?", "more"), ("What about the oven?", "more"),
        ("How do you feel about the oven?", "plain"), ("Does the oven take more than four loaves?", None),
        ("Could you tell me who owns the oven?", None),
    ],
)  # fmt: skip
def test_probes(message: str, probe: str | None) -> None:
    (clause,) = split_clauses(message)
    assert clause.probe == probe


def test_negation_and_suggestions_in_question_form() -> None:
    assert split_clauses("Don't drill into the walls.")[0].negated
    assert not split_clauses("Put it on wheels.")[0].negated
    assert split_clauses("Have you thought of putting it on wheels?")[0].suggests
    assert not split_clauses("How old is the oven?")[0].suggests


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_cut_into_few_clauses(text: str) -> None:
    clauses = split_clauses(text)
    assert len(clauses) <= 24
    assert all(isinstance(clause, Clause) for clause in clauses)
    assert split_clauses(text) == clauses


@pytest.mark.parametrize(
    "filler",
    ["a ", "?", "a,", "😀", "\ud83d", "what and ", "\n", "1. ", "given ", "tell me ", "and when do you ", "(", "so "],
)
def test_reading_is_linear(filler: str) -> None:
    def seconds(length: int) -> float:
        text = filler * (length // len(filler))
        start = time.process_time()
        split_clauses(text)
        return time.process_time() - start

    assert seconds(5_900) < 1.0  # a quadratic pattern takes far longer
    assert seconds(1_000_000) < 1.0
