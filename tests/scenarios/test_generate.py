"""The generation pipeline."""

import json
from pathlib import Path

import pytest

from elicit_gym.errors import BudgetExceeded, FatalModelError
from elicit_gym.json_files import UnfinishedLineWarning
from elicit_gym.llm.scripted import ScriptedChatModel
from elicit_gym.llm.types import ChatRequest
from elicit_gym.scenarios.generate import generate_scenarios
from elicit_gym.scenarios.load import load_scenarios

PERSONAS = [f"a person number {i}" for i in range(12)]
SETTING = {
    "description": "They want it.", "goal": "reach the thing", "obstacle": "a wall",
    "constraints": [f"factor {i} limits part {i}" for i in range(5)], "solution": "They climbed.",
    "checklist": [f"Did the assistant ask about factor {i}?" for i in range(5)],
}  # fmt: skip
WORDS = "apples rivers engines violins gardens letters candles bridges".split()


class Writer:
    """Answers each stage by the words of its prompt."""

    def __init__(self) -> None:
        self.openings = 0
        self.settings = 0

    def __call__(self, request: ChatRequest) -> str:
        text = request.messages[0].content
        if "Proofread" in text:
            return '{"contradictions": [], "given_away": []}'
        if "Write the first message" in text:
            self.openings += 1
            return f'"How do I get my {WORDS[self.openings % len(WORDS)]} ready?"'
        if "Name 3 traits" in text:
            return 'short sentences, no commas, ends with "thanks, dear"'
        self.settings += 1
        return json.dumps(SETTING)


def test_three_stages_in_the_published_format_and_loadable_at_once(tmp_path: Path) -> None:
    result = generate_scenarios(ScriptedChatModel(Writer()), PERSONAS, tmp_path / "set", count=4, seed=1)
    assert (result.num_made, result.num_rejected) == (4, 0)
    scenarios = load_scenarios(tmp_path / "set")
    assert len(scenarios) == 8
    assert len({s.opening_message for s in scenarios}) == 4
    assert scenarios[0].traits == ("short sentences", "no commas", 'ends with "thanks, dear"')
    seeds = [json.loads(line) for line in (tmp_path / "set" / "seed_messages.jsonl").read_text().splitlines()]
    assert set(seeds[0]) == {
        "id", "persona1", "persona2", "persona3", "prompt", "prompt_tokens", "seed_message", "seed_message_tokens",
    }  # fmt: skip
    assert seeds[0]["persona1"]["persona"] == scenarios[0].persona


