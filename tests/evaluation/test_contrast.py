"""Contrast sentences: what they are, what the scripted judge makes of them, and how any judge is tested on them."""

import json
from collections import Counter
from typing import Any

import pytest

from elicit_gym.errors import ModelFailure
from elicit_gym.evaluation.contrast import FORMS, ContrastForm, contrast, load_contrast_sentences
from elicit_gym.judges.llm import LLMJudge
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.llm.scripted import ScriptedChatModel
from elicit_gym.llm.types import ChatRequest
from elicit_gym.text import content_stems
from elicit_gym.types import ItemKind, JudgeRequest, Verdict

SENTENCES = load_contrast_sentences()
OF_MESSAGE = {sentence.request.assistant_message: sentence for sentence in SENTENCES}


class WordJudge:
    """Credits a message that shares words with what would meet the item: what the sentences must be able to find out."""

    name = "words"

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        (index,) = request.pending
        item = request.scenario.checklist[index]
        facts = [request.scenario.fact(fact) for fact in item.facts]
        texts = [
            item.topic,
            item.question,
            *(q for f in facts for q in (*f.questions, *f.disclosures)),
            *item.suggestions,
            *item.hints,
        ]
        shared = content_stems(request.assistant_message) & content_stems(" ".join(texts))
        return (Verdict(satisfied=len(shared) >= 2),)


def test_they_are_of_both_splits_all_forms_and_each_written_once() -> None:
    whole = Counter((s.request.scenario.id, s.kind) for s in SENTENCES)
    of_four = {scenario for (scenario, kind), number in whole.items() if number == 4}
    assert len(of_four) >= 25
    splits = Counter(s.request.scenario.split for s in SENTENCES)
    assert min(splits.values()) >= 0.4 * len(SENTENCES)
    assert {(s.kind, s.form) for s in SENTENCES} == {(kind, form) for kind in ("ask", "advice") for form in FORMS}
    assert len(OF_MESSAGE) == len(SENTENCES)
    for sentence in SENTENCES:
        (index,) = sentence.request.pending
        item = sentence.request.scenario.checklist[index]
        assert item.kind == sentence.kind
        if item.kind == "advice":
            assert sentence.request.disclosed & set(item.facts)
        else:
            assert item.after is None or item.after in sentence.request.disclosed


def test_no_sentence_is_an_example_of_its_scenario() -> None:
    for scenario in {s.request.scenario for s in SENTENCES}:
        examples = {q for f in scenario.facts for q in f.questions}
        examples |= {t for item in scenario.checklist for t in (*item.suggestions, *item.contrary)}
        assert not examples & {s.request.assistant_message for s in SENTENCES if s.request.scenario is scenario}


LEAST: dict[tuple[ItemKind, ContrastForm], tuple[float, float]] = {
    ("ask", "good"): (0.9, 1.0), ("ask", "contrary"): (0.0, 0.04), ("ask", "negated"): (0.0, 0.04),
    ("ask", "echo"): (0.0, 0.0), ("advice", "good"): (0.8, 1.0), ("advice", "contrary"): (0.0, 0.04),
    ("advice", "negated"): (0.0, 0.04), ("advice", "echo"): (0.0, 0.0),
}  # fmt: skip


@pytest.mark.parametrize("key", LEAST, ids=" ".join)
def test_the_scripted_judge_credits_the_good_ones_alone(key: tuple[ItemKind, ContrastForm]) -> None:
    result = contrast(ScriptedJudge(), [s for s in SENTENCES if (s.kind, s.form) == key])
    low, high = LEAST[key]
    assert low <= result.credited[key] / result.num[key] <= high, result.wrong


def test_a_judge_of_words_is_found_out() -> None:
    result = contrast(WordJudge())
    assert result.credited["advice", "echo"] > 0.7 * result.num["advice", "echo"]
    assert result.credited["advice", "contrary"] + result.credited["advice", "negated"] > 15
    assert {form for s, _ in result.wrong for form in [s.form]} == set(FORMS)


def marked(request: ChatRequest, *, right: bool) -> str:
    """Answer the paper's prompt as a model would that knows the label of the judged message."""
    text = request.messages[0].content
    sentence = max((s for m, s in OF_MESSAGE.items() if m in text), key=lambda s: len(s.request.assistant_message))
    (index,) = sentence.request.pending
    assert sentence.request.scenario.checklist[index].question in text
    return f"Reasoning: it is {sentence.form}.\nResult: {'Yes' if sentence.should_be_credited is right else 'No'}"


@pytest.mark.parametrize("right", [True, False])
def test_any_judge_with_a_model_can_be_tested(right: bool) -> None:
    model = ScriptedChatModel(lambda request: marked(request, right=right))
    result = contrast(LLMJudge(model))
    assert len(model.requests) == len(SENTENCES)
    for (kind, form), credited in result.credited.items():
        assert credited == (result.num[kind, form] if (form == "good") is right else 0)
    assert len(result.wrong) == (0 if right else len(SENTENCES))
    assert result.unscored == 0


def test_what_cannot_be_scored_is_counted_and_never_credited() -> None:
    model = ScriptedChatModel(
        lambda request: "Hard to say." if "lease" in request.messages[0].content else "Result: Yes"
    )
    result = contrast(LLMJudge(model, max_attempts=1))
    assert 0 < result.unscored < len(SENTENCES)
    assert any(verdict is None for _, verdict in result.wrong)

    def dead(request: ChatRequest) -> Any:
        raise ModelFailure("503")

    result = contrast(LLMJudge(ScriptedChatModel(dead)))
    assert result.unscored == len(SENTENCES)
    assert str(result.failure) == "503"
    assert set(result.credited.values()) == {0}


def test_the_result_is_json() -> None:
    shown = json.loads(json.dumps(contrast(WordJudge()).as_json()))
    assert set(shown) == {"ask", "advice", "unscored", "wrong"}
    assert shown["advice"]["good"]["sentences"] == 52
    assert set(shown["wrong"][0]) == {"scenario_id", "item", "form", "message", "verdict"}
