"""Limits of files: what is too large is refused in a sentence that says how to raise the limit, and by it."""

import io
import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elicit_gym.errors import ElicitGymError, SettingError, StorageError
from elicit_gym.file_limits import DEFAULT_LIMITS, FileLimits, current_limits
from elicit_gym.json_files import read_json, read_lines, read_records, read_text
from elicit_gym.llm.prompts import read_prompt
from elicit_gym.offline.human_eval.answers import read_answers
from elicit_gym.offline.importing import import_transcript
from elicit_gym.offline.load_corpus import load_corpus

RAISE = r"raise the limit \(\$ELICIT_GYM_MAX_MB"


def test_the_variable_scales_every_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    assert current_limits() is DEFAULT_LIMITS
    monkeypatch.setenv("ELICIT_GYM_MAX_MB", " 64 ")
    assert current_limits() == FileLimits.of_megabytes(64)
    assert current_limits().records == 2 * DEFAULT_LIMITS.records
    for given in ("much", "nan", "0", "-3", "1e99"):
        monkeypatch.setenv("ELICIT_GYM_MAX_MB", given)
        with pytest.raises(SettingError, match="expected a number of megabytes"):
            current_limits()


READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {
    "a text": ("x.txt", read_text),
    "a JSON file": ("x.json", lambda path: read_json(path, "a thing")),
    "JSON lines": ("x.jsonl", lambda path: list(read_lines(path))),
    "records": ("x.jsonl", lambda path: list(read_records(path, lambda row: row, what="a row"))),
    "a prompt": ("x.txt", read_prompt),
    "answers": ("x.csv", lambda path: read_answers([path], {})),
    "a corpus": ("x.json", lambda path: load_corpus("mine", path=path)),
}


@pytest.mark.parametrize(("name", "read"), READERS.values(), ids=READERS)
def test_a_file_above_the_limit_is_refused_before_it_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, read: Callable[[Path], Any]
) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        file.truncate(40_000_000)  # it takes no room on the disk
    monkeypatch.setenv("ELICIT_GYM_MAX_MB", "0.1")
    tracemalloc.start()
    with pytest.raises(ElicitGymError) as refused:
        read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "MB, got 40 MB" in str(refused.value)
    assert "aise the limit" in str(refused.value)
    assert "ELICIT_GYM_MAX_MB" in str(refused.value)
    assert peak < 5_000_000


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_line_above_the_limit_is_told_and_the_others_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    path = tmp_path / "x.jsonl"
    text = '{"a": 1}\n' + json.dumps({"a": "x" * 300_000}) + "\n" + '{"a": 2}\n' + '{"a": "' + "y" * 300_000
    path.write_text(text, encoding=encoding)
    monkeypatch.setenv("ELICIT_GYM_MAX_MB", "0.2")  # lines of 0.1 MB
    problems: list[str] = []
    assert list(read_lines(path, problems=problems)) == [(1, {"a": 1}), (3, {"a": 2})]
    assert [problem.partition(": expected")[0] for problem in problems] == [f"{path}:2", f"{path}:4"]
    assert all("more than 0.1 MB; raise the limit ($ELICIT_GYM_MAX_MB)" in problem for problem in problems)
    with pytest.raises(StorageError, match=r"x\.jsonl:2: .*" + RAISE):
        list(read_records(path, lambda row: row, what="a row", own=True))
    monkeypatch.delenv("ELICIT_GYM_MAX_MB")
    path.write_text(text + '"}\n', encoding=encoding)
    assert len(list(read_lines(path))) == 4


def packed(contents: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", contents)
        archive.writestr("train/a.json", contents)
    return out.getvalue()


@pytest.mark.parametrize(
    ("name", "read"),
    [("x.docx", import_transcript), ("x.zip", lambda path: load_corpus("mine", path=path))],
    ids=["Word", "a corpus"],
)
def test_an_archive_made_to_fill_a_memory_is_refused_before_it_is_unpacked(
    tmp_path: Path, name: str, read: Callable[[Path], Any]
) -> None:
    path = tmp_path / name
    path.write_bytes(packed(b" " * 30_000_000))
    assert path.stat().st_size < 100_000
    tracemalloc.start()
    with pytest.raises(ElicitGymError, match=r"expected at most .* MB packed, got 60 MB\. If you trust it, unpack it"):
        read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5_000_000


@pytest.mark.parametrize(
    ("name", "contents", "problem"),
    [
        ("x.txt", b"A: " + b"x" * 50_000 + b"\nB: y\n", "expected lines of at most"),
        ("x.csv", b"speaker,text\nA," + b"x" * 50_000 + b"\n", "raise the limit"),
        ("x.json", b'[{"speaker": "A", "text": "' + b"x" * 50_000 + b'"}]', "expected texts of at most"),
        ("x.jsonl", b'{"speaker": "A", "text": "' + b"x" * 50_000 + b'"}\n', "expected texts of at most"),
        ("x.vtt", b"WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n" + b"x" * 50_000 + b"\n", "expected lines of at most"),
    ],
)
def test_lines_and_fields_of_transcripts_are_limited(tmp_path: Path, name: str, contents: bytes, problem: str) -> None:
    path = tmp_path / name
    path.write_bytes(contents)
    with pytest.raises(SettingError, match=problem) as refused:
        import_transcript(path, limits=FileLimits.of_megabytes(1))
    assert "--max-mb" in str(refused.value)
    with pytest.raises(SettingError, match="MB, got"):
        import_transcript(path, limits=FileLimits.of_megabytes(0.01))
