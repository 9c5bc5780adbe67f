"""Personas: read from any usual file, drawn in threes."""

from pathlib import Path

import pytest

from elicit_gym.errors import SettingError, StorageError
from elicit_gym.scenarios.personas import draw_triples, read_personas

PERSONAS = [f"a person number {i}" for i in range(12)]


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
