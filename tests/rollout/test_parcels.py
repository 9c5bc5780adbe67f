"""What travels with a runner."""

import json
import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import pytest

from elicit_gym.agents import load_policy
from elicit_gym.errors import SettingError
from elicit_gym.rollout.parcels import is_local, pack, unpack
from elicit_gym.rollout.units import PolicyMaker, Unit, UnitRunner
from elicit_gym.scenarios.load import load_scenarios
from tests.conftest import ROOT

BUNDLED = ROOT / "elicit_gym" / "scenarios" / "data" / "bundled.jsonl"


def runner(**kwargs: object) -> UnitRunner:
    return UnitRunner("elicit_gym/InfoQuest-v0", kwargs, [PolicyMaker(load_policy("ask-one"))], 0)


def test_files_of_scenarios_travel_and_the_records_are_the_same(tmp_path: Path) -> None:
    own = tmp_path / "here" / "own.jsonl"
    own.parent.mkdir()
    own.write_text("\n".join(BUNDLED.read_text().splitlines()[:2]) + "\n")
    unit = Unit(0, load_scenarios(own)[0].id, 0)
    sender = runner(scenarios=str(own))
    record = sender(unit)
    parcel = pack(sender)
    shutil.rmtree(own.parent)
    there = unpack(parcel)
    assert there(unit) == record
    assert Path(there.env_kwargs["scenarios"]) != own


def test_folders_of_prompts_travel_wherever_the_arguments_hold_them(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "user_system.txt").write_text("Play.")
    kwargs = {"user_simulator_kwargs": {"prompts": str(tmp_path / "prompts"), "model": str(tmp_path)}}
    there = unpack(pack(runner(**kwargs))).env_kwargs["user_simulator_kwargs"]
    assert (Path(there["prompts"]) / "user_system.txt").read_text() == "Play."
    assert there["prompts"] != str(tmp_path / "prompts")
    assert there["model"] == str(tmp_path)  # a name that happens to be a path is no file of ours


def test_a_name_stays_a_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert unpack(pack(runner(scenarios="bundled"))).env_kwargs == {"scenarios": "bundled"}


def test_variables_travel_and_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "sk-0815")
    parcel = pack(runner(), variables=("MY_KEY",))
    assert "sk-0815" not in repr(parcel)
    monkeypatch.delenv("MY_KEY")
    unpack(parcel)
    assert os.environ.pop("MY_KEY") == "sk-0815"
    with pytest.raises(SettingError, match="expected OTHER_KEY to be set"):
        pack(runner(), variables=("OTHER_KEY",))


def test_what_cannot_travel_is_told() -> None:
    policy = load_policy("ask-one")
    policy.lock = threading.Lock()  # type: ignore[attr-defined]
    stuck = UnitRunner("elicit_gym/InfoQuest-v0", {}, [PolicyMaker(lambda: policy)], 0)
    with pytest.raises(
        SettingError, match=r"expected what can be pickled, got TypeError: cannot pickle '_thread.lock'"
    ):
        pack(stuck)


@pytest.mark.parametrize(
    ("module", "local"), [("json", False), ("numpy", False), ("elicit_gym", False), ("tests", True)]
)
def test_only_ones_own_modules_are_local(module: str, local: bool) -> None:
    assert is_local(__import__(module)) is local


def test_modules_that_say_nothing_sensible_about_their_place_are_not_local() -> None:
    strange = ModuleType("strange")
    assert not is_local(strange)
    strange.__file__ = "_classes.py"  # as torch.classes does
    assert not is_local(strange)


READ = """
import cloudpickle, json, sys
print(json.dumps(cloudpickle.load(open(sys.argv[1], "rb"))()))
"""


def test_a_package_without_init_travels_with_what_it_imports(tmp_path: Path) -> None:
    import cloudpickle

    from elicit_gym.rollout.parcels import _local_modules_by_value

    (tmp_path / "mine" / "inner").mkdir(parents=True)
    (tmp_path / "mine" / "inner" / "words.py").write_text("WORD = 'yes'")
    (tmp_path / "mine" / "use.py").write_text("from mine.inner import words\ndef say(): return words.WORD")
    sys.path.insert(0, str(tmp_path))
    try:
        from mine.use import say  # type: ignore[import-not-found]

        with _local_modules_by_value():
            packed = cloudpickle.dumps(say)
    finally:
        sys.path.remove(str(tmp_path))
        for name in [name for name in sys.modules if name.partition(".")[0] == "mine"]:
            del sys.modules[name]
    (tmp_path / "packed").write_bytes(packed)
    done = subprocess.run(
        [sys.executable, "-c", READ, str(tmp_path / "packed")], capture_output=True, text=True, check=True, cwd="/"
    )
    assert json.loads(done.stdout) == "yes"
