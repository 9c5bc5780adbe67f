"""The commands for ratings by people."""

import json
from pathlib import Path

import pytest

from elicit_gym.offline.human_eval.tasks import read_key
from tests.commands import command
from tests.offline.human_eval.batches import noisy, rows_of, write
from tests.offline.human_eval.test_tasks import SOURCES, samples


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "eval").mkdir()
    with (tmp_path / "eval" / "samples.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in samples(40))
    assert command("human-eval", "export", tmp_path / "eval", "--out", tmp_path / "b", "--windows", 12, "--equal") == 0
    assert "12 tasks with 4 utterances each" in " ".join(capsys.readouterr().out.split())
    key = read_key(tmp_path / "b")
    assert {row["domain"] for row in key.values()} == {"oral_history", "judicial_proceedings"}
    files = [write(tmp_path / f"{i}.csv", rows_of(key, f"w{i}", noisy(i))) for i in range(2)]
    assert command("human-eval", "score", tmp_path / "b", *files, "--out", tmp_path / "scored") == 0
    shown = capsys.readouterr().out
    assert "Krippendorff" in shown
    assert "paper: ORL" in shown
    saved = json.loads((tmp_path / "scored" / "table9.json").read_text())
    assert set(saved["table"]) == set(SOURCES)
    assert (tmp_path / "scored" / "table9.png").read_bytes().startswith(b"\x89PNG")
    assert command("human-eval", "export", tmp_path / "eval", "--out", tmp_path / "c") != 0
    assert "between 1 and 40" in " ".join(capsys.readouterr().err.split())
