"""A Ray cluster on this machine: the same records, streamed, resumed, and nothing lost or doubled with a worker."""

import logging
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
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
from elicit_gym.evaluation.summary import summarise_policies
from elicit_gym.registry import JUDGES
from elicit_gym.rollout.collect import collect_policies
from elicit_gym.rollout.ray_backend import RayBackend
from elicit_gym.rollout.ray_cluster import connect
from elicit_gym.rollout.storage import RunStore, load_run
from elicit_gym.scenarios.load import load_scenarios
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
    monkeypatch.setattr("elicit_gym.rollout.ray_crew.MAX_LOSSES", 1)
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


class Noting:
    """Notes each conversation that it begins."""

    name = "noting"

    def __init__(self, path: Path, pause: float = 0.0) -> None:
        self._path, self._pause = path, pause

    def reset(self, seed: int) -> None:
        with self._path.open("a") as file:
            file.write(f"{os.getpid()} {seed}\n")

    def act(self, history: ChatHistory) -> str:
        time.sleep(self._pause)
        return "What is your budget?"


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
            collect_episodes(
                Noting(tmp_path / "begun", 0.01), concurrency=6, backend=RayBackend(), out=tmp_path / "run"
            )
    finally:
        signal.signal(signal.SIGINT, before)
    saved, _ = load_run(tmp_path / "run")
    assert [record.unit for record in saved] == written
    assert len(saved) == len(lines_of(tmp_path / "begun"))  # all that was begun
    assert 2 < len(saved) <= 8  # and nothing new: two, and what two actors had under way


def lines_of(path: Path) -> list[str]:
    return path.read_text().splitlines()


class Poisonous(Noting):
    """Kills its process wherever the opening is this one."""

    def __init__(self, path: Path, opening: str) -> None:
        super().__init__(path)
        self._opening = opening

    def act(self, history: ChatHistory) -> str:
        if history[0].content == self._opening:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().act(history)


def test_a_unit_that_kills_its_actor_fails_alone(tmp_path: Path) -> None:
    poison = next(s for s in load_scenarios() if s.id == "07-a").opening_message
    records = collect_episodes(
        Poisonous(tmp_path / "begun", poison), scenario_ids=IDS, repeats=2, concurrency=4, backend=RayBackend(),
        out=tmp_path / "run",
    )  # fmt: skip
    failed = {record.unit: record.failure for record in records if record.failure is not None}
    assert {unit[1] for unit in failed} == {"07-a"}
    assert len(failed) == 2
    assert len(records) == 8  # all others are there
    for failure in failed.values():
        assert failure.source == "worker"
        assert "Ray said: " in failure.message
    seeds = Counter(line.split()[1] for line in lines_of(tmp_path / "begun"))
    assert max(seeds.values()) <= 3  # nothing was tried more often than that
    saved, _ = load_run(tmp_path / "run")
    assert {record.unit for record in saved} == {record.unit for record in records}
    (summary,) = summarise_policies(records, max_turns=10)
    assert summary.failures == {"worker": 2}


def test_no_conversation_waits_for_a_slow_one(tmp_path: Path) -> None:
    class Uneven(Noting):
        def reset(self, seed: int) -> None:
            self._slow = not self._path.with_suffix(".slow").exists()
            if self._slow:
                self._path.with_suffix(".slow").touch()
            super().reset(seed)

        def act(self, history: ChatHistory) -> str:
            if self._slow and len(history) > 15:
                # It goes on only when all others are done: with chunks that would be never.
                deadline = time.monotonic() + 60
                while len(lines_of(self._path)) < 24 and time.monotonic() < deadline:
                    time.sleep(0.01)
                if time.monotonic() > deadline:
                    raise RuntimeError("the others waited for this one")
            return super().act(history)

    records = collect_episodes(
        Uneven(tmp_path / "begun"), scenario_ids=IDS, repeats=6, concurrency=4, backend=RayBackend(num_actors=1)
    )
    assert len(records) == 24
    assert all(record.failure is None for record in records)


