"""However many conversations go on at once, and wherever, the records are the same, and failures are their own."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from elicit_gym import EpisodeRecord, collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.errors import SettingError
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.rollout import collect, workers
from elicit_gym.rollout.collect import collect_policies
from elicit_gym.rollout.storage import load_run
from elicit_gym.types import ChatHistory, JudgeRequest, Verdict

IDS = ["00-a", "00-b", "07-a", "11-b", "20-a"]
WORDS = ("What is your budget?", "When is it due?", "Who else has a say?", "What have you tried?", "What matters most?")


class Chooser:
    """Draws from its seed and the history, alone or in a batch; keeps what it was asked."""

    name = "chooser"

    def __init__(self, fail_on: str = "", broken_batch: bool = False) -> None:
        self.fail_on, self.broken_batch = fail_on, broken_batch
        self.batches: list[int] = []
        self._seed = 0

    def reset(self, seed: int) -> None:
        self._seed = seed

    def _say(self, history: ChatHistory, seed: int) -> str:
        if self.fail_on and self.fail_on in history[0].content and len(history) > 3:
            raise RuntimeError("out of ideas")
        return WORDS[(seed + 7 * len(history)) % len(WORDS)]

    def act(self, history: ChatHistory) -> str:
        return self._say(history, self._seed)

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        return [self.act(history) for history in histories]

    def act_seeded(self, histories: Sequence[ChatHistory], seeds: Sequence[int]) -> list[str]:
        self.batches.append(len(histories))
        if self.broken_batch and len(histories) > 1:
            return ["too few"]
        return [self._say(history, seed) for history, seed in zip(histories, seeds, strict=True)]


class Unseeded:
    """A batch policy without randomness."""

    name = "unseeded"

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return WORDS[len(history) % len(WORDS)]

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        return [self.act(history) for history in histories]


def run(policy: Any, concurrency: int, **kwargs: Any) -> list[EpisodeRecord]:
    return collect_episodes(policy, scenario_ids=IDS, repeats=3, seed=4, concurrency=concurrency, **kwargs)


@pytest.mark.parametrize("make", [Chooser, Unseeded, lambda: load_policy("oracle"), lambda: load_policy("random")])
@pytest.mark.parametrize("concurrency", [2, 4, 64])
def test_the_records_are_the_same(make: Any, concurrency: int) -> None:
    assert run(make(), concurrency) == run(make(), 1)


def test_lock_step_answers_in_full_batches_and_fills_free_places() -> None:
    policy = Chooser()
    run(lambda: policy, 4)
    assert policy.batches[:30] == [4] * 30  # 15 conversations of 10 turns: only the last three are fewer than four
    assert policy.batches[30:] == [3] * 10
    assert sum(policy.batches) == sum(len(r.episode.turns) for r in run(Chooser(), 1))


def test_failures_stay_with_their_conversation() -> None:
    opening = next(r for r in run(Chooser(), 1) if r.scenario_id == "11-b").episode.opening_message
    failing = run(Chooser(fail_on=opening), 4)
    assert failing == run(Chooser(fail_on=opening), 1)
    assert {r.scenario_id for r in failing if r.failure} == {"11-b"}
    assert all(r.failure.source == "policy" and r.failure.turn == 3 for r in failing if r.failure)
    # A batch of the wrong size is no answer: each conversation is asked by itself.
    assert run(Chooser(broken_batch=True), 4) == run(Chooser(), 1)


class Picky(ScriptedJudge):
    """Fails on one scenario."""

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        if request.scenario.id == "07-a":
            raise ConnectionError("gone")
        return super().judge(request)


class Blank(Chooser):
    """Says nothing in one scenario."""

    def _say(self, history: ChatHistory, seed: int) -> str:
        return " " if len(history) == 5 and seed % 2 else super()._say(history, seed)


def test_a_failing_judge_and_a_blank_message_are_attributed_in_lock_step_too() -> None:
    picky = {"judge": "tests.rollout.test_concurrency:Picky"}
    alone, together = (run(Chooser(), n, env_kwargs=picky) for n in (1, 4))
    assert {(r.scenario_id, r.failure.source) for r in together if r.failure} == {("07-a", "judge")}

    def bare(records: list[EpisodeRecord]) -> list[Any]:  # the failure's text names the call, which was another
        return [(r.unit, r.episode, r.failure and (r.failure.source, r.failure.turn)) for r in records]

    assert bare(together) == bare(alone)
    blank = run(Blank(), 4)
    assert blank == run(Blank(), 1)
    assert {r.failure.source for r in blank if r.failure} == {"policy"}
    assert 0 < sum(r.failure is not None for r in blank) < len(blank)


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
    command = [sys.executable, "-m", "elicit_gym.cli", "compare", policy, "--concurrency", "6", "--out", "run"]
    return subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_what_is_under_way_at_ctrl_c_is_saved(tmp_path: Path) -> None:
    process = started(tmp_path, "slow:Slow")
    path = tmp_path / "run" / "episodes.jsonl"
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not path.exists() or path.read_bytes().count(b"\n") < 3):
        time.sleep(0.02)
    before = path.read_bytes().count(b"\n")
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "stopped" in errors
    records, _ = load_run(tmp_path / "run")
    assert before < len(records) < 80  # those under way were finished, and nothing new was begun
    assert all(record.failure is None and len(record.episode.turns) == 10 for record in records)


def test_a_second_ctrl_c_does_not_wait(tmp_path: Path) -> None:
    process = started(tmp_path, "slow:Hanging")
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and not (tmp_path / "run" / "manifest.json").exists():
        time.sleep(0.02)
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


def test_records_need_not_be_kept(tmp_path: Path) -> None:
    kept = run(Chooser(), 4)
    assert run(Chooser(), 4, out=tmp_path / "run", keep=False) == []
    assert sorted(load_run(tmp_path / "run")[0], key=lambda r: r.unit) == sorted(kept, key=lambda r: r.unit)
    with pytest.raises(SettingError, match="Give out"):
        run(Chooser(), 4, keep=False)
