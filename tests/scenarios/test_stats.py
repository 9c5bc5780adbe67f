"""Counts of a set, and each rule of depth measured on sound and on broken sets."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.scenarios.stats import depth_stats, scenario_stats
from elicit_gym.types import Scenario
from tests.conftest import ROOT
from tests.test_differences import COMMANDS

SCENARIOS = load_scenarios()[:6]


def rows_of(scenarios: tuple[Scenario, ...]) -> dict[str, dict[str, Any]]:
    return {row["rule"]: row for row in depth_stats(scenarios)}


def test_stats() -> None:
    stats = scenario_stats(load_scenarios())
    assert stats["scenarios"] == 120
    assert stats["items_by_kind"] == {"ask": 479, "advice": 121}


def test_every_rule_is_met_by_the_bundled_set() -> None:
    rows = depth_stats(load_scenarios())
    assert len(rows) == 12
    assert [row["rule"] for row in rows if not row["met"]] == []


def changed_fact(change: dict[str, Any]) -> Callable[[Scenario], Scenario]:
    return lambda s: replace(s, facts=(replace(s.facts[0], **change), *s.facts[1:]))


def changed_items(**change: Any) -> Callable[[Scenario], Scenario]:
    return lambda s: replace(s, checklist=tuple(replace(item, **change) for item in s.checklist))


BREAK: dict[str, Callable[[Scenario], Scenario]] = {
    "facts in a scenario": lambda s: replace(s, facts=s.facts[:9]),
    "questions for a fact that an item hangs on": lambda s: replace(
        s, facts=tuple(replace(fact, questions=fact.questions[:7]) for fact in s.facts)
    ),
    "questions for any other fact": lambda s: replace(
        s, facts=tuple(replace(fact, questions=fact.questions[:5]) for fact in s.facts)
    ),
    "pairs of facts of one scenario told in the same words": lambda s: changed_fact(
        {"disclosures": s.facts[1].disclosures}
    )(s),
    "hints at an item": changed_items(hints=("One cold night after the other.",)),
    "words that a hint shares with topic, question and fact": lambda s: changed_items(hints=(s.checklist[0].topic,) * 2)(s),
    "good suggestions for an advice item": changed_items(suggestions=("Wait.",)),
    "contrary suggestions for an advice item": changed_items(contrary=("Wait.",)),
    "scenarios with an item on goal or obstacle": changed_items(facts=("tried",)),
    "scenarios with an item after another fact": changed_items(after=None),
    "examples that two scenarios share": changed_fact({"questions": ("What is it?",) * 9}),
}  # fmt: skip


@pytest.mark.parametrize("rule", BREAK)
def test_a_broken_rule_is_measured(rule: str) -> None:
    sound, broken = rows_of(SCENARIOS), rows_of(tuple(map(BREAK[rule], SCENARIOS)))
    assert sound[rule]["met"]
    assert not broken[rule]["met"]
    assert broken["problems that 'scenarios validate' finds"]["least"] > 0


def test_each_row_but_the_sum_is_broken_somewhere() -> None:
    assert {row["rule"] for row in depth_stats(SCENARIOS)} - set(BREAK) == {"problems that 'scenarios validate' finds"}


def test_scenarios_without_depth_are_left_out() -> None:
    derived = tuple(replace(scenario, derived=True) for scenario in SCENARIOS)
    assert depth_stats(derived) == []
    assert depth_stats((*SCENARIOS, *derived)) == depth_stats(SCENARIOS)


def test_the_page_on_scenarios_says_what_is_required() -> None:
    text = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    required = {row["rule"]: row["required"] for row in depth_stats(SCENARIOS)}
    table = text.partition("| rule | number |\n")[2].partition("\n\n")[0].splitlines()[1:]
    told = [[cell.strip() for cell in line.strip("|").split("|")] for line in table]
    assert len(told) == 8
    for rule, number in told:
        assert required[rule.removesuffix(", in different words")] == number


def test_the_commands_of_the_page_exist() -> None:
    text = (ROOT / "docs" / "scenarios.md").read_text(encoding="utf-8")
    for line in re.findall(r"^elicit-gym (.+)$", text, re.MULTILINE):
        words = line.split()
        name = " ".join(words[: 2 if words[0] == "scenarios" else 1])
        options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= options
