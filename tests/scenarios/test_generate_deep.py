"""Scenarios of full depth from a model: stage by stage, held to the rules, mended or rejected, and played to the end."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from elicit_gym import compare
from elicit_gym.agents import load_policy
from elicit_gym.errors import BudgetExceeded, EpisodeFailure, FatalModelError, ModelFailure
from elicit_gym.evaluation.playable import playable_problems
from elicit_gym.llm.scripted import ScriptedChatModel
from elicit_gym.llm.types import ChatRequest
from elicit_gym.scenarios.generate import GenerationResult
from elicit_gym.scenarios.generate_deep import generate_deep_scenarios
from elicit_gym.scenarios.load import load_scenarios, validate_scenarios
from tests.scenarios.scenario_writer import BY_ID, Dress, ScenarioWriter, chatty, plain, stage_of

IDS = [
    name for name, row in BY_ID.items()
    if sum(bool(item.get("after")) for item in row["items"]) == 1 and [i["kind"] for i in row["items"]].count("ask") == 4
][:6]  # fmt: skip


def generate(out: Path, writer: Any, count: int = 2) -> GenerationResult:
    personas = [BY_ID[name]["persona"] for name in IDS]
    return generate_deep_scenarios(ScriptedChatModel(writer), personas, out, count=count, seed=0)


def reasons(out: Path) -> dict[str, str]:
    rows = [json.loads(line) for line in (out / "rejected.jsonl").read_text(encoding="utf-8").splitlines()]
    return {row["id"]: row["reason"] for row in rows}


@pytest.mark.parametrize("dress", [plain, chatty])
def test_what_models_really_send_becomes_scenarios_that_are_played_to_the_end(tmp_path: Path, dress: Dress) -> None:
    writer = ScenarioWriter(IDS, dress)
    result = generate(tmp_path, writer)
    assert (result.num_made, result.num_scenarios, result.num_rejected, result.failure) == (2, 4, 0, None)
    assert validate_scenarios(result.path) == ()
    scenarios = load_scenarios(result.path)
    assert [s.id for s in scenarios] == ["000-a", "000-b", "001-a", "001-b"]
    for scenario in scenarios:
        source = next(row for row in BY_ID.values() if row["persona"] == scenario.persona)
        assert [fact.id for fact in scenario.facts] == [fact["id"] for fact in source["facts"]]
        assert scenario.checklist[0].hints == tuple(source["items"][0]["hints"])
        assert scenario.traits == tuple(source["traits"])
    played = compare([load_policy("oracle")], env_kwargs={"scenarios": str(result.path)}, repeats=2)
    assert [record.episode.total_reward for record in played.records] == [5.0] * 8


def changed(**fields: Any) -> Any:
    return lambda value: json.dumps({**value, **fields})


def fact_changed(place: int, **fields: Any) -> Any:
    def change(value: Any) -> str:
        rows = [dict(row) for row in value["facts"]]
        rows[place] |= fields
        return json.dumps({"facts": rows})

    return change


def item_changed(place: int, **fields: Any) -> Any:
    def change(value: Any) -> str:
        rows = [dict(row) for row in value["items"]]
        rows[place] |= fields
        return json.dumps({"items": rows})

    return change


def repeated_fact(value: Any) -> str:
    return json.dumps({"facts": [*value["facts"][:-1], {**value["facts"][-1], "short": value["facts"][0]["short"]}]})


def question_with_the_answer(value: Any) -> str:
    rows = [dict(row) for row in value["items"]]
    source = next(row for row in BY_ID.values() if row["checklist"][0] == rows[0]["question"])
    rows[0]["question"] = f"Did the assistant ask if the {max(source['constraints'], key=len)}?"
    return json.dumps({"items": rows})


BAD: dict[str, tuple[str, Any, str]] = {
    "opening: two sentences": ("opening message", "I need help. What now?", "expected one sentence"),
    "opening: two lines": ("opening message", "How do I do it?\nWhat do I do first?", "expected one sentence, got 2 lines"),
    "traits: two": ("traits", '{"traits": ["blunt", "short"]}', "expected 3 short traits"),
    "traits: cut off": ("traits", '{"traits": ["blunt', "JSON that does not parse"),
    "setting: refusal": ("setting", "I can't help with that.", "no JSON object"),
    "setting: cut off": ("setting", '{"description": "They want', "JSON that does not parse"),
    "setting: four constraints": ("setting", changed(constraints=["a", "b", "c", "d"]), "'constraints' must be 5"),
    "setting: a field is missing": ("setting", '{"description": "x", "goal": "y"}', "none named obstacle, constraints"),
    "setting: two parts say one thing": (
        "setting", lambda value: json.dumps({**value, "obstacle": value["goal"]}), "'obstacle' says what 'goal' says",
    ),
    "facts: a list of words": ("facts", '{"facts": ["goal", "obstacle"]}', "expected a list of objects in facts"),
    "facts: nine": ("facts", lambda v: json.dumps({"facts": v["facts"][:9]}), "'facts' must be 12 to 16, got 9"),
    "facts: no request": ("facts", lambda v: json.dumps({"facts": v["facts"][1:]}), "'facts' must have 'request'"),
    "facts: no goal": (
        "facts", lambda v: json.dumps({"facts": [f for f in v["facts"] if f["id"] != "goal"]}), "'facts' must have 'goal'",
    ),
    "facts: two sentences": ("facts", fact_changed(2, short="It is small. Very small."), "must be one sentence each"),
    "facts: the same words": ("facts", repeated_fact, "are in the same words"),
    "facts: nothing fuller": ("facts", fact_changed(0, fuller="It's the space."), "must be the fuller one"),
    "facts: no disclosure": ("facts", fact_changed(3, short=None), "must be 2 non-empty strings"),
    "items: four": ("items", lambda v: json.dumps({"items": v["items"][:4]}), "must be 5 objects"),
    "items: unknown fact": ("items", item_changed(0, facts=["weather"]), "must be ids of this scenario's facts"),
    "items: unknown kind": ("items", item_changed(0, kind="listen"), "'kind' must be 'ask' or 'advice'"),
    "items: no advice": (
        "items", lambda v: json.dumps({"items": [{**i, "kind": "ask"} for i in v["items"]]}), "got 5 of 'ask'",
    ),
    "items: nothing depends": (
        "items", lambda v: json.dumps({"items": [{**i, "after": None} for i in v["items"]]}), "exactly one 'after', got 0",
    ),
    "items: not a question to the assistant": ("items", item_changed(1, question="Is it warm?"), "must begin with"),
    "items: gives itself away": ("items", question_with_the_answer, "gives the constraint"),
    "questions: three": ("questions", '["What is it?", "Which one?", "Where?"]', "got 3"),
    "questions: one twice": (
        "questions", json.dumps([f"{w} the oven?" for w in ("What is", "where is", "How is", "why is", "who is", "when is", "what was", "how was")]),
        "in different words, got 1",
    ),
    "hints: one": ("hints", '["I sleep badly these days."]', "'hints' must be 2 or more"),
    "hints: tell the matter": (
        "hints", lambda hints: "\n".join(["- I worry about my landlord's tenancy kitchen changes, lease and all that.",
                                          "- Hmm. Well.", "- Who knows?"]),
        "a hint must",
    ),
    "suggestions: no contrary": ("suggestions", '{"good": ["Put it on wheels."]}', "none named contrary"),
    "suggestions: two": (
        "suggestions", '{"good": ["Put it on wheels.", "Rent one."], "contrary": ["Drill."]}', "must be 4 or more, got 2",
    ),
    "suggestions: both good and contrary": (
        "suggestions", lambda v: json.dumps({**v, "contrary": v["good"]}), "stands among 'suggestions' and 'contrary'",
    ),
}  # fmt: skip


ODD: tuple[Any, ...] = (
    None, 7, [], {}, [None], [[]], {"facts": None}, {"facts": [None] * 13}, {"facts": [{"id": []}] * 13},
    {"facts": [{"id": {}, "short": [], "fuller": {}, "statement": 7}] * 13}, {"items": None}, {"items": [{}] * 5},
    {"items": [{"kind": [], "facts": [[]], "after": [], "topic": {}, "question": []}] * 5},
    {"items": [{"kind": "ask", "facts": ["goal"], "after": {}, "topic": "x", "question": 7}] * 5},
    {"description": [], "goal": {}, "obstacle": 7, "constraints": 7, "solution": None},
    {"description": ["a", 7], "goal": "x", "obstacle": "y", "constraints": [[1]] * 5, "solution": "z"},
    {"good": None, "contrary": {}}, {"good": [[]], "contrary": [7]}, {"contradictions": 7, "given_away": [[]]},
    {"contradictions": {"a": []}, "given_away": True},
)  # fmt: skip


@pytest.mark.parametrize(
    "stage", ["traits", "setting", "facts", "items", "review", "questions", "hints", "suggestions"]
)
def test_json_of_any_shape_is_refused_and_never_breaks_the_run(tmp_path: Path, stage: str) -> None:
    for i, value in enumerate(ODD):
        out = tmp_path / str(i)
        result = generate(out, ScenarioWriter(IDS, plain, {stage: [json.dumps(value)] * 100}), count=1)
        if not (stage == "review" and value in ({},)):
            assert (result.num_scenarios, result.num_rejected > 0) == (0, True), value
            assert all(stage in reason for reason in reasons(out).values())


@pytest.mark.parametrize("name", BAD)
def test_a_bad_reply_is_answered_with_what_is_wrong_and_mended(tmp_path: Path, name: str) -> None:
    stage, reply, problem = BAD[name]
    model = ScriptedChatModel(ScenarioWriter(IDS, plain, {stage: [reply]}))
    personas = [BY_ID[i]["persona"] for i in IDS]
    result = generate_deep_scenarios(model, personas, tmp_path, count=1, seed=0)
    assert result.num_scenarios == 2
    repairs = [r for r in model.requests if len(r.messages) == 3]
    assert len(repairs) == 1
    assert stage_of(repairs[0]) == stage
    said = repairs[0].messages[2].content
    assert problem in said
    assert "Send the whole reply again" in said


@pytest.mark.parametrize("name", BAD)
def test_a_stage_that_stays_wrong_rejects_its_scenario_with_the_reason(tmp_path: Path, name: str) -> None:
    stage, reply, problem = BAD[name]
    writer = ScenarioWriter(IDS, plain, {stage: [reply] * 100})
    result = generate(tmp_path, writer, count=1)
    assert result.num_scenarios == 0
    found = reasons(tmp_path)
    assert set(found) == ({"000"} if stage in ("opening message", "traits") else {"000-a", "000-b"})
    for reason in found.values():
        assert stage in reason
        assert problem in reason or stage in ("questions", "hints")  # another item's or fact's may fail first
        assert "(3 attempts)" in reason
    assert not result.path.exists()


@pytest.mark.parametrize(
    ("reply", "reason"),
    {
        "contradiction": (
            {"contradictions": ["The goal names a cellar, and the flat is on the top floor."], "given_away": []},
            "a: review: contradictions: The goal names a cellar, and the flat is on the top floor",
        ),
        "given away": (
            {"contradictions": [], "given_away": [{"question": "The opening names the room already."}]},
            "a: review: given away: The opening names the room already",
        ),
        "a text in place of a list": (
            {"contradictions": "Six guests here, eight there.", "given_away": "none"}, "Six guests here, eight there",
        ),
    }.values(),
)  # fmt: skip
def test_a_scenario_in_which_the_review_finds_fault_is_rejected_and_the_other_kept(
    tmp_path: Path, reply: Any, reason: str
) -> None:
    writer = ScenarioWriter(IDS, plain, {"review": [f"Here is my review:\n```json\n{json.dumps(reply)}\n```"]})
    result = generate(tmp_path, writer, count=1)
    assert (result.num_made, result.num_scenarios, result.num_rejected) == (1, 1, 1)
    assert reason in reasons(tmp_path)["000-a"]
    assert [s.id for s in load_scenarios(result.path)] == ["000-b"]
    assert writer.asked.count("questions") < 20  # nothing was spent on the one that was rejected


@pytest.mark.parametrize(
    "said", [{"contradictions": "none", "given_away": []}, {"contradictions": None, "given_away": ["None found."]}]
)
def test_a_review_that_finds_nothing(tmp_path: Path, said: Any) -> None:
    writer = ScenarioWriter(IDS, plain, {"review": [json.dumps(said)]})
    assert generate(tmp_path, writer, count=1).num_rejected == 0


def test_a_scenario_that_its_own_examples_do_not_earn_is_rejected(tmp_path: Path) -> None:
    """It keeps every rule that counts and compares words, and nobody could play it."""
    pairs = [f"the {a} and the {b}" for a in ("cat", "dog", "cow") for b in ("sea", "sky", "sun")]

    def dismissals(questions: list[str]) -> str:
        return json.dumps([f"Let's not talk about {pair}, or {questions[0].strip('?.')}." for pair in pairs])

    writer = ScenarioWriter(IDS, plain, {"questions": [dismissals] * 100})
    personas = [BY_ID[name]["persona"] for name in IDS]
    result = generate_deep_scenarios(
        ScriptedChatModel(writer), personas, tmp_path, count=1, seed=0, check=playable_problems
    )
    assert result.num_scenarios == 0
    found = reasons(tmp_path)
    assert set(found) == {"000-a", "000-b"}
    assert all(": whole: 'items' " in reason for reason in found.values())
    assert all("of its questions at least must earn it, got 0 of 9" in reason for reason in found.values())


def test_what_an_earlier_scenario_says_is_not_said_again(tmp_path: Path) -> None:
    """The same person drawn twice: the model repeats itself, and its second scenario is another's."""
    first, second = IDS[0], IDS[1]
    personas = [BY_ID[first]["persona"], BY_ID[second]["persona"], BY_ID[IDS[2]]["persona"]]
    writer = ScenarioWriter(IDS)
    result = generate_deep_scenarios(ScriptedChatModel(writer), personas, tmp_path, count=3, seed=0)
    assert result.num_rejected >= 1
    assert validate_scenarios(result.path) == ()
    assert any("earlier" in reason for reason in reasons(tmp_path).values())


