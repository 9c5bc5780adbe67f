"""What runs in an actor of a Ray cluster: one unit a call, any number of calls at once."""

from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import ExitStack
from threading import Condition, Thread

from elicit_gym.episode import EpisodeRecord
from elicit_gym.llm.cache import CacheMode, ResponseCache
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.rollout.lock_step import in_lock_step, run_in_lock_step
from elicit_gym.rollout.parcels import Parcel, unpack
from elicit_gym.rollout.units import Unit, UnitRunner

__all__ = ["Actor"]


class Actor:
    """An actor, which keeps its threads and its policies between calls.

    Args:
        window: the number of conversations at once.
        cache: file and mode of the cache of responses.
    """

    def __init__(self, window: int, cache: tuple[str, CacheMode] | None) -> None:
        self._window, self._cache = window, cache
        self._runner: UnitRunner | None = None
        # The runtime applies as long as the actor lives: a context that nothing refers to would be closed at once.
        self._runtime = ExitStack()
        self._lock_step: _LockStep | None = None

    def set_up(self, parcel: Parcel) -> str:
        """Unpack the work, so that what is missing on this machine is told apart from a machine that is lost.

        Returns:
            The machine's name.
        """
        import socket

        self._runner = unpack(parcel)
        kept = ResponseCache(*self._cache) if self._cache is not None else None
        self._runtime.enter_context(llm_runtime(Runtime(concurrency=max(256, self._window), cache=kept)))
        self._lock_step = _LockStep(self._runner, self._window)
        return socket.gethostname()

    def run(self, unit: Unit) -> EpisodeRecord:
        """Make one episode; called from as many threads as there are conversations at once."""
        assert self._runner is not None
        assert self._lock_step is not None
        if self._window > 1 and in_lock_step(self._runner.policy(unit, self._runner.kept)):
            return self._lock_step.run(unit)
        return self._runner(unit)


class _LockStep:
    """Gathers calls of many threads into rounds of one batch; the units of one policy at a time."""

    def __init__(self, runner: UnitRunner, window: int) -> None:
        self._runner, self._window = runner, window
        self._todo: deque[Unit] = deque()
        self._done: dict[Unit, Future[EpisodeRecord]] = {}
        self._changed = Condition()
        self._policy = 0
        self._thread: Thread | None = None

    def run(self, unit: Unit) -> EpisodeRecord:
        """Return the unit's record when its conversation is over."""
        future: Future[EpisodeRecord] = Future()
        with self._changed:
            self._done[unit] = future
            self._todo.append(unit)
            if self._thread is None:
                self._thread = Thread(target=self._work, name="elicit-gym-lock-step", daemon=True)
                self._thread.start()
            self._changed.notify()
        return future.result()

    def __iter__(self) -> Iterator[Unit]:
        return self

    def __next__(self) -> Unit:
        with self._changed:
            # Units of the next policy wait until the conversations of this one are over. There may be more of this
            # one's later: an end of this iterator is not its last.
            if not self._todo or self._todo[0].policy != self._policy:
                raise StopIteration
            return self._todo.popleft()

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._todo)
                self._policy = self._todo[0].policy
            try:
                for record in run_in_lock_step(self._runner, self, self._window, lambda: False):
                    self._deliver(record)
            except BaseException as error:
                with self._changed:
                    failed, self._done = self._done, {}
                    self._todo.clear()
                for future in failed.values():
                    future.set_exception(error)

    def _deliver(self, record: EpisodeRecord) -> None:
        with self._changed:
            future = self._done.pop(Unit(self._policy, record.scenario_id, record.repeat))
        future.set_result(record)
