"""Two runs never write to one folder at once."""

import subprocess
import sys
from pathlib import Path

import pytest

from elicit_gym.agents import load_policy
from elicit_gym.errors import SettingError
from elicit_gym.folder_lock import lock_folder, locked_folder
from elicit_gym.rollout.collect import collect_episodes
from tests.commands import command

HOLD = """
import sys, time
from pathlib import Path
from elicit_gym.folder_lock import lock_folder
lock = lock_folder(Path(sys.argv[1]))
print("held", flush=True)
time.sleep(60)
"""


def test_one_at_a_time(tmp_path: Path) -> None:
    folder = tmp_path / "new" / "run"
    with locked_folder(folder):
        with pytest.raises(SettingError, match="expected a folder that nothing else writes to"):
            lock_folder(folder)
        lock_folder(tmp_path / "other").release()
    lock_folder(folder).release()
    (tmp_path / "file").touch()
    with pytest.raises(SettingError, match="expected a folder to write to"):
        lock_folder(tmp_path / "file")


def test_a_process_that_is_killed_holds_nothing(tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with pytest.raises(SettingError, match="another run is using"):
            lock_folder(tmp_path)
        other.kill()
    lock_folder(tmp_path).release()


@pytest.mark.parametrize(
    "arguments",
    [
        ("compare", "naive", "--max-turns", "1", "--resume"),
        ("evaluate-yield", "naive", "--limit", "2", "--metric", "response_length", "--resume"),
        ("train", "sft", "nowhere"),
        ("train", "awr", "nowhere", "--resume"),
        ("train", "grpo", "nowhere"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_a_second_resume_is_refused_before_its_work(
    arguments: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    if arguments[0] == "compare":
        collect_episodes(load_policy("naive"), env_kwargs={"max_turns": 1}, scenario_ids=["00-a"], out=folder)
    elif arguments[0] == "evaluate-yield":
        assert command(*arguments[:-1], "--out", folder) == 0
    with locked_folder(folder):
        assert command(*arguments, "--out", folder) == 2
    assert "another run is using" in " ".join(capsys.readouterr().err.split())


def test_a_run_gives_its_folder_back_however_it_ends(tmp_path: Path) -> None:
    run = {"env_kwargs": {"max_turns": 1}, "scenario_ids": ["00-a"], "out": tmp_path}
    collect_episodes(load_policy("naive"), **run)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="got one with a run"):
        collect_episodes(load_policy("naive"), **run)  # type: ignore[arg-type]
    lock_folder(tmp_path).release()
