"""Threads and processes: the same records, and what Ctrl-C leaves."""

import json
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.rollout import collect, workers
from elicit_gym.rollout.collect import collect_policies
from elicit_gym.rollout.storage import load_run
from tests.processes import lines_in, start_cli, wait_for
from tests.rollout.players import IDS


def test_processes_make_the_same_records(monkeypatch: pytest.MonkeyPatch) -> None:
    policies = [load_policy("random"), load_policy("oracle"), load_policy("ask-one")]
    one, _ = collect_policies(policies, scenario_ids=IDS, repeats=4, seed=2)
    monkeypatch.setattr(collect, "PROCESSES_FROM", 10)
    monkeypatch.setattr(workers, "CHUNK", 7)
    used = []
    original = collect.run_in_processes
    monkeypatch.setattr(collect, "run_in_processes", lambda *a: used.append(1) or original(*a))
    two, _ = collect_policies(policies, scenario_ids=IDS, repeats=4, seed=2, concurrency=2)
    assert used
    assert two == one
    # What cannot travel stays in threads.
    local = load_policy("ask-one")
    local.lock = threading.Lock()  # type: ignore[attr-defined]
    collect_episodes(lambda: local, scenario_ids=IDS, repeats=4, concurrency=2)
    assert len(used) == 1


SLOW = """
import time
class Slow:
    name = "slow"
    def reset(self, seed): pass
    def act(self, history):
        time.sleep(0.05)
        return "What is your budget?"
class Hanging(Slow):
    def act(self, history):
        time.sleep(600 if len(history) > 3 else 0)
        return "What is your budget?"
"""


def started(tmp_path: Path, policy: str) -> subprocess.Popen[str]:
    (tmp_path / "slow.py").write_text(SLOW, encoding="utf-8")
    return start_cli("compare", policy, "--concurrency", "6", "--out", "run", cwd=tmp_path)


def test_what_is_under_way_at_ctrl_c_is_saved(tmp_path: Path) -> None:
    process = started(tmp_path, "slow:Slow")
    path = tmp_path / "run" / "episodes.jsonl"
    wait_for(process, lambda: lines_in(path) >= 3)
    before = path.read_bytes().count(b"\n")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped" in errors
    records, _ = load_run(tmp_path / "run")
    assert before < len(records) < 120  # those under way were finished, and nothing new was begun
    assert all(record.failure is None and len(record.episode.turns) == 10 for record in records)


def test_a_second_ctrl_c_does_not_wait(tmp_path: Path) -> None:
    process = started(tmp_path, "slow:Hanging")
    wait_for(process, (tmp_path / "run" / "manifest.json").exists)
    time.sleep(1.0)
    process.send_signal(signal.SIGINT)
    time.sleep(1.0)
    assert process.poll() is None  # it waits for the conversations under way
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "killed" in errors
    assert "Traceback" not in errors
    json.loads((tmp_path / "run" / "manifest.json").read_text())
