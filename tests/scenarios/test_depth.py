"""Each rule of depth fires on a scenario that breaks it, and only on that."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from elicit_gym.scenarios.depth import depth_problems, shared_examples
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import ChecklistItem, Fact, Scenario

SCENARIO = next(s for s in load_scenarios() if any(i.kind == "advice" for i in s.checklist))
ADVICE = next(i for i, item in enumerate(SCENARIO.checklist) if item.kind == "advice")
ASK = next(i for i, item in enumerate(SCENARIO.checklist) if item.kind == "ask")


def with_fact(index: int, change: Callable[[Fact], Fact]) -> Scenario:
    facts = list(SCENARIO.facts)
    facts[index] = change(facts[index])
    return replace(SCENARIO, facts=tuple(facts))


def with_item(index: int, change: Callable[[ChecklistItem], ChecklistItem]) -> Scenario:
    items = list(SCENARIO.checklist)
    items[index] = change(items[index])
    return replace(SCENARIO, checklist=tuple(items))


def hinting(hint: str) -> Scenario:
    return with_item(ASK, lambda i: replace(i, hints=(hint, *i.hints[1:])))


CASES: dict[str, tuple[Scenario, str]] = {
    "few facts": (replace(SCENARIO, facts=SCENARIO.facts[:9]), "'facts' must be 12 to 16"),
    "no request": (
        replace(SCENARIO, facts=tuple(f for f in SCENARIO.facts if f.id != "request")), "'facts' must have 'request'",
    ),
    "few questions": (with_fact(0, lambda f: replace(f, questions=f.questions[:2])), "or more, got 2"),
    "nothing fuller": (
        with_fact(0, lambda f: replace(f, disclosures=(f.disclosures[1], f.disclosures[1]))), "adds nothing to the first",
    ),
    "two sentences": (
        with_fact(0, lambda f: replace(f, disclosures=("It is so. It is.", f.disclosures[1]))), "one sentence each",
    ),
    "same words": (
        with_fact(0, lambda f: replace(f, disclosures=(SCENARIO.facts[1].disclosures[0], f.disclosures[1]))),
        "are in the same words",
    ),
    "shared question": (
        with_fact(0, lambda f: replace(f, questions=(SCENARIO.facts[1].questions[0], *f.questions))), "asks for",
    ),
    "telling hint": (hinting(f"I think of {SCENARIO.checklist[ASK].topic}."), "a hint must share no word"),
    "two-sentence hint": (hinting("Hmm. Well."), "a hint must be one sentence"),
    "one hint": (with_item(ASK, lambda i: replace(i, hints=i.hints[:1])), "'hints' must be 2 or more"),
    "few suggestions": (with_item(ADVICE, lambda i: replace(i, suggestions=i.suggestions[:1])), "'suggestions' must be 4"),
    "few contrary": (with_item(ADVICE, lambda i: replace(i, contrary=i.contrary[:1])), "'contrary' must be 3"),
    "advice after": (with_item(ADVICE, lambda i: replace(i, after="request")), "'after' is for 'ask' items"),
    "no goal": (
        replace(SCENARIO, checklist=tuple(replace(i, facts=("tried",)) for i in SCENARIO.checklist)),
        "must hang on goal or obstacle",
    ),
    "derived": (replace(SCENARIO, derived=True), "Write them"),
}  # fmt: skip


def test_the_scenario_itself_is_sound() -> None:
    assert list(depth_problems(SCENARIO)) == []


@pytest.mark.parametrize("name", CASES)
def test_a_broken_rule_is_said(name: str) -> None:
    scenario, problem = CASES[name]
    assert any(problem in found for found in depth_problems(scenario))


def test_an_example_of_two_scenarios_is_said_once() -> None:
    other = replace(SCENARIO, id="other", facts=(SCENARIO.facts[0],), checklist=())
    found = list(shared_examples([SCENARIO, other]))
    assert len(found) == len(SCENARIO.facts[0].questions)
    assert all(scenario is other and repr(SCENARIO.id) in problem for scenario, problem in found)