def test_a_killed_run_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    whole = tmp_path / "whole"
    generate_scenarios(ScriptedChatModel(Writer()), PERSONAS, whole, count=4, seed=1)
    part = tmp_path / "part"
    generate_scenarios(ScriptedChatModel(Writer()), PERSONAS, part, count=2, seed=1)
    with (part / "seed_messages.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"id": 2, "seed_message": "half a row"}\n{"id": 3, "se')
    writer = Writer()
    writer.openings = 2
    with pytest.warns(UnfinishedLineWarning, match=r"seed_messages\.jsonl:4"):
        result = generate_scenarios(ScriptedChatModel(writer), PERSONAS, part, count=4, seed=1)
    assert result.num_made == 4
    assert writer.settings == 4  # two scenarios for each of the two that were missing
    for name in ("seed_messages.jsonl", "settings.jsonl", "traits.jsonl"):
        assert (part / name).read_text() == (whole / name).read_text()


def test_bad_json_is_repaired_or_asked_for_again_or_rejected_with_the_reason(tmp_path: Path) -> None:
    text = json.dumps(SETTING)
    settings = iter([
        f"Sure!\n```json\n{text}\n```",  # in a fence
        f"Here it is: {text[:-1]},}}",  # a trailing comma
        json.dumps({**SETTING, "constraints": ["one"]}), text, text,  # the first has too few, then it is right
        text, "no", "no", "no",  # the second is never right
    ] + [text] * 20)  # fmt: skip
    writer = Writer()

    def answer(request: ChatRequest) -> str:
        return next(settings) if "Invent the situation" in request.messages[0].content else writer(request)

    result = generate_scenarios(ScriptedChatModel(answer), PERSONAS, tmp_path / "set", count=3, seed=0)
    assert (result.num_made, result.num_rejected) == (2, 1)
    (rejected,) = (json.loads(line) for line in (tmp_path / "set" / "rejected.jsonl").read_text().splitlines())
    assert rejected["reason"].startswith("setting 2: no JSON object (3 attempts)")
    assert len(load_scenarios(tmp_path / "set")) == 4


def test_near_duplicates_are_dropped(tmp_path: Path) -> None:
    def same(request: ChatRequest) -> str:
        if "Write the first message" in request.messages[0].content:
            return "How do I get my apples ready for winter?"
        return Writer()(request)

    result = generate_scenarios(ScriptedChatModel(same), PERSONAS, tmp_path / "set", count=3, seed=0)
    assert (result.num_made, result.num_rejected) == (1, 2)
    assert "near-duplicate" in (tmp_path / "set" / "rejected.jsonl").read_text()


def test_a_model_that_cannot_be_called_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(FatalModelError):
        generate_scenarios(ScriptedChatModel([FatalModelError("no key")]), PERSONAS, tmp_path / "set", count=2)


class Odd(Writer):
    """Answers one stage in its own way."""

    def __init__(self, stage: str, reply: str) -> None:
        super().__init__()
        self._stage, self._reply = stage, reply

    def __call__(self, request: ChatRequest) -> str:
        return self._reply if self._stage in request.messages[0].content else super().__call__(request)


OPENING, TRAITS, SETTING_STAGE, REVIEW = "Write the first message", "Name 3 traits", "Invent the situation", "Proofread"


@pytest.mark.parametrize(
    ("stage", "reply"),
    {
        "opening in a fence": (OPENING, "Sure:\n```\nHow do I get my boat ready?\n```"),
        "opening in an object": (OPENING, '{"message": "How do I get my boat ready?"}'),
        "opening with a label": (OPENING, '**Message:** "How do I get my boat ready?"\n\nLet me know if it fits!'),
        "traits in an object": (TRAITS, '{"traits": ["blunt", "no capital letters", "ends with a smile"]}'),
        "traits in an object in a fence": (TRAITS, '```json\n{"traits": ["blunt", "no capitals", "ends with a smile"]}\n```'),
        "numbered traits": (TRAITS, "Here are three traits:\n1. Blunt\n2. No capital letters\n3. Ends with a smile"),
        "bulleted traits": (TRAITS, "- **blunt**\n- no capital letters\n- ends with a smile"),
        "a wrapped setting": (SETTING_STAGE, f"Here it is:\n{json.dumps({'setting': SETTING}, indent=2)}\nEnjoy!"),
        "numbered constraints": (
            SETTING_STAGE,
            json.dumps({**SETTING, "constraints": {str(i): text for i, text in enumerate(SETTING["constraints"])}}),
        ),
        "constraints as objects": (
            SETTING_STAGE, json.dumps({**SETTING, "constraints": [{"constraint": c} for c in SETTING["constraints"]]}),
        ),
        "a checklist as lines": (
            SETTING_STAGE,
            json.dumps({**SETTING, "checklist": "\n".join(f"{i}. {q}" for i, q in enumerate(SETTING["checklist"], 1))}),
        ),
        "a description in parts": (SETTING_STAGE, json.dumps({**SETTING, "description": ["They want it.", "It is far."]})),
    }.values(),
)  # fmt: skip
def test_each_stage_takes_what_models_really_send(tmp_path: Path, stage: str, reply: str) -> None:
    result = generate_scenarios(ScriptedChatModel(Odd(stage, reply)), PERSONAS, tmp_path / "set", count=1)
    assert (result.num_made, result.num_rejected) == (1, 0)
    for scenario in load_scenarios(tmp_path / "set"):
        assert not any(mark in text for text in (scenario.opening_message, *scenario.traits) for mark in "{}[]*`:")
        assert len(set(scenario.traits)) == 3
        assert scenario.constraints == tuple(SETTING["constraints"])
        assert [item.question for item in scenario.checklist] == SETTING["checklist"]


@pytest.mark.parametrize(
    ("stage", "reply", "reason"),
    {
        "broken traits": (TRAITS, '{"traits": ["blunt', "traits 1: JSON that does not parse"),
        "two traits": (TRAITS, "blunt, short", "traits 1: expected 3 short traits"),
        "one trait, in an object": (TRAITS, '{"traits": ["blunt"]}', "traits 1: expected 3 short traits"),
        "a trait with a comma": (TRAITS, '["blunt, short", "no capitals", "a smile"]', "traits 1: expected no comma"),
        "two openings": (OPENING, "1. How do I do it?\n2. Where do I go?", "opening message: expected one sentence"),
        "a refusal": (SETTING_STAGE, "I can't do that.", "setting 1: no JSON object"),
        "two parts say one thing": (
            SETTING_STAGE, json.dumps({**SETTING, "obstacle": "part 3, that factor 3 limits"}),
            "setting 1: 'constraint 4' says what 'obstacle' says",
        ),
        "the checklist gives the answer": (
            SETTING_STAGE,
            json.dumps({**SETTING, "checklist": [f"Did the assistant ask if {c}?" for c in SETTING["constraints"]]}),
            "setting 1: 'checklist' 1 gives the constraint 1 away",
        ),
        "the opening gives the checklist": (
            SETTING_STAGE,
            json.dumps({**SETTING, "checklist": [*SETTING["checklist"][:4], "Did the assistant ask if the rivers get ready?"]}),
            "setting 1: 'checklist' 5 is told by the opening message",
        ),
        "the review finds a contradiction": (
            REVIEW, '{"contradictions": ["A cellar on the top floor."], "given_away": []}',
            "review 1: contradictions: A cellar on the top floor",
        ),
        "no review": (REVIEW, "Looks good to me!", "review 1: no JSON object"),
    }.values(),
)  # fmt: skip
def test_what_stays_wrong_is_rejected_with_the_reason(tmp_path: Path, stage: str, reply: str, reason: str) -> None:
    result = generate_scenarios(ScriptedChatModel(Odd(stage, reply)), PERSONAS, tmp_path / "set", count=1)
    assert (result.num_made, result.num_rejected) == (0, 1)
    (rejected,) = (json.loads(line) for line in (tmp_path / "set" / "rejected.jsonl").read_text().splitlines())
    assert rejected["reason"].startswith(reason)


def test_a_spent_budget_ends_the_run_and_rejects_nothing(tmp_path: Path) -> None:
    writer = Writer()

    def answer(request: ChatRequest) -> str:
        if writer.settings >= 3:
            raise BudgetExceeded("9 tokens are spent")
        return writer(request)

    with pytest.raises(BudgetExceeded):
        generate_scenarios(ScriptedChatModel(answer), PERSONAS, tmp_path / "set", count=3)
    assert not (tmp_path / "set" / "rejected.jsonl").exists()
    assert generate_scenarios(ScriptedChatModel(Writer()), PERSONAS, tmp_path / "set", count=3).num_made == 3
