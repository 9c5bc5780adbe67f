"""JSON taken strictly: what is refused when read is never written either, and every field is what its type says."""

import ast
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.errors import StorageError
from elicit_gym.evaluation.saved import load_any_run
from elicit_gym.json_files import read_json, read_lines, write_json
from elicit_gym.strict_json import MAX_DEPTH, UnfitJSONError, bad_number, from_json, json_text, parse_json, typed
from tests.conftest import ROOT
from tests.import_graph import read_graph

NOT_FINITE = ("NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + "0" * 400 + ".0")
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("number", NOT_FINITE)
def test_a_number_that_is_not_finite_is_refused_with_its_place(number: str) -> None:
    for text, place in (
        (number, "the value"),
        (f'{{"turns": [{{"reward": 1.0}}, {{"reward": {number}}}]}}', "'turns[1].reward'"),
        (f'{{"a": [[0, {number}]]}}', "'a[0][1]'"),
        (f"[{number}, ", "the text"),
    ):
        with pytest.raises(UnfitJSONError) as refused:
            parse_json(text)
        assert f"in {place}, which is not a finite number" in str(refused.value)


@given(ANYTHING)
def test_what_is_written_is_read_and_the_rest_is_neither(value: Any) -> None:
    if bad_number(value) is None:
        assert parse_json(json_text(value)) == value
        assert parse_json(json_text(value, ascii_only=False, indent=1)) == value
    else:
        with pytest.raises(StorageError, match="expected finite numbers, got another in "):
            json_text(value)
        with pytest.raises(UnfitJSONError):
            parse_json(json.dumps(value))


@pytest.mark.parametrize("opening", ["[", '{"a":', '[{"a":', "[[],"])
def test_levels_are_limited(opening: str) -> None:
    closing = {"[": "]", "{": "}"}

    def nested(levels: int) -> str:
        count = levels // (opening.count("[") - opening.count("]") + opening.count("{"))
        text = opening * count
        open_ones = [c for c in text.replace("[],", "") if c in "[{"]
        return text + "1" + "".join(closing[c] for c in reversed(open_ones))

    # The pair inside "[[]," is one level more than those that are still open.
    parse_json(nested(MAX_DEPTH - 2))
    for levels in (MAX_DEPTH + 2, 900, 100_000):
        with pytest.raises(UnfitJSONError, match="more than 100 levels"):
            parse_json(nested(levels))


def test_a_file_and_a_line_name_file_line_and_field(tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"a": [1.0, NaN]}', encoding="utf-8")
    with pytest.raises(StorageError, match=r"x\.json: expected a thing, got .*NaN in 'a\[1\]', which is not a finite"):
        read_json(path, "a thing")
    path.write_text('{"a": 1}\n{"b": -1e999}\n', encoding="utf-8")
    with pytest.raises(StorageError, match=r"x\.json:2: expected .*-1e999 in 'b', which is not a finite"):
        list(read_lines(path))
    for value in (math.nan, math.inf, {"a": [-math.inf]}):
        with pytest.raises(StorageError, match="Writing JSON: expected finite numbers"):
            write_json(path, value)
    assert path.read_text(encoding="utf-8").startswith('{"a": 1}'), "a file that cannot be written stays what it was"


def test_a_report_on_rewards_that_are_not_numbers_is_refused_in_a_sentence(tmp_path: Path) -> None:
    from elicit_gym import collect_episodes
    from elicit_gym.agents import load_policy

    collect_episodes(load_policy("naive"), scenario_ids=["00-a"], out=tmp_path)
    path = tmp_path / "episodes.jsonl"
    row = json.loads(path.read_text(encoding="utf-8"))
    for bad in (math.nan, math.inf):
        row["turns"][3]["reward"] = bad
        path.write_text(json.dumps(row) + "\n", encoding="utf-8")
        with pytest.raises(StorageError) as refused:
            load_any_run(tmp_path)
        sentence = str(refused.value)
        assert sentence.startswith(f"{path}:1: expected an episode, got text that does not parse (")
        assert "in 'turns[3].reward', which is not a finite number). Remove the line." in sentence
        assert "\n" not in sentence


@dataclass(frozen=True, kw_only=True)
class Inner:
    n: int
    x: float | None = None


@dataclass(frozen=True, kw_only=True)
class Outer:
    name: str
    kind: Literal["a", "b"]
    inner: tuple[Inner, ...] = ()
    more: Mapping[str, bool] | None = None


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"name": "n", "kind": "c"}, "kind: expected 'a' or 'b', got 'c'"),
        ({"name": 3, "kind": "a"}, "name: expected text, got 3"),
        ({"kind": "a"}, "expected the field 'name', got none"),
        ({"name": "n", "kind": "a", "x": 1}, "expected the fields name, kind, inner, more, got 'x' too"),
        ({"name": "n", "kind": "a", "inner": {}}, "inner: expected a list, got {}"),
        ({"name": "n", "kind": "a", "inner": [{"n": True}]}, "inner[0].n: expected a whole number, got True"),
        ({"name": "n", "kind": "a", "inner": [{"n": 2**64}]}, "inner[0].n: expected a whole number, got 1844"),
        ({"name": "n", "kind": "a", "inner": [{"n": 1, "x": 10**400}]}, "inner[0].x: expected a number, got 1000"),
        ({"name": "n", "kind": "a", "inner": [{"n": 1, "x": math.inf}]}, "inner[0].x: expected a number, got inf"),
        ({"name": "n", "kind": "a", "more": {"b": 0}}, "more.b: expected true or false, got 0"),
        ([], "expected an object, got []"),
        ("\ud800", r"expected an object, got '\ud800'"),
        (10**5000, "expected an object, got a very long int"),
    ],
    ids=lambda value: value[:30] if isinstance(value, str) and value.isascii() else "value",
)
def test_fields_are_what_their_types_say(value: Any, problem: str) -> None:
    with pytest.raises(StorageError) as refused:
        from_json(Outer, value, "x.json")
    assert str(refused.value).startswith(f"Reading x.json: {problem}")
    with pytest.raises(TypeError):
        typed(Outer, value, "it")


def test_a_sound_value_is_made() -> None:
    value = {"name": "n", "kind": "a", "inner": [{"n": 1, "x": 2}], "more": {"b": True}}
    made = from_json(Outer, value, "x")
    assert made == Outer(name="n", kind="a", inner=(Inner(n=1, x=2.0),), more={"b": True})


def test_json_is_read_and_written_in_one_place() -> None:
    """Elsewhere NaN would slip in, or a deep value end in a traceback."""
    allowed = {
        "elicit_gym.strict_json": {"dumps", "loads"},
        "elicit_gym.adapters.local_server": {"dumps", "loads"},  # what clients send: tests/adapters
        "elicit_gym.adapters.openenv_server": {"dumps"},
        "elicit_gym.agents.baselines.bank": {"loads"},
        "elicit_gym.understanding.general": {"loads"},  # files of the package's own
        "elicit_gym.understanding.scorer": {"loads"},
        "elicit_gym.offline.importing.json_source": {"loads"},  # a name twice is refused; numbers are read as text
    }
    modules = read_graph(ROOT, ("elicit_gym",), ("agents", "offline")).modules
    assert len(modules) > 200
    for name, path in modules.items():
        used = {
            node.func.attr
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
            and node.func.value.id == "json"
            and node.func.attr in ("dump", "dumps", "load", "loads")
        }
        assert used <= allowed.get(name, set()), name
