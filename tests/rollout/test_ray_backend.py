"""A Ray cluster on this machine: the same records, streamed, resumed, and nothing lost or doubled with a worker."""

import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
import ray

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.agents.llm_policy import LLMPolicy
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import SettingError
from elicit_gym.registry import JUDGES
from elicit_gym.rollout.collect import collect_policies
from elicit_gym.rollout.ray_backend import RayBackend, connect
from elicit_gym.rollout.storage import RunStore, load_run
from elicit_gym.types import ChatHistory
from tests.fault_server import FaultServer
from tests.rollout.players import Chooser
from tests.rollout.test_collect import lines

IDS = ["00-a", "00-b", "07-a", "11-b"]


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    yield
    ray.shutdown()


class Suicidal:
    """Kills its own process once, in the middle of an episode, and notes who asked it."""

    name = "suicidal"

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def reset(self, seed: int) -> None:
        with (self._folder / "pids").open("a") as file:
            file.write(f"{os.getpid()}\n")

    def act(self, history: ChatHistory) -> str:
        dead = self._folder / "dead"
        if len(history) == 5 and not dead.exists():
            dead.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return "What is your budget?"


def test_the_records_are_the_same_and_resume(tmp_path: Path) -> None:
    policies: list[Any] = [load_policy("random"), load_policy("oracle"), Chooser()]
    wanted = {"scenario_ids": IDS, "repeats": 2, "seed": 3}
    one, _ = collect_policies(policies, **wanted)  # type: ignore[arg-type]
    backend = RayBackend(num_actors=2)
    two, _ = collect_policies(policies, **wanted, concurrency=3, backend=backend, out=tmp_path / "run")  # type: ignore[arg-type]
    assert two == one
    path = tmp_path / "run" / "episodes.jsonl"
    kept = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(kept[:7]) + kept[7][:30])
    again, _ = collect_policies(
        policies, **wanted, concurrency=3, backend=backend, out=tmp_path / "run", resume=True  # type: ignore[arg-type]
    )  # fmt: skip
    assert again == one
    assert lines(tmp_path / "run")[:7] == [line.decode().rstrip("\n") for line in kept[:7]]
    assert len(lines(tmp_path / "run")) == 24


def test_a_killed_workers_units_run_again_and_nothing_counts_twice(tmp_path: Path) -> None:
    records = collect_episodes(
        Suicidal(tmp_path), scenario_ids=IDS, repeats=3, concurrency=2, backend=RayBackend(num_actors=2),
        out=tmp_path / "run",
    )  # fmt: skip
    assert (tmp_path / "dead").exists()
    assert len(set((tmp_path / "pids").read_text().split())) >= 2  # another process took over
    assert len(records) == 12
    assert all(record.failure is None and len(record.episode.turns) == 10 for record in records)
    assert len(lines(tmp_path / "run")) == 12  # one line each
    assert records == collect_episodes(Suicidal(tmp_path), scenario_ids=IDS, repeats=3)


def test_actors_answer_from_the_cache_that_was_named(tmp_path: Path) -> None:
    cache = str(tmp_path / "responses.sqlite")
    with FaultServer() as server:
        policy = LLMPolicy("tiny", transport="http", api_base=server.api_base)
        wanted = {"scenario_ids": IDS[:2], "env_kwargs": {"max_turns": 2}, "concurrency": 2}
        backend = RayBackend(num_actors=1, cache=(cache, "read-write"))
        first = collect_episodes(policy, backend=backend, **wanted)  # type: ignore[arg-type]
        asked = len(server.bodies)
        assert asked > 0
        assert collect_episodes(policy, backend=backend, **wanted) == first  # type: ignore[arg-type]
        assert len(server.bodies) == asked


def test_actors_understand_names_that_only_this_process_knows() -> None:
    JUDGES.register("yes", "tests.test_registry:Yes")
    gym.register(id="tests/Ray-v0", entry_point="tests.test_registry:MyEnv", kwargs={"judge": "yes"})
    try:
        wanted: dict[str, Any] = {"env_kwargs": {"max_turns": 2}, "scenario_ids": IDS, "repeats": 2}
        one = collect_episodes(load_policy("random"), "tests/Ray-v0", **wanted)
        two = collect_episodes(load_policy("random"), "tests/Ray-v0", **wanted, backend=RayBackend(num_actors=2))
    finally:
        JUDGES.unregister("yes")
        del gym.registry["tests/Ray-v0"]
    assert two == one
    assert all(record.failure is None for record in one)


class Hopeless(Suicidal):
    def act(self, history: ChatHistory) -> str:
        os.kill(os.getpid(), signal.SIGKILL)
        return ""


def test_a_cluster_that_loses_every_worker_is_one_clear_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elicit_gym.rollout.ray_backend.MAX_LOSSES", 1)
    with pytest.raises(SettingError, match="expected actors that stay alive, lost 2 in a row"):
        collect_episodes(Hopeless(tmp_path), scenario_ids=IDS[:1], backend=RayBackend(num_actors=1))


def test_no_cluster_is_told_at_once(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "elicit_gym.cli", "compare", "naive", "--backend", "ray"]
    done = subprocess.run(
        [*command, "--address", "127.0.0.1:1"], capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path
    )
    assert done.returncode == 2
    assert "expected a cluster at '127.0.0.1:1'" in done.stderr
    assert "Traceback" not in done.stderr


def test_mistakes() -> None:
    with pytest.raises(SettingError, match="num_actors"):
        RayBackend(num_actors=0)
    assert connect() is ray


def test_what_actors_have_under_way_at_ctrl_c_is_saved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    append = RunStore.append
    written = []

    def press(store: RunStore, record: EpisodeRecord) -> None:
        written.append(record.unit)
        if len(written) == 2:
            os.kill(os.getpid(), signal.SIGINT)
        append(store, record)

    monkeypatch.setattr(RunStore, "append", press)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt):
            collect_episodes(load_policy("ask-one"), concurrency=3, backend=RayBackend(), out=tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    saved, _ = load_run(tmp_path)
    assert [record.unit for record in saved] == written
    assert len(saved) in (6, 9)  # the chunk of which one was being written, and what the two actors had under way