def test_concurrency_is_that_of_all_actors_together(tmp_path: Path) -> None:
    class Busy(Noting):
        def act(self, history: ChatHistory) -> str:
            with self._path.open("a") as file:
                file.write("+")
            time.sleep(0.01)
            with self._path.open("a") as file:
                file.write("-")
            return "What is your budget?"

        def reset(self, seed: int) -> None: ...

    collect_episodes(Busy(tmp_path / "calls"), scenario_ids=IDS, repeats=3, concurrency=4, backend=RayBackend())
    depth = most = 0
    for mark in (tmp_path / "calls").read_text():
        depth += 1 if mark == "+" else -1
        most = max(most, depth)
    assert 2 <= most <= 4


def test_actors_that_cannot_be_scheduled_are_not_waited_for(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    # Two CPUs, so that three of the five actors never start.
    records = collect_episodes(
        Noting(tmp_path / "begun", 0.01), scenario_ids=IDS, repeats=10, concurrency=5, progress=True,
        backend=RayBackend(num_actors=5),
    )  # fmt: skip
    assert len(records) == 40
    assert "waiting for 1 CPU" in " ".join(capfd.readouterr().err.split())


def test_more_gpus_than_there_are_is_told_before_anything_hangs() -> None:
    with pytest.raises(SettingError, match="expected a machine with 1 CPU and 1 GPU for each actor, got at most 0 GPU"):
        collect_episodes(load_policy("naive"), scenario_ids=IDS, backend=RayBackend(gpus_per_actor=1))


def test_no_actor_at_all_is_said_and_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("elicit_gym.rollout.ray_crew.PATIENCE", 0.5)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)

    def told(message: object, *rest: object, **more: object) -> None:
        os.kill(os.getpid(), signal.SIGINT)  # as a user would, who reads it
        raised.append(str(message))

    raised: list[str] = []
    monkeypatch.setattr("warnings.warn", told)
    try:
        with pytest.raises(KeyboardInterrupt):
            collect_episodes(
                load_policy("naive"), scenario_ids=IDS, backend=RayBackend(num_actors=2, gpus_per_actor=0.5)
            )
    finally:
        signal.signal(signal.SIGINT, before)
    assert "Each waits for 1 CPU and 0.5 GPU; the cluster has 2 CPU and 0 GPU" in raised[0]


def test_a_batch_policy_answers_in_batches_on_an_actor() -> None:
    chooser = Chooser()
    one = collect_episodes(chooser, scenario_ids=IDS, repeats=3, seed=3)
    two = collect_episodes(
        Gathering(), scenario_ids=IDS, repeats=3, seed=3, concurrency=4, backend=RayBackend(num_actors=1)
    )
    assert [record.episode for record in two] == [record.episode for record in one]
    assert all(record.failure is None for record in two)


class Gathering(Chooser):
    """Fails where it is asked one by one all the time."""

    asked = 0

    def act_seeded(self, histories: Sequence[ChatHistory], seeds: Sequence[int]) -> list[str]:
        said = super().act_seeded(histories, seeds)
        if len(self.batches) > 20 and max(self.batches) == 1:
            raise RuntimeError("never more than one")
        return said


def test_a_module_that_is_missing_on_the_other_machine_is_no_lost_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    class Missing(Noting):
        def __reduce__(self) -> tuple[Any, ...]:
            return __import__, ("a_module_of_nobody",)

    with pytest.raises(SettingError, match="No module named 'a_module_of_nobody'. Install it there"):
        collect_episodes(lambda: Missing(Path("x")), scenario_ids=IDS, backend=Through(Missing(Path("x"))))


class Through(RayBackend):
    """Hands a policy to the actors that this process cannot copy."""

    def __init__(self, policy: Any) -> None:
        super().__init__(num_actors=1)
        self._policy = policy

    def __call__(self, runner: Any, *rest: Any) -> Any:
        runner.makers = (self._policy,)
        return super().__call__(runner, *rest)
