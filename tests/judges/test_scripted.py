"""The scripted judge agrees with people, by labels that it was not made on."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.judge_agreement import agreement, judged
from benchmarks.labelled_messages import FOLDER, load_messages
from elicit_gym.errors import SettingError
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import JudgeRequest, Scenario

SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}
BAKER = SCENARIOS["00-a"]
ADVICE = next(i for i, item in enumerate(BAKER.checklist) if item.kind == "advice")
GOOD = "Put everything on a trolley with wheels, so that nothing has to be screwed to the wall."


def request(scenario: Scenario, message: str, **more: Any) -> JudgeRequest:
    settings = {
        "pending": (0, 1, 2, 3, 4), "user_message": scenario.opening_message, "disclosed": frozenset(), **more,
    }  # fmt: skip
    return JudgeRequest(scenario=scenario, assistant_message=message, **settings)


def credited(scenario: Scenario, message: str, **more: Any) -> list[int]:
    verdicts = ScriptedJudge().judge(request(scenario, message, **more))
    return [i for i, verdict in enumerate(verdicts) if verdict.satisfied]


def test_the_labels_are_the_frozen_ones() -> None:
    for line in (FOLDER / "SHA256SUMS").read_text(encoding="utf-8").splitlines():
        digest, name = line.split()
        assert hashlib.sha256((Path(FOLDER) / name).read_bytes()).hexdigest() == digest


def test_the_labels_cover_both_splits_and_belong_to_the_scenarios() -> None:
    blind, fit = load_messages("blind_labels"), load_messages("fit_labels")
    assert sum(len(m.items) for m in blind) >= 2_000
    of_split = {s: {m.scenario_id for m in blind if SCENARIOS[m.scenario_id].split == s} for s in ("train", "test")}
    assert min(map(len, of_split.values())) >= 25
    assert {SCENARIOS[m.scenario_id].split for m in fit} == {"train"}
    assert not {m.message for m in blind} & {m.message for m in fit}
    examples = {q.lower() for s in SCENARIOS.values() for f in s.facts for q in f.questions}
    assert sum(m.message.lower() in examples for m in blind) <= 0.05 * len(blind)  # short ones will meet by chance


def test_agreement_with_labels_written_blind() -> None:
    figures = agreement(ScriptedJudge(), load_messages("blind_labels"), SCENARIOS)
    assert figures["kappa"] >= 0.85
    assert figures["precision"] >= 0.90
    assert figures["recall"] >= 0.85
    assert figures["by_kind"]["advice"]["kappa"] >= 0.70
    assert figures["by_split"]["test"]["kappa"] >= 0.82


def test_a_judge_without_understanding_does_not_agree() -> None:
    """What the measure gives to answers without content: the same number of yes, on other messages."""
    messages = load_messages("blind_labels")
    answers = judged(ScriptedJudge(), messages, SCENARIOS)
    labels = np.array([m.items for m in messages])
    rolled = np.roll(answers, 1, axis=0)
    assert np.mean(rolled & labels) < 0.3 * np.mean(answers & labels)


def test_an_item_that_comes_after_another_fact() -> None:
    scenario, index = next(
        (s, i) for s in SCENARIOS.values() for i, item in enumerate(s.checklist) if item.after is not None
    )
    item = scenario.checklist[index]
    asked = scenario.fact(item.facts[0]).questions[0]
    assert index not in credited(scenario, asked)
    assert index in credited(scenario, asked, disclosed=frozenset([item.after]))


def test_advice_needs_the_fact_it_builds_on_and_must_be_short() -> None:
    known = frozenset(BAKER.checklist[ADVICE].facts)
    assert credited(BAKER, GOOD) == []
    assert credited(BAKER, GOOD, disclosed=known) == [ADVICE]
    assert credited(BAKER, GOOD + " And so on it goes with words." * 30, disclosed=known) == []
    assert credited(BAKER, GOOD + " What now? Who says so? When is it?", disclosed=known) == []


def test_verdicts_come_in_the_order_of_what_is_pending() -> None:
    asked = next(i for i, item in enumerate(BAKER.checklist) if item.facts == ("constraint_1",) and item.kind == "ask")
    verdicts = ScriptedJudge().judge(request(BAKER, "Do you rent the place?", pending=(asked, ADVICE)))
    assert [verdict.satisfied for verdict in verdicts] == [True, False]


def test_scenarios_without_examples_are_refused_unless_allowed() -> None:
    derived = replace(BAKER, derived=True)
    with pytest.raises(SettingError, match="expected examples of questions, got none"):
        ScriptedJudge().judge(request(derived, "Do you rent?"))
    assert len(ScriptedJudge(allow_derived=True).judge(request(derived, "Do you rent?"))) == 5
