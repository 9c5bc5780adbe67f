"""A scenario that its own examples do not earn is found out; the bundled ones are earned by theirs."""

from dataclasses import replace

import pytest

from elicit_gym.evaluation.playable import playable_problems
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import ChecklistItem, Scenario

SCENARIOS = load_scenarios()
BAKER = SCENARIOS[0]
ADVICE = next(i for i, item in enumerate(BAKER.checklist) if item.kind == "advice")


@pytest.mark.parametrize("start", [0, 40, 80])
def test_the_bundled_scenarios_are_earned_by_their_examples(start: int) -> None:
    assert [problem for s in SCENARIOS[start : start + 8] for problem in playable_problems(s)] == []


def with_item(index: int, item: ChecklistItem) -> Scenario:
    return replace(BAKER, checklist=tuple(item if i == index else old for i, old in enumerate(BAKER.checklist)))


def test_an_item_whose_questions_ask_for_nothing() -> None:
    facts = BAKER.checklist[0].facts
    lists = tuple(
        f"What about the {a}, the {b}, the weather, the moon?"
        for a in ("cat", "dog", "cow")
        for b in ("sea", "sky", "sun")
    )
    told = tuple(replace(fact, questions=lists) if fact.id in facts else fact for fact in BAKER.facts)
    (problem,) = playable_problems(replace(BAKER, facts=told))
    assert problem.startswith("'items' 1: half of its questions at least must earn it, got 0 of 9")


def test_an_advice_whose_suggestions_ask_too_much_beside() -> None:
    item = BAKER.checklist[ADVICE]
    chatty = tuple(f"{text} What now? Who says so? When is it?" for text in item.suggestions)
    (problem,) = playable_problems(with_item(ADVICE, replace(item, suggestions=(*chatty, item.suggestions[0]))))
    assert f"'items' {ADVICE + 1}: half of its suggestions at least must earn it, got 1 of {len(chatty) + 1}" in problem


def test_questions_that_only_repeat_what_the_user_says() -> None:
    fact = BAKER.fact("request")
    item = replace(BAKER.checklist[0], facts=("request",))
    parrots = (f"{BAKER.opening_message}?", "Your space should work better?", "Tell me more about this space.")
    facts = tuple(replace(f, questions=parrots) if f is fact else f for f in BAKER.facts)
    problems = list(playable_problems(replace(with_item(0, item), facts=facts)))
    assert any("'items' 1: half of its questions" in problem for problem in problems)
