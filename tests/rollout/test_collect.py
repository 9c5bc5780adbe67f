"""Many episodes: the same records however they are made, attributed failures, saved, resumed."""

import json
import signal
from pathlib import Path

import pytest

from elicit_gym import EpisodeRecord, collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.errors import ManifestMismatchError, SettingError, StorageError, UnknownNameError
from elicit_gym.json_files import UnfinishedLineWarning
from elicit_gym.rollout.storage import load_run
from elicit_gym.seeding import unit_seed
from elicit_gym.types import ChatHistory, JudgeRequest, UserReply, UserTurn, Verdict
from tests.processes import lines_in, start_cli, wait_for
from tests.rollout.players import Chooser, run

IDS = ["00-a", "00-b", "07-a", "11-b"]


class Moody:
    """Fails in one episode out of a few, in its own way."""

    name = "moody"

    def __init__(self, how: str = "raise") -> None:
        self.how = how

    def reset(self, seed: int) -> None:
        self.fails = seed % 2 == 0

    def act(self, history: ChatHistory) -> str:
        if self.fails and len(history) > 3:
            if self.how == "raise":
                raise RuntimeError("out of ideas")
            return "" if self.how == "blank" else None  # type: ignore[return-value]
        return "What is your budget?"


def test_workers_change_nothing() -> None:
    one = collect_episodes(load_policy("random"), scenario_ids=IDS, repeats=3, seed=4)
    eight = collect_episodes(load_policy("random"), scenario_ids=IDS, repeats=3, seed=4, concurrency=8)
    assert one == eight
    assert [(r.scenario_id, r.repeat) for r in one] == [(i, k) for i in IDS for k in range(3)]


def test_seeds_derive_from_the_unit() -> None:
    assert unit_seed(0, "00-a", 1) == unit_seed(0, "00-a", 1)
    assert len({unit_seed(b, s, r) for b in range(3) for s in ("a", "b") for r in range(3)}) == 18
    alone = collect_episodes(load_policy("random"), scenario_ids=["07-a"], repeats=2, seed=4)
    among = collect_episodes(load_policy("random"), scenario_ids=IDS, repeats=2, seed=4)
    assert alone == [record for record in among if record.scenario_id == "07-a"]
    other = collect_episodes(load_policy("random"), scenario_ids=["07-a"], repeats=2, seed=5)
    assert [r.episode for r in other] != [r.episode for r in alone]


@pytest.mark.parametrize("how", ["raise", "blank", "none"])
def test_a_failing_policy_is_attributed_and_the_run_goes_on(how: str) -> None:
    records = collect_episodes(Moody(how), scenario_ids=IDS, repeats=4)
    failed = [record for record in records if record.failure]
    assert 0 < len(failed) < len(records) == 16
    for record in failed:
        assert record.failure is not None
        assert record.failure.source == "policy"
        assert record.failure.turn == 3
        assert len(record.episode.turns) == 2
        assert not record.episode.terminated
        assert not record.episode.truncated


class BrokenUser:
    name = "broken-user"

    def reply(self, turn: UserTurn) -> UserReply:
        raise ConnectionError("gone")


class BrokenJudge:
    name = "broken-judge"

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return (Verdict(satisfied=False),)  # too few


@pytest.mark.parametrize(("kwarg", "source"), [("user_simulator", "user_simulator"), ("judge", "judge")])
def test_other_failures_are_attributed_too(kwarg: str, source: str) -> None:
    broken = "BrokenUser" if kwarg == "user_simulator" else "BrokenJudge"
    kwargs = {kwarg: f"tests.rollout.test_collect:{broken}"}
    records = collect_episodes(load_policy("ask-one"), env_kwargs=kwargs, scenario_ids=IDS)
    assert {record.failure.source for record in records if record.failure} == {source}
    assert len(records) == len(IDS)


def lines(folder: Path) -> list[str]:
    return (folder / "episodes.jsonl").read_text(encoding="utf-8").splitlines()


def test_saved_and_read_back(tmp_path: Path) -> None:
    records = collect_episodes(load_policy("adaptive"), scenario_ids=IDS, out=tmp_path / "run")
    again, manifest = load_run(tmp_path / "run")
    assert again == records
    assert manifest.names == ("adaptive",)
    assert manifest.scenarios.count == 120
    assert not list((tmp_path / "run").glob("*.tmp"))


def test_resume_skips_what_is_there_and_redoes_a_half_written_line(tmp_path: Path) -> None:
    folder = tmp_path / "run"
    whole = collect_episodes(load_policy("random"), scenario_ids=IDS, repeats=2, out=folder)
    path = folder / "episodes.jsonl"
    full = path.read_bytes()
    kept = full.splitlines(keepends=True)
    path.write_bytes(b"".join(kept[:3]) + kept[3][:40])
    with pytest.warns(UnfinishedLineWarning, match=r"episodes\.jsonl:4"):
        again = collect_episodes(load_policy("random"), scenario_ids=IDS, repeats=2, out=folder, resume=True)
    assert again == whole
    assert path.read_bytes() == full


