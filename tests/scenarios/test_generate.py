"""The generation pipeline."""

import json
from pathlib import Path

import pytest

from elicit_gym.errors import FatalModelError, SettingError, StorageError
from elicit_gym.json_files import UnfinishedLineWarning
from elicit_gym.llm.scripted import ScriptedChatModel
from elicit_gym.llm.types import ChatRequest
from elicit_gym.scenarios.generate import draw_triples, generate_scenarios, read_personas
from elicit_gym.scenarios.load import load_scenarios

PERSONAS = [f"a person number {i}" for i in range(12)]
OPENINGS = iter([])
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
        text = request.messages[-1].content
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
    assert scenarios[0].traits == ("short sentences", "no commas", 'ends with "thanks') or len(scenarios[0].traits) == 3
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
        json.dumps({**SETTING, "constraints": ["one"]}), text,  # too few, then right
        "no", "no", "no",  # never
    ] + [text] * 20)  # fmt: skip
    writer = Writer()

    def answer(request: ChatRequest) -> str:
        return next(settings) if "Give a JSON object" in request.messages[-1].content else writer(request)

    result = generate_scenarios(ScriptedChatModel(answer), PERSONAS, tmp_path / "set", count=3, seed=0)
    assert (result.num_made, result.num_rejected) == (2, 1)
    (rejected,) = (json.loads(line) for line in (tmp_path / "set" / "rejected.jsonl").read_text().splitlines())
    assert rejected["reason"].startswith("setting 2: no JSON object (3 attempts)")
    assert len(load_scenarios(tmp_path / "set")) == 4


def test_near_duplicates_are_dropped(tmp_path: Path) -> None:
    def same(request: ChatRequest) -> str:
        if "Write the first message" in request.messages[-1].content:
            return "How do I get my apples ready for winter?"
        return Writer()(request)

    result = generate_scenarios(ScriptedChatModel(same), PERSONAS, tmp_path / "set", count=3, seed=0)
    assert (result.num_made, result.num_rejected) == (1, 2)
    assert "near-duplicate" in (tmp_path / "set" / "rejected.jsonl").read_text()


def test_draws_are_seeded_and_use_everybody_before_anybody_twice() -> None:
    assert draw_triples(PERSONAS, 4, 3) == draw_triples(PERSONAS, 4, 3)
    assert draw_triples(PERSONAS, 4, 3) != draw_triples(PERSONAS, 4, 4)
    assert sorted(i for triple in draw_triples(PERSONAS, 4, 0) for i in triple) == list(range(12))
    assert all(len(set(triple)) == 3 for triple in draw_triples(PERSONAS[:4], 30, 0))


def test_personas_files(tmp_path: Path) -> None:
    path = tmp_path / "personas.jsonl"
    path.write_text('{"persona": "a cook"}\n{"input persona": "a judge."}\na sailor\n\na cook\n', encoding="utf-8")
    assert read_personas(path) == ["a cook", "a judge", "a sailor"]
    path.write_text("a cook\na judge\n", encoding="utf-8")
    with pytest.raises(SettingError, match="expected at least 3 different ones, got 2"):
        read_personas(path)
    path.write_text("{bad\n", encoding="utf-8")
    with pytest.raises(StorageError, match="personas.jsonl:1: expected one JSON value"):
        read_personas(path)
    with pytest.raises(StorageError, match="No such file"):
        read_personas(tmp_path / "nowhere")


def test_a_model_that_cannot_be_called_ends_the_run(tmp_path: Path) -> None:
    with pytest.raises(FatalModelError):
        generate_scenarios(ScriptedChatModel([FatalModelError("no key")]), PERSONAS, tmp_path / "set", count=2)
