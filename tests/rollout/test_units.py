"""The units of a run, made when they are asked for."""

import os
import signal
import time
import tracemalloc
from pathlib import Path
from threading import Lock
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.agents import load_policy
from elicit_gym.rollout.collect import collect_episodes
from elicit_gym.rollout.units import Unit, Units
from elicit_gym.types import ChatHistory

IDS = ("a", "b", "c")


@given(st.integers(1, 3), st.integers(1, 4), st.integers(1, 5), st.sets(st.integers(0, 59)), st.sets(st.integers(0, 2)))
def test_they_are_those_that_a_list_would_hold(
    num_policies: int, num_ids: int, repeats: int, done: set[int], some: set[int]
) -> None:
    ids = [f"s{i}" for i in range(num_ids)]
    listed = [Unit(p, i, r) for p in range(num_policies) for i in ids for r in range(repeats)]
    units = Units(range(num_policies), ids, repeats)
    assert list(units) == listed
    assert [units.place(unit) for unit in listed] == list(range(len(listed)))
    done = {at for at in done if at < len(listed)}
    left = units.without(done)
    assert list(left) == [unit for at, unit in enumerate(listed) if at not in done]
    assert len(left) == len(listed) - len(done)
    chosen = sorted(policy for policy in some if policy < num_policies)
    assert list(left.of(chosen)) == [unit for unit in left if unit.policy in chosen]
    assert left[1:4] == list(left)[1:4]


def test_what_is_no_unit_has_no_place() -> None:
    units = Units([0, 1], IDS, 2)
    assert [units.place(Unit(*unit)) for unit in ((2, "a", 0), (0, "d", 0), (0, "a", 2), (0, "a", -1))] == [None] * 4


class PressesCtrlC:
    """A policy during which the user presses Ctrl-C once, after some messages."""

    name = "stops"

    def __init__(self, flag: Path, messages: int = 40, lock: Any = None) -> None:
        self._flag, self._left, self._pid, self._lock = flag, messages, os.getpid(), lock

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        self._left -= 1
        if self._left < 0 and not self._flag.exists():
            self._flag.touch()
            os.kill(self._pid, signal.SIGINT)
        return "What would you like to reach?"


@pytest.mark.parametrize("where", ["here", "in threads", "in processes"])
def test_a_hundred_million_repeats_start_at_once_and_stay_flat(tmp_path: Path, where: str) -> None:
    collect_episodes(load_policy("naive"), scenario_ids=["00-a"], env_kwargs={"max_turns": 1})  # what is made once
    lock = Lock() if where == "in threads" else None  # which no process can be sent
    policy = PressesCtrlC(tmp_path / "pressed", lock=lock)
    tracemalloc.start()
    start = time.perf_counter()
    with pytest.raises(KeyboardInterrupt):
        collect_episodes(
            lambda: policy, repeats=100_000_000, env_kwargs={"max_turns": 1}, concurrency=1 if where == "here" else 2,
            out=tmp_path / "run", keep=False,
        )  # fmt: skip
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert time.perf_counter() - start < 60
    assert peak < 30_000_000
    assert 10 <= (tmp_path / "run" / "episodes.jsonl").read_text().count("\n") < 100_000


def test_a_resumed_run_leaves_out_what_is_done_and_gives_all_in_order(tmp_path: Path) -> None:
    common = {"scenario_ids": ["00-b", "00-a"], "repeats": 3, "env_kwargs": {"max_turns": 1}}
    whole = collect_episodes(load_policy("naive"), **common, out=tmp_path)  # type: ignore[arg-type]
    lines = (tmp_path / "episodes.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "episodes.jsonl").write_text("".join(lines[i] for i in (4, 1)))
    again = collect_episodes(load_policy("naive"), **common, out=tmp_path, resume=True)  # type: ignore[arg-type]
    assert [r.unit for r in again] == [r.unit for r in whole]
    assert (tmp_path / "episodes.jsonl").read_text().count("\n") == 6
