"""Ctrl-C, wherever the main thread happens to be: nothing that was under way is lost, and nothing new is begun."""

import os
import signal
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from elicit_gym import collect_episodes
from elicit_gym.episode import EpisodeRecord
from elicit_gym.rollout import collect, workers
from elicit_gym.rollout.interrupts import Killed, two_stages
from elicit_gym.rollout.storage import RunStore, load_run
from elicit_gym.types import ChatHistory


class Counting:
    """Counts the conversations that it has begun."""

    name = "counting"
    begun = 0

    def reset(self, seed: int) -> None:
        type(self).begun += 1

    def act(self, history: ChatHistory) -> str:
        time.sleep(0.002)
        return "What is your budget?"


class InBatches(Counting):
    def reset(self, seed: int) -> None:
        pass

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        type(self).begun += sum(len(history) == 1 for history in histories)
        return [self.act(history) for history in histories]


@pytest.fixture(autouse=True)
def pythons_own_handler() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    Counting.begun = InBatches.begun = 0
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def pressed_while_saving(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Ctrl-C in the middle of writing the third record: the moment in which the most can be lost."""
    written: list[int] = []
    append = RunStore.append

    def press(store: RunStore, record: EpisodeRecord) -> None:
        written.append(Counting.begun + InBatches.begun)
        if len(written) == 3:
            os.kill(os.getpid(), signal.SIGINT)
        append(store, record)

    monkeypatch.setattr(RunStore, "append", press)
    return written


@pytest.mark.parametrize(
    ("policy", "concurrency"), [(Counting, 1), (Counting, 6), (InBatches, 6)], ids=["one", "threads", "lock-step"]
)
def test_what_is_under_way_is_saved(
    policy: type[Counting], concurrency: int, pressed_while_saving: list[int], tmp_path: Path
) -> None:
    with pytest.raises(KeyboardInterrupt) as caught:
        collect_episodes(policy, repeats=3, concurrency=concurrency, out=tmp_path)
    assert not isinstance(caught.value, Killed)
    records, _ = load_run(tmp_path)
    assert len(records) == policy.begun
    assert 3 <= len(records) <= 3 + 2 * concurrency
    assert len(records) == len({record.unit for record in records})
    assert all(record.failure is None for record in records)
    assert len(collect_episodes(policy, repeats=3, concurrency=6, out=tmp_path, resume=True)) == 360


def test_what_processes_have_under_way_is_saved(
    pressed_while_saving: list[int], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(collect, "PROCESSES_FROM", 10)
    monkeypatch.setattr(workers, "CHUNK", 10)
    with pytest.raises(KeyboardInterrupt):
        collect_episodes(Counting, repeats=3, concurrency=2, out=tmp_path)
    records, _ = load_run(tmp_path)
    assert len(records) % 10 == 0
    assert 20 <= len(records) <= 60  # whole chunks, and not all thirty-six


def test_an_error_of_a_process_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collect, "PROCESSES_FROM", 10)
    monkeypatch.setattr(workers, "CHUNK", 10)

    class Broken(Counting):
        def act(self, history: ChatHistory) -> str:
            raise SystemExit("out of order")  # ends the process's chunk: it is not a policy's failure

    with pytest.raises(SystemExit, match="out of order"):
        collect_episodes(Broken, concurrency=2)


def test_the_second_does_not_wait(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    released = threading.Event()

    class Hanging(Counting):
        def act(self, history: ChatHistory) -> str:
            if self.begun > 3:
                released.wait(60)
            return "What is your budget?"

    append = RunStore.append

    def press_twice(store: RunStore, record: EpisodeRecord) -> None:
        append(store, record)
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(RunStore, "append", press_twice)
    try:
        with pytest.raises(Killed):
            collect_episodes(Hanging, concurrency=3, out=tmp_path)
        assert not released.is_set()
    finally:
        released.set()
    assert len(load_run(tmp_path)[0]) == 1


def test_a_programs_own_handler_is_left_alone() -> None:
    heard = []
    signal.signal(signal.SIGINT, lambda *_: heard.append(1))
    with two_stages() as interrupts:
        os.kill(os.getpid(), signal.SIGINT)
    assert heard == [1]
    assert interrupts.count == 0


def test_pythons_handler_is_back_afterwards() -> None:
    with two_stages():
        os.kill(os.getpid(), signal.SIGINT)
        with pytest.raises(Killed):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_cannot_install_one() -> None:
    seen = []

    def run() -> None:
        with two_stages() as interrupts:
            seen.append(interrupts.count)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert seen == [0]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
