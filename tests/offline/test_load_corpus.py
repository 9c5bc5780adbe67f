"""Corpora by name and from files."""

import json
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline import load_corpus
from elicit_gym.offline.load_corpus import CorpusError, validate_dialogues
from elicit_gym.offline.merging import merge_turns
from elicit_gym.offline.schema import DOMAINS, dialogue_to_row
from tests.offline.samples import FOLDER, ROWS, needs_sample


def test_the_bundled_sample_keeps_what_it_promises() -> None:
    corpus = load_corpus("sample")
    assert len(corpus) >= 12
    assert Counter(dialogue.domain for dialogue in corpus) == dict.fromkeys(DOMAINS, 3)
    assert all(30 <= len(dialogue.turns) <= 60 for dialogue in corpus)
    assert sum(len(dialogue.respondents) > 1 or len(dialogue.elicitors) > 1 for dialogue in corpus) >= 3
    assert any(a.role == b.role for d in corpus for a, b in zip(d.turns, d.turns[1:], strict=False))
    assert {bool(d.turns[0].timestamp) for d in corpus} == {True, False}
    for speaker in {turn.speaker for d in corpus for turn in d.turns}:
        assert any(speaker in d.elicitors + d.respondents for d in corpus)


@needs_sample
def test_the_real_sample() -> None:
    corpus = load_corpus(path=FOLDER)
    assert (len(corpus), sum(len(d.turns) for d in corpus)) == (26, 4371)
    assert Counter(d.split for d in corpus) == {"train": 18, "dev": 4, "test": 4}
    assert sum(not t.utterance.strip() for d in corpus for t in d.turns) == 1
    raw = json.loads((FOLDER / "dev" / "dev-000.json").read_text(encoding="utf-8"))
    assert [dialogue_to_row(d) for d in corpus if d.split == "dev"] == raw


@needs_sample
def test_by_environment_variable_and_split(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    shutil.copytree(FOLDER / "dev", tmp_path / "yield" / "dev")
    monkeypatch.setenv("ELICIT_GYM_DATA", str(tmp_path))
    assert len(load_corpus("yield", "dev")) == 4
    assert len(load_corpus("yield", "test")) == 0


def test_an_unreachable_hub_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def refuse(*_: object, **__: object) -> str:
        raise ConnectionError("no network")

    monkeypatch.delenv("ELICIT_GYM_DATA", raising=False)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(CorpusError, match="got ConnectionError. Check the network"):
        load_corpus("yield")


def test_zipped_files_and_windowed_releases_beside_them(tmp_path: Path) -> None:
    from zipfile import ZipFile

    with ZipFile(tmp_path / "yield-v1.zip", "w") as archive:
        archive.writestr("yield-v1/train/train-000.json", json.dumps(ROWS[:2]))
        archive.writestr("yield-v1/dev/dev-000.json", json.dumps(ROWS[2:3]))
        archive.writestr("yield-v1-finetuning/dev/dev-000.jsonl", '{"block_id": "x:1", "messages": []}')
    (tmp_path / "yield-experimental").mkdir()
    (tmp_path / "yield-experimental" / "test.jsonl").write_text('{"block_id": "x:1", "messages": []}', encoding="utf-8")
    assert Counter(d.split for d in load_corpus(path=tmp_path)) == {"train": 2, "dev": 1}
    (tmp_path / "broken.zip").write_bytes(b"no archive")
    with pytest.raises(CorpusError, match="expected a zip archive"):
        load_corpus(path=tmp_path)


def turn(**changes: Any) -> dict[str, Any]:
    return {"turn_id": 0, "timestamp": "", "speaker": "x", "role": "elicitor", "utterance": "Hi.", **changes}


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({**ROWS[0], "dialogue_id": ""}, "'dialogue_id' must be a non-empty string, got ''"),
        ({**ROWS[0], "turns": []}, "'turns' must be a non-empty list, got []"),
        ({k: v for k, v in ROWS[0].items() if k != "domain"}, "'domain' must be a non-empty string, got None"),
        ({**ROWS[0], "turns": [turn(role="judge")]}, "turn 0: 'role' must be 'elicitor' or 'respondent', got 'judge'"),
        ({**ROWS[0], "turns": [turn(), turn()]}, "turn 1: 'turn_id' must be unique, got 0 again"),
        ({**ROWS[0], "turns": [turn(utterance=None)]}, "turn 0: 'utterance' must be a string, got None"),
        ({**ROWS[0], "turns": ["hi"]}, "turn 0 must be an object, got 'hi'"),
        ({**ROWS[0], "elicitors": "me"}, "'elicitors' must be a list of strings, got 'me'"),
        ({**ROWS[0], "metadata": []}, "'metadata' must be an object, got []"),
        ([], "the dialogue must be a JSON object, got []"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, row: Any, problem: str) -> None:
    path = tmp_path / "d.json"
    path.write_text(json.dumps([ROWS[1], row]), encoding="utf-8")
    (found,) = validate_dialogues(path)
    assert found.startswith(f"{path}: dialogue 1: ")
    assert problem in found
    with pytest.raises(CorpusError):
        load_corpus(path=path)


def test_what_is_no_problem(tmp_path: Path) -> None:
    odd = {
        **ROWS[0], "metadata": {"anything": [1, None]}, "turns": [
            turn(utterance=""), turn(turn_id=1, utterance="Zürich 😀\r\nund mehr"), turn(turn_id=2, timestamp=None),
        ],
    }  # fmt: skip
    del odd["title"]
    path = tmp_path / "d.jsonl"
    path.write_bytes(("﻿" + json.dumps(odd, ensure_ascii=False) + "\r\n").encode())
    (dialogue,) = load_corpus(path=path)
    assert [t.utterance for t in dialogue.turns] == ["", "Zürich 😀\r\nund mehr", "Hi."]
    (merged,) = merge_turns(dialogue)
    assert merged.text == "Zürich 😀\r\nund mehr Hi."
    assert merged.raw == (0, 2)


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(CorpusError, match="No such file"):
        load_corpus(path=tmp_path / "nowhere.json")
    with pytest.raises(CorpusError, match="expected JSON files below it"):
        load_corpus(path=tmp_path)
    (tmp_path / "a.json").write_text("{bad", encoding="utf-8")
    with pytest.raises(CorpusError, match="a.json:1: expected a JSON list or JSON lines"):
        load_corpus(path=tmp_path)
    with pytest.raises(SettingError, match="expected 'yield' or 'sample'"):
        load_corpus("yeeld")
    with pytest.raises(SettingError, match="expected split"):
        load_corpus("sample", "validation")
