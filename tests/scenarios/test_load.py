"""Loading and validating scenario files."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.errors import ScenarioError, SettingError
from elicit_gym.scenarios.load import BUNDLED, load_scenarios, scenarios_sha256, validate_scenarios
from elicit_gym.scenarios.schema import problems_of_row

ROWS = [json.loads(line) for line in BUNDLED.read_text(encoding="utf-8").splitlines()[:4]]


GOALLESS = [{**item, "facts": ["obstacle"], "after": None} for item in ROWS[1]["items"]]


def write(path: Path, rows: list[Any]) -> Path:
    path.write_text("\n".join(row if isinstance(row, str) else json.dumps(row) for row in rows), encoding="utf-8")
    return path


def broken(**changes: Any) -> dict[str, Any]:
    return {**ROWS[1], **changes}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        (broken(checklist=["a", "b", "c", "d"]), "'checklist' must be 5 non-empty strings, got 4. Fix the line."),
        (broken(checklist=["a", "b", "c", "d", " "]), "'checklist' must be 5 non-empty strings, got ' ' at position 5"),
        (broken(goal=""), "'goal' must be a non-empty string, got ''"),
        (broken(goal=None), "'goal' must be a non-empty string, got None"),
        (broken(traits="short"), "'traits' must be 3 non-empty strings, got 'short'"),
        (broken(split="dev"), "'split' must be 'train', 'test' or null, got 'dev'"),
        (broken(facts=[]), "'facts' must be a list of objects, got []"),
        (
            broken(facts=[fact for fact in ROWS[1]["facts"] if fact["id"] != "goal"], items=GOALLESS),
            "'facts' must have 'goal', got none",
        ),
        (broken(facts=[*ROWS[1]["facts"], 7]), "must be an object, got 7"),
        (broken(facts=[*ROWS[1]["facts"], {"id": ["goal"]}]), "'id' must be a short word in lower case, got ['goal']"),
        (
            broken(items=[*ROWS[1]["items"][:4], {**ROWS[1]["items"][4], "after": ["goal"]}]),
            "'after' must be another fact",
        ),
        (broken(items=[*ROWS[1]["items"][:4], {**ROWS[1]["items"][4], "after": {}}]), "'after' must be another fact"),
        (broken(facts=[*ROWS[1]["facts"], {**ROWS[1]["facts"][0], "id": "Not A Slug"}]), "'id' must be a short word"),
        (broken(facts=[*ROWS[1]["facts"], ROWS[1]["facts"][0]]), "'id' must be unique in the scenario"),
        (
            broken(facts=[*ROWS[1]["facts"][:-1], {**ROWS[1]["facts"][-1], "disclosures": ["one."]}]),
            "disclosures' must be 2 non-empty strings, got 1",
        ),
        (
            broken(facts=[*ROWS[1]["facts"][:-1], {**ROWS[1]["facts"][-1], "questions": []}]),
            "questions' must be non-empty strings, got []",
        ),
        (broken(items=[]), "'items' must be 5 objects, one for each checklist question, got 0"),
        (
            broken(items=[*ROWS[1]["items"][:4], {**ROWS[1]["items"][4], "kind": "tell"}]),
            "'kind' must be 'ask' or 'advice'",
        ),
        (
            broken(items=[*ROWS[1]["items"][:4], {**ROWS[1]["items"][4], "facts": ["wish"]}]),
            "'facts' must be ids of this scenario's facts, got ['wish']",
        ),
        (broken(items=[*ROWS[1]["items"][:4], {**ROWS[1]["items"][4], "hints": []}]), "'hints' must be non-empty"),
        (
            broken(items=[*ROWS[1]["items"][:4], {**ROWS[1]["items"][4], "after": "wish"}]),
            "'after' must be another fact",
        ),
        (broken(items=[*ROWS[1]["items"][:4], 3]), "'items' 5 must be an object, got 3"),
        (broken(id="00-a"), "'id' must be unique, got '00-a' as in line 1"),
        ([1], "the row must be a JSON object, got [1]"),
        ("{not json", "expected one JSON value on the line, got text that does not parse"),
    ],
)
def test_a_broken_line_is_named_with_what_was_found(tmp_path: Path, row: Any, problem: str) -> None:
    path = write(tmp_path / "mine.jsonl", [ROWS[0], row])
    (found,) = validate_scenarios(path)
    assert found.startswith(f"{path}:2: ")
    assert problem in found
    with pytest.raises(ScenarioError) as caught:
        load_scenarios(path)
    assert caught.value.problems == (found,)


def test_all_problems_are_found(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", [broken(goal="", traits=[]), ROWS[0], broken(items=None, id="x")])
    assert len(validate_scenarios(path)) == 3


def test_a_sound_file_loads_with_crlf_and_blank_lines(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_bytes(("\r\n\r\n".join(json.dumps(row) for row in ROWS) + "\r\n").encode())
    assert validate_scenarios(path) == ()
    assert [s.id for s in load_scenarios(path)] == [row["id"] for row in ROWS]


@pytest.mark.parametrize(("make", "problem"), [
    (lambda path: None, "No such file"),
    (lambda path: path.write_bytes(b'{"a": "\xc3("}\n'), "mine.jsonl:1: expected UTF-8 text"),
    (lambda path: path.write_text(""), "expected at least one scenario, got an empty file"),
    (lambda path: path.mkdir(), "expected a JSON lines file or a folder with settings.jsonl"),
])  # fmt: skip
def test_files_that_are_none(tmp_path: Path, make: Any, problem: str) -> None:
    path = tmp_path / "mine.jsonl"
    make(path)
    with pytest.raises(ScenarioError, match=problem):
        load_scenarios(path)


def test_unknown_split() -> None:
    with pytest.raises(SettingError, match="got 'dev'"):
        load_scenarios(split="dev")


def test_a_changed_file_is_read_again(tmp_path: Path) -> None:
    path = write(tmp_path / "mine.jsonl", ROWS[:1])
    first = load_scenarios(path)
    assert load_scenarios(path) is first
    write(path, ROWS)
    assert len(load_scenarios(path)) == len(ROWS)
    assert scenarios_sha256(first) != scenarios_sha256(load_scenarios(path))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda c: st.lists(c) | st.dictionaries(st.text(), c)
    )
)
def test_any_json_is_checked_without_a_crash(value: Any) -> None:
    assert list(problems_of_row(value))


@given(st.sampled_from(sorted(ROWS[0])), st.none() | st.integers() | st.lists(st.none()) | st.just(""))
def test_any_field_may_be_wrong(field: str, value: Any) -> None:
    row = {**ROWS[0], field: value}
    problems = list(problems_of_row(row))
    assert problems if not (field == "split" and value is None) else not problems
    assert all(field in problem for problem in problems)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_scenario_files_are_read_in_every_unicode_encoding(encoding: str, tmp_path: Path) -> None:
    text = "".join(BUNDLED.read_text(encoding="utf-8").splitlines(keepends=True)[:4])
    path = tmp_path / "mine.jsonl"
    path.write_bytes(text.encode(encoding))
    assert load_scenarios(path) == load_scenarios()[:4]
    assert validate_scenarios(path) == ()
