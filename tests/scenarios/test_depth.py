"""Each rule of depth fires on a scenario that breaks it, and only on that."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from elicit_gym.scenarios.depth import depth_problems, set_problems, shared_examples
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


def with_question(index: int, question: str) -> Scenario:
    return with_item(index, lambda item: replace(item, question=question))


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
    "many facts": (
        replace(SCENARIO, facts=(*SCENARIO.facts, *(replace(f, id=f"more_{f.id}") for f in SCENARIO.facts))),
        "'facts' must be 12 to 16",
    ),
    "nothing tried": (
        replace(SCENARIO, facts=tuple(f for f in SCENARIO.facts if f.id != "tried")), "'facts' must have 'tried'",
    ),
    "few questions of an item": (
        with_fact(next(i for i, f in enumerate(SCENARIO.facts) if f.id in SCENARIO.checklist[ASK].facts),
                  lambda f: replace(f, questions=f.questions[:7])),
        "must be 8 or more, got 7",
    ),
    "six questions of any": (
        with_fact(next(i for i, f in enumerate(SCENARIO.facts) if f.id == "tried"),
                  lambda f: replace(f, questions=f.questions[:5])),
        "must be 6 or more, got 5",
    ),
    "questions in the same words": (
        with_fact(0, lambda f: replace(f, questions=tuple(
            f"{start} you use this space for?" for start in ("what do", "What will", "for what would", "why do", "how do", "when do", "where do", "who do"))
        )),
        "in different words, got 1",
    ),
    "a question twice": (
        with_fact(0, lambda f: replace(f, questions=(*f.questions, f.questions[0].upper()))), "got one twice",
    ),
    "the second is shorter": (
        with_fact(0, lambda f: replace(f, disclosures=(f.disclosures[1], f.disclosures[0]))), "must be the fuller one",
    ),
    "a hint twice": (
        with_item(1, lambda i: replace(i, hints=(*i.hints, SCENARIO.checklist[0].hints[0]))), "is a hint at item 1 too",
    ),
    "the same hint for two": (
        with_item(ASK, lambda i: replace(i, hints=(i.hints[0], i.hints[0].upper()))), "'hints' must be 2 or more",
    ),
    "a hint of the question": (hinting("The tenancy is a thorn."), "got ['tenanc'] in"),
    "a hint of the fact": (hinting("Rental matters are a thorn."), "a hint must share no word"),
    "one fact for two items": (
        with_item(1, lambda i: replace(i, facts=SCENARIO.checklist[0].facts)), "must hang on facts of its own",
    ),
    "good and contrary": (
        with_item(ADVICE, lambda i: replace(i, contrary=(*i.contrary, i.suggestions[0]))),
        "stands among 'suggestions' and 'contrary'",
    ),
    "a statement of its own": (
        with_fact(1, lambda f: replace(f, statement="sell the oven")), "'facts.goal.statement' must be 'double",
    ),
    "two parts say one thing": (replace(SCENARIO, obstacle=SCENARIO.constraints[0]), "says what 'obstacle' says"),
    "not about the assistant": (with_question(0, "Is the tenancy mentioned?"), "must begin with 'Did the assistant'"),
    "told by the opening": (
        with_question(0, "Did the assistant ask which space should work better?"), "is told by the opening message",
    ),
    "gives the answer away": (
        with_question(0, f"Did the assistant ask whether the {SCENARIO.constraints[0]}?"), "gives the constraint 1 away",
    ),
    "a question for two items": (
        with_question(1, SCENARIO.checklist[0].question.replace("whether", "if")), "is in the words of 1",
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
    assert len(found) == len(SCENARIO.facts[0].questions) + 2
    assert all(scenario is other and repr(SCENARIO.id) in problem for scenario, problem in found)


def test_half_of_a_set_has_an_item_that_depends_on_what_was_told() -> None:
    bundled = load_scenarios()
    with_one = [s for s in bundled if any(item.after for item in s.checklist)]
    without = [s for s in bundled if s not in with_one]
    assert list(set_problems([*with_one[:5], *without[:5]])) == []
    (problem,) = set_problems([*with_one[:5], *without[:6]])
    assert problem.startswith("half of the scenarios at least must have an item with 'after', got 5 of 11")


def test_an_opening_message_in_both_splits_is_said() -> None:
    pair = [s for s in load_scenarios() if s.opening_message == SCENARIO.opening_message]
    moved = [replace(pair[0], split="train"), replace(pair[1], split="test")]
    assert any("must be in one split, got 'test' here" in problem for problem in set_problems(moved))


@pytest.mark.parametrize("field", ["questions", "disclosures", "hints", "suggestions", "contrary"])
def test_nothing_that_is_said_stands_in_two_scenarios(field: str) -> None:
    """A learner that has seen the one would know the other."""
    other = next(s for s in load_scenarios() if s.opening_message != SCENARIO.opening_message)
    if field in ("questions", "disclosures"):
        text = getattr(SCENARIO.facts[0], field)[0]
        fact = replace(other.facts[0], **{field: (text.upper(), *getattr(other.facts[0], field)[1:])})
        other = replace(other, facts=(fact, *other.facts[1:]))
    else:
        text = getattr(SCENARIO.checklist[ADVICE], field)[0]
        item = replace(other.checklist[0], **{field: (text.upper(),)})
        other = replace(other, checklist=(item, *other.checklist[1:]))
    (problem,) = shared_examples([SCENARIO, other])
    assert problem[0] is other
    assert repr(text.upper()) in problem[1]