def test_resume_refuses_changed_settings_and_says_which(tmp_path: Path) -> None:
    collect_episodes(load_policy("random"), scenario_ids=IDS, out=tmp_path / "run")
    before = lines(tmp_path / "run")
    with pytest.raises(ManifestMismatchError, match="seed: 0 there, 1 here"):
        collect_episodes(load_policy("random"), scenario_ids=IDS, seed=1, out=tmp_path / "run", resume=True)
    with pytest.raises(ManifestMismatchError, match="max_turns"):
        collect_episodes(
            load_policy("random"), scenario_ids=IDS, env_kwargs={"max_turns": 3}, out=tmp_path / "run", resume=True
        )
    assert lines(tmp_path / "run") == before


def test_a_run_is_not_overwritten(tmp_path: Path) -> None:
    collect_episodes(load_policy("random"), scenario_ids=IDS, out=tmp_path / "run")
    with pytest.raises(SettingError, match="got one with a run"):
        collect_episodes(load_policy("random"), scenario_ids=IDS, out=tmp_path / "run")


def test_more_repeats_go_on_where_fewer_ended(tmp_path: Path) -> None:
    collect_episodes(load_policy("random"), scenario_ids=IDS, repeats=1, out=tmp_path / "run")
    first = lines(tmp_path / "run")
    collect_episodes(load_policy("random"), scenario_ids=IDS, repeats=2, out=tmp_path / "run", resume=True)
    assert lines(tmp_path / "run")[: len(first)] == first
    assert len(lines(tmp_path / "run")) == 8


def test_a_broken_line_in_the_middle_is_named(tmp_path: Path) -> None:
    collect_episodes(load_policy("random"), scenario_ids=IDS, out=tmp_path / "run")
    path = tmp_path / "run" / "episodes.jsonl"
    rows = lines(tmp_path / "run")
    path.write_text("\n".join([rows[0], '{"policy": 3}', rows[2]]) + "\n", encoding="utf-8")
    with pytest.raises(StorageError, match=r"episodes.jsonl:2: expected an episode"):
        load_run(tmp_path / "run")


SLOW = """
import time
class Slow:
    name = "slow"
    def reset(self, seed): pass
    def act(self, history):
        time.sleep(0.01)
        return "What is your budget?"
"""


def test_a_killed_run_resumes_and_loses_nothing(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    arguments = ["compare", "slow:Slow", "--repeats", "1", "--out", "run"]
    process = start_cli(*arguments, cwd=tmp_path)
    path = tmp_path / "run" / "episodes.jsonl"
    wait_for(process, lambda: lines_in(path) >= 3)
    process.kill()
    process.communicate()
    before = path.read_bytes().split(b"\n")[:-1]
    assert 3 <= len(before) < 120
    again = start_cli(*arguments, "--resume", cwd=tmp_path)
    _, errors = again.communicate()
    assert again.returncode == 0, errors
    after = path.read_bytes().split(b"\n")[:-1]
    assert after[: len(before)] == before
    units = [(row["scenario_id"], row["repeat"]) for row in map(json.loads, after)]
    assert len(units) == len(set(units)) == 120


def test_ctrl_c_ends_a_run_cleanly(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    process = start_cli("compare", "slow:Slow", "--concurrency", "4", "--out", "run", cwd=tmp_path)
    path = tmp_path / "run" / "episodes.jsonl"
    wait_for(process, lambda: lines_in(path) >= 3)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped" in errors
    assert "--resume --out run" in errors
    assert "Traceback" not in errors
    records, _ = load_run(tmp_path / "run")
    assert all(isinstance(record, EpisodeRecord) and record.failure is None for record in records)


def test_policies_that_are_none_and_wrong_numbers() -> None:
    with pytest.raises(SettingError, match="expected a policy"):
        collect_episodes(3)  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="expected repeats of 1 or more, got 0"):
        collect_episodes(load_policy("naive"), repeats=0)
    with pytest.raises(SettingError, match="expected ids of scenarios, got 'zz'"):
        collect_episodes(load_policy("naive"), scenario_ids=["zz"])
    with pytest.raises(SettingError, match="CartPole"):
        collect_episodes(load_policy("naive"), "CartPole-v1")
    with pytest.raises(UnknownNameError, match="Unknown environment 'elicit_gym/Nothing-v0'"):
        collect_episodes(load_policy("naive"), "elicit_gym/Nothing-v0")


def test_records_need_not_be_kept(tmp_path: Path) -> None:
    kept = run(Chooser(), 4)
    assert run(Chooser(), 4, out=tmp_path / "run", keep=False) == []
    assert sorted(load_run(tmp_path / "run")[0], key=lambda r: r.unit) == sorted(kept, key=lambda r: r.unit)
    with pytest.raises(SettingError, match="Give out"):
        run(Chooser(), 4, keep=False)
