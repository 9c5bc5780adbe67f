"""Saved runs are read without their environment: the same run counts once, and scenarios are known by their hash."""

import json
import shutil
from pathlib import Path

import pytest

from elicit_gym import collect_episodes, compare, load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.errors import SettingError, StorageError
from elicit_gym.evaluation.compare import compare_runs
from elicit_gym.evaluation.saved import load_any_run
from elicit_gym.scenarios.load import BUNDLED
from tests.commands import command

IDS = [scenario.id for scenario in load_scenarios()[:4]]


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """A run whose scenarios are no longer where they were."""
    (tmp_path / "a.jsonl").write_bytes(BUNDLED.read_bytes())
    kwargs = {"scenarios": str(tmp_path / "a.jsonl"), "split": "test"}
    collect_episodes(load_policy("adaptive"), env_kwargs=kwargs, out=tmp_path / "run")
    (tmp_path / "a.jsonl").rename(tmp_path / "b.jsonl")
    return tmp_path / "run"


def test_a_run_named_twice_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    once = compare([load_policy("ask-one")], scenario_ids=IDS, out=tmp_path / "run")
    (tmp_path / "link").symlink_to(tmp_path / "run")
    monkeypatch.chdir(tmp_path)
    twice = compare_runs(["run", "run/", "./run", tmp_path / "run", "link", "run/../run"])
    assert twice.to_row() == once.to_row()
    assert len(twice.records) == 4
    assert twice.manifest == once.manifest
    assert command("report", "run", "run/", "--out", "report") == 0
    summary = json.loads((tmp_path / "report" / "summary.json").read_text())
    assert summary["policies"][0]["num_episodes"] == 4


def test_a_report_needs_no_scenarios(moved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command("report", moved, "--out", tmp_path / "without") == 0
    assert "Name their source with --scenarios" in " ".join(capsys.readouterr().err.split())
    assert compare_runs([moved]).scenarios == ()
    options = ("--scenarios", tmp_path / "b.jsonl")
    assert command("report", moved, *options, "--out", tmp_path / "with") == 0
    assert "--scenarios" not in capsys.readouterr().err
    found = compare_runs([moved], str(tmp_path / "b.jsonl")).scenarios
    assert [scenario.id for scenario in found] == [s.id for s in load_scenarios(split="test")]
    # The same scenarios under a known name are the same scenarios.
    assert compare_runs([moved], "bundled").scenarios == found


def test_rejudging_finds_the_scenarios_where_the_user_says(
    moved: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("rejudge", moved) == 2
    assert "Name their source (--scenarios)" in " ".join(capsys.readouterr().err.split())
    assert command("rejudge", moved, "--scenarios", tmp_path / "b.jsonl", "--out", tmp_path / "again") == 0
    assert "1.000" in capsys.readouterr().out
    changed = BUNDLED.read_text(encoding="utf-8").replace("budget", "purse")
    (tmp_path / "changed.jsonl").write_text(changed, encoding="utf-8")
    with pytest.raises(SettingError, match="expected the 60 that the run was made with"):
        load_any_run(moved, str(tmp_path / "changed.jsonl"))


def test_bundled_scenarios_are_found_by_their_name(tmp_path: Path) -> None:
    for kwargs in ({}, {"split": "train"}):
        out = tmp_path / str(len(kwargs))
        collect_episodes(load_policy("naive"), scenario_ids=IDS, env_kwargs={**kwargs, "max_turns": 1}, out=out)
        assert len(compare_runs([out]).scenarios) == (60 if kwargs else 120)


def test_files_that_do_not_belong_together_are_told(tmp_path: Path) -> None:
    for turns in (2, 3):
        collect_episodes(
            load_policy("naive"), scenario_ids=IDS, env_kwargs={"max_turns": turns}, out=tmp_path / str(turns)
        )
    shutil.copy(tmp_path / "3" / "episodes.jsonl", tmp_path / "2" / "episodes.jsonl")
    with pytest.raises(StorageError, match="expected episodes of at most 2 turns, as the manifest says, got one of 3"):
        compare_runs([tmp_path / "2"])
