"""Agreement with labels: measured judge by judge, by form, kind and split, and merged into one file."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from benchmarks import common, judge_agreement
from benchmarks.judge_agreement import agreement, answers_of
from benchmarks.labelled_messages import LabelledMessage
from elicit_gym.errors import JudgeFailure
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import JudgeRequest, Verdict

SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}
MESSAGES = [
    LabelledMessage("00-a", "paraphrase", "Do you rent the flat?", (True, False, False, False, False), ()),
    LabelledMessage(
        "00-a",
        "advice_good",
        "Put everything on a trolley with wheels, so that nothing has to be screwed to the wall.",
        (False, False, False, False, True),
        (),
    ),
    LabelledMessage("03-a", "near_miss", "How old is the paper?", (False,) * 5, ()),
]


class Judge:
    """Says yes to the first item and nothing to the second; counts its calls."""

    name = "first"

    def __init__(self) -> None:
        self.sizes: list[int] = []

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        (index,) = request.pending
        return (Verdict(satisfied=None if index == 1 else index == 0),)

    def judge_batch(self, requests: Any) -> list[tuple[Verdict, ...]]:
        self.sizes.append(len(requests))
        return [self.judge(request) for request in requests]


def test_all_pairs_are_judged_in_one_batch_and_what_is_unscored_is_counted() -> None:
    judge = Judge()
    assert answers_of(judge, MESSAGES, SCENARIOS).tolist() == [[1, -1, 0, 0, 0]] * 3
    assert judge.sizes == [15]
    figures = agreement(judge, MESSAGES, SCENARIOS)
    assert (figures["pairs"], figures["yes"], figures["unscored"]) == (15, 2, 3)
    assert (figures["precision"], figures["recall"], figures["false_yes"], figures["false_no"]) == (0.333, 0.5, 2, 1)
    assert set(figures["by_form"]) == {"paraphrase", "advice_good", "near_miss"}
    assert set(figures["by_split"]) == {"train", "test"}
    assert figures["by_kind"]["advice"]["recall"] == 0.0
    assert json.loads(json.dumps(figures)) == figures


def test_a_judge_that_fails_is_no_judge_that_says_no() -> None:
    class Failing(Judge):
        def judge_batch(self, requests: Any) -> Any:
            return [JudgeFailure("It broke.") for _ in requests]

    with pytest.raises(JudgeFailure, match="It broke"):
        answers_of(Failing(), MESSAGES, SCENARIOS)


def test_judges_are_measured_one_by_one_into_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    monkeypatch.setattr(judge_agreement, "load_messages", lambda name: MESSAGES)
    for name in ("scripted", "scripted_derived"):
        monkeypatch.setattr(sys, "argv", ["judge_agreement.py", name])
        judge_agreement.main()
    found = json.loads((tmp_path / "judge_agreement.json").read_text(encoding="utf-8"))
    assert found["scripted"]["kappa"] == 1.0
    assert found["scripted"]["labels_sha256"] == judge_agreement.labels_sha256("blind_labels")
    assert found["scripted_derived"]["measured"]["command"].endswith(" scripted_derived")
    assert found["scripted"]["pairs"] == found["scripted_derived"]["pairs"] == 15
    monkeypatch.setattr(sys, "argv", ["judge_agreement.py", "oracle"])
    with pytest.raises(SystemExit):
        judge_agreement.main()
