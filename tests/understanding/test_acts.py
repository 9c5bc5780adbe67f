"""Dialogue acts: what a message asks, suggests or hands back, by a scenario's facts."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import Scenario
from elicit_gym.understanding.acts import reader_of, understand
from elicit_gym.understanding.dialogue_acts import Understanding

SCENARIOS = load_scenarios()
BAKER = next(s for s in SCENARIOS if s.id == "00-a")


def read(
    message: str, scenario: Scenario = BAKER, heard: str = "", disclosed: frozenset[str] = frozenset()
) -> Understanding:
    return understand(message, scenario, user_message=heard or scenario.opening_message, disclosed=disclosed)


def asked(message: str, **more: object) -> list[str]:
    return [fact for act in read(message, **more).judged_questions if act.kind == "ask" for fact, _ in act.facts]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("Do you rent the place, and does your landlord let you change things?", "constraint_1"),
        ("So you're a tenant there, right?", "constraint_1"),
        ("I don't know yet whether the kitchen is yours or rented.", "constraint_1"),
        ("What can the wiring take?", "constraint_2"),
        ("How much have you put aside for this?", "constraint_3"),
        ("Which hours of the day are free for baking?", "constraint_4"),
        ("What space do you mean?", "request"),
        ("What exactly is this about?", "request"),
        ("Could you tell me a bit more about your situation?", "request"),
        ("Thanks! What are we talking about here?", "request"),
    ],
)
def test_questions_in_any_form_find_their_fact(message: str, fact: str) -> None:
    assert asked(message)[0] == fact


@pytest.mark.parametrize(
    ("message", "fact"),
    [
        ("What has been getting in your way so far?", "obstacle"), ("What's the biggest challenge right now?", "obstacle"),
        ("What makes this so hard for you?", "obstacle"), ("What is holding you back?", "obstacle"),
        ("What exactly would you like to have at the end of this?", "goal"), ("What's your main goal?", "goal"),
        ("What would success look like for you?", "goal"), ("What have you tried so far?", "tried"),
        ("Have you tried anything yet?", "tried"), ("What is this about?", "request"),
    ],
)  # fmt: skip
def test_what_every_user_has_is_understood_in_every_scenario(message: str, fact: str) -> None:
    for scenario in SCENARIOS[::10]:
        assert [found for found, _ in read(message, scenario).questions[0].facts] == [fact]


@pytest.mark.parametrize(
    "message",
    [
        "How much hair do you have?", "Do you like football?", "What would the moon say?", "What is the capital of France?",
        "Have a great day!", "Here are seven tips.",
    ],
)  # fmt: skip
def test_what_no_fact_answers(message: str) -> None:
    assert asked(message) == []


def test_two_questions_count_and_of_four_only_the_first() -> None:
    one, two = "Do you rent the place?", "How much have you put aside for this?"
    assert set(asked(f"{one} {two}")) == {"constraint_1", "constraint_3"}
    assert asked(f"{one} {two} Is it big? Is it bright?") == ["constraint_1"]


def test_words_handed_back_are_an_echo() -> None:
    hint = BAKER.checklist[0].hints[0]
    content = hint.rstrip(".").lower()
    for frame in ("Could you tell me more about {}?", "What about {}?", "{}?"):
        assert all(act.kind != "ask" for act in read(frame.format(content), heard=hint).acts)
    assert all(act.kind == "echo" for act in read(BAKER.opening_message).acts if act.kind in ("ask", "echo"))


def test_a_list_of_topics_is_not_understood() -> None:
    message = "What about the lease, the wiring, the savings, the school run and the flour?"
    assert [act.kind for act in read(message).acts] == ["unclear"]


def test_advice_by_polarity() -> None:
    index = next(i for i, item in enumerate(BAKER.checklist) if item.kind == "advice")
    good = read("Put everything on a trolley with wheels, so that nothing has to be screwed to the wall.")
    assert [i for act in good.acts for i, _ in act.advice] == [index]
    bad = read("Have a carpenter screw fitted shelves to the wall.")
    assert not any(act.advice for act in bad.acts)
    assert any(act.contrary for act in bad.acts)


def test_disclosures_are_recognised() -> None:
    reader = reader_of(BAKER)
    for fact in BAKER.facts:
        for said in fact.disclosures:
            assert fact.id in reader.disclosed_in(said)
    assert reader.disclosed_in("I like it here.") == frozenset()


def test_a_reader_keeps_to_its_scenario() -> None:
    other = replace(
        BAKER, facts=BAKER.facts[:1], checklist=tuple(replace(i, facts=("request",)) for i in BAKER.checklist)
    )
    assert reader_of(other) is not reader_of(BAKER)


@settings(max_examples=200, deadline=None)
@given(st.sampled_from(SCENARIOS[::13]), st.text(max_size=200))
def test_any_message_can_be_read(scenario: Scenario, message: str) -> None:
    found = read(message, scenario)
    assert found == read(message, scenario)
    known = {fact.id for fact in scenario.facts}
    for act in found.acts:
        assert {fact for fact, _ in act.facts} <= known
        assert all(0 <= confidence <= 1 for _, confidence in act.facts)