def test_a_killed_run_goes_on_with_the_next_scenario(tmp_path: Path) -> None:
    whole, part = tmp_path / "whole", tmp_path / "part"
    generate(whole, ScenarioWriter(IDS))
    shutil.copytree(whole, part)
    lines = (whole / "scenarios.jsonl").read_text(encoding="utf-8").splitlines(keepends=True)
    (part / "scenarios.jsonl").write_text("".join(lines[:3]) + lines[3][:500], encoding="utf-8")
    writer = ScenarioWriter(IDS)
    with pytest.warns(UserWarning, match="cut off|kill leaves"):
        result = generate(part, writer)
    assert result.num_scenarios == 4
    assert Counter(writer.asked)["setting"] == 1
    assert "opening message" not in writer.asked
    assert (part / "scenarios.jsonl").read_text(encoding="utf-8") == "".join(lines)
    assert generate(part, writer).num_scenarios == 4
    assert Counter(writer.asked)["setting"] == 1


class Failing:
    """Fails once so many calls were answered."""

    def __init__(self, after: int, error: EpisodeFailure) -> None:
        self._writer, self._left, self._error = ScenarioWriter(IDS), after, error

    def __call__(self, request: ChatRequest) -> Any:
        self._left -= 1
        if self._left < 0:
            raise self._error
        return self._writer(request)


@pytest.mark.parametrize("error", [BudgetExceeded("5 tokens are spent."), FatalModelError("no key")])
def test_a_run_that_cannot_go_on_ends_and_rejects_nothing(tmp_path: Path, error: EpisodeFailure) -> None:
    with pytest.raises(type(error)):
        generate(tmp_path, Failing(40, error))
    assert not (tmp_path / "rejected.jsonl").exists()
    assert len(load_scenarios(tmp_path / "scenarios.jsonl")) == 1
    assert generate(tmp_path, ScenarioWriter(IDS)).num_scenarios == 4


def test_what_a_dead_service_cost_is_told_and_tried_again(tmp_path: Path) -> None:
    result = generate(tmp_path, Failing(40, ModelFailure("503")))
    assert (result.num_scenarios, result.num_rejected, str(result.failure)) == (1, 0, "503")
    assert generate(tmp_path, ScenarioWriter(IDS)).num_scenarios == 4
