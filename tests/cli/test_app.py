"""The command line as a user meets it."""

import ast
import json
import os
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from elicit_gym.cli import app
from tests.commands import command
from tests.conftest import ROOT


def run(*arguments: str, cwd: Path, stdin: str = "") -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "elicit_gym.cli", *arguments],
        capture_output=True, text=True, check=False, cwd=cwd, input=stdin,
    )  # fmt: skip


MINE = """
class MyPolicy:
    name = "mine"
    def reset(self, seed): pass
    def act(self, history): return "How much money can you spend?"
"""


def test_compare_with_a_policy_of_ones_own(tmp_path: Path) -> None:
    (tmp_path / "mymodule.py").write_text(MINE, encoding="utf-8")
    done = run("compare", "mymodule:MyPolicy", "naive", "--repeats", "1", "--split", "test", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mine − naive" in done.stdout
    assert "Report: elicit-gym-runs/001/report.html" in done.stdout
    manifest = json.loads((tmp_path / "elicit-gym-runs/001/manifest.json").read_text(encoding="utf-8"))
    assert manifest["env_kwargs"] == {"split": "test"}
    again = run("report", "elicit-gym-runs/001", "--out", "again", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "again" / "report.html").exists()
    second = run("compare", "naive", "--repeats", "1", "--split", "test", cwd=tmp_path)
    assert "elicit-gym-runs/002" in second.stdout


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (PermissionError(13, "Permission denied", "/root/x"), 2, "The system refused: Permission denied (/root/x)."),
        (OSError(28, "No space left on device"), 2, "The system refused: No space left on device."),
        (KeyError("utterance"), 1, "KeyError: 'utterance'. Set ELICIT_GYM_TRACEBACK=1"),
        (ValueError("two\nlines"), 1, "ValueError: two lines."),
        (RuntimeError(), 1, "RuntimeError: no reason."),
    ],
)
def test_whatever_ends_a_command_ends_it_in_one_sentence(
    error: Exception, status: int, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.delenv("ELICIT_GYM_TRACEBACK", raising=False)
    monkeypatch.setattr(import_module("elicit_gym.offline.load_dataset"), "list_datasets", fail)
    assert command("data", "list") == status
    shown = capsys.readouterr().err
    assert said in shown
    assert shown.count("\n") == 1
    if status == 1:
        monkeypatch.setenv("ELICIT_GYM_TRACEBACK", "1")
        monkeypatch.setattr(sys, "argv", ["elicit-gym", "data", "list"])
        with pytest.raises(type(error)):
            app.main()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_that_cannot_show_a_character_ends_nothing(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "שיחה.txt").write_text("מראיין: איפה 😀?\nמרואיין: כאן.\n", encoding="utf-8")
    for arguments in (
        ["data", "import", "שיחה.txt", "--out", "שיחות.jsonl"],
        ["data", "stats", "שלי", "--path", "שיחות.jsonl", "--reward", "reply_length"],
        ["data", "validate", "nowhere-שיחות.jsonl"],
    ):
        done = subprocess.run(
            [sys.executable, "-m", "elicit_gym.cli", *arguments], capture_output=True, check=False, cwd=tmp_path,
            env={**os.environ, "PYTHONIOENCODING": encoding, "COLUMNS": "100"},
        )  # fmt: skip
        assert done.returncode == (1 if "validate" in arguments else 0), done.stderr
        assert b"Traceback" not in done.stderr


CLI = sorted((ROOT / "elicit_gym" / "cli").glob("*.py"))


@pytest.mark.parametrize("path", CLI, ids=lambda path: path.stem)
def test_output_is_written_before_anything_of_it_is_printed(path: Path) -> None:
    """A terminal that goes away, or a table that cannot be drawn, then costs nobody what was paid for."""
    for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(function, ast.FunctionDef):
            continue
        calls = [node for node in ast.walk(function) if isinstance(node, ast.Call)]
        named = [(getattr(call.func, "attr", getattr(call.func, "id", "")), call.lineno) for call in calls]
        printed = [line for name, line in named if name.startswith("print_")]
        written = [line for name, line in named if name == "save" or name.startswith(("write_", "draw_", "save_"))]
        assert not printed or not written or max(written) < min(printed), f"{path.name}: {function.name}"


def test_noise_floor(tmp_path: Path) -> None:
    done = run("noise-floor", "ask-one", "--repeats", "2", "--split", "test", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "ask-one against itself, 60 scenarios" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["compare", "nave"], "Unknown policy 'nave'. Did you mean 'naive'?"),
        (["compare", "nowhere:Policy"], "ModuleNotFoundError"),
        (["compare", "naive", "naive"], "'naive' twice"),
        (["compare", "naive", "--scenarios", "nowhere.jsonl"], "No such file"),
        (["compare", "naive", "--env", "CartPole-v1"], "CartPole"),
        (["compare", "naive", "--resume"], "Name it with --out"),
        (["report", "nowhere"], "expected the manifest of a run"),
        (["play", "--scenario", "zz"], "expected the id of a scenario, got 'zz'"),
        (["scenarios", "stats", "nowhere"], "No such file"),
    ],
)
def test_a_mistake_is_one_message_and_status_2(tmp_path: Path, arguments: list[str], problem: str) -> None:
    done = run(*arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr.startswith("elicit-gym: ")
    assert problem in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []  # nothing half-written


def test_validate_prints_every_problem(tmp_path: Path) -> None:
    path = tmp_path / "mine.jsonl"
    path.write_text('{"id": ""}\n{bad\n[]\n', encoding="utf-8")
    done = run("scenarios", "validate", str(path), cwd=tmp_path)
    assert done.returncode == 1
    assert f"{path}:1: 'id' must be a non-empty string, got ''" in done.stdout
    assert f"{path}:2: expected one JSON value on the line" in done.stdout
    assert f"{path}:3: the row must be a JSON object" in done.stdout
    assert run("scenarios", "validate", "bundled", cwd=tmp_path).stdout.startswith(
        "bundled: 120 scenarios, no problems"
    )


def test_stats(tmp_path: Path) -> None:
    assert "opening messages" in run("scenarios", "stats", cwd=tmp_path).stdout


def test_play_as_the_assistant(tmp_path: Path) -> None:
    done = run(
        "play", "--scenario", "00-a", cwd=tmp_path, stdin="Which hours of the day are free for baking?\n\n[red]Who?\n"
    )
    assert done.returncode == 0, done.stderr
    assert "[x] Did the assistant ask" in done.stdout
    assert "expected a non-empty string" in done.stdout
    assert "return 1 of 5 in 2 turns" in done.stdout
    assert "a home baker" in done.stdout


def test_play_as_the_user(tmp_path: Path) -> None:
    done = run("play", "--as-user", "oracle", "--scenario", "00-a", cwd=tmp_path, stdin="The lease says no.\n\nWell.\n")
    assert done.returncode == 0, done.stderr
    assert "You are the user" in done.stdout
    assert "constraint_1: rental contract" in done.stdout
    assert "in 2 turns" in done.stdout


def test_stats_of_scenarios_are_printed_and_written(tmp_path: Path) -> None:
    done = run("scenarios", "stats", "--split", "test", "--json", "stats.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Nearest scenarios" in done.stdout
    stats = json.loads((tmp_path / "stats.json").read_text(encoding="utf-8"))
    assert stats["scenarios"] == 60
    assert all(row["met"] for row in stats["depth"])
    assert {"ask", "advice"} <= set(stats["diversity"]["reach"]["share"])


def test_a_judge_is_tested_on_contrast_sentences(tmp_path: Path) -> None:
    done = run("contrast", "--judge", "scripted", "--json", "contrast.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "scripted" in done.stdout
    counts = json.loads((tmp_path / "contrast.json").read_text(encoding="utf-8"))
    assert counts["advice"]["echo"] == {"sentences": 28, "credited": 0}
    assert run("contrast", "--judge", "nobody", cwd=tmp_path).returncode == 2
