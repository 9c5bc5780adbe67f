"""Run units at once on this machine: one after the other, in threads, or in processes."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from itertools import islice
from typing import Any, TypeVar

from elicit_gym.episode import EpisodeRecord
from elicit_gym.rollout.units import Stop, Unit, UnitRunner

__all__ = ["CHUNK", "Killed", "run_in_processes", "run_in_threads"]

CHUNK = 64
"""The number of units handed to a process at once, so that their transport costs little."""

T = TypeVar("T")


class Killed(KeyboardInterrupt):
    """Raised at the second Ctrl-C, which does not wait for what is under way."""


def run_in_threads(runner: UnitRunner, units: Sequence[Unit], concurrency: int, stop: Stop) -> Iterator[EpisodeRecord]:
    """Yield records as they come. Each conversation goes at its own pace: none waits for a slower one."""
    if concurrency == 1:
        for unit in units:
            if stop():
                return
            yield runner(unit)
        return
    yield from _stream(ThreadPoolExecutor(concurrency), runner, units, 2 * concurrency, stop)


def run_in_processes(
    runner: UnitRunner, units: Sequence[Unit], concurrency: int, stop: Stop
) -> Iterator[EpisodeRecord]:
    """Yield records as they come, from processes that each make a chunk of episodes at a time.

    This uses loky: the user's main module is not run again in the processes, and policies defined in it can be sent.
    """
    from loky import ProcessPoolExecutor

    chunks = [units[i : i + CHUNK] for i in range(0, len(units), CHUNK)]
    pool = ProcessPoolExecutor(min(concurrency, len(chunks)), initializer=_set_runner, initargs=(runner,))
    for records in _stream(pool, _run_chunk, chunks, 2 * concurrency, stop):
        yield from records


_runner: UnitRunner | None = None


def _set_runner(runner: UnitRunner) -> None:
    import signal

    global _runner
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is handled by the process that hands out the work
    _runner = runner


def _run_chunk(units: Sequence[Unit]) -> list[EpisodeRecord]:
    assert _runner is not None
    return [_runner(unit) for unit in units]


def _stream(pool: Executor, function: Callable[[Any], T], work: Sequence[Any], ahead: int, stop: Stop) -> Iterator[T]:
    """Yield results as they come.

    At most `ahead` units are handed out, and none once `stop` says so. At Ctrl-C nothing new is started, and what is
    under way is still yielded, so that it can be saved; a second Ctrl-C does not wait for it.
    """
    remaining = iter(work)
    pending: set[Future[T]] = {pool.submit(function, item) for item in islice(remaining, ahead)}
    interrupted = False
    try:
        while pending:
            try:
                finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            except KeyboardInterrupt:
                if interrupted:
                    raise Killed from None
                interrupted = True
                pending = {future for future in pending if not future.cancel()}
                continue
            for future in finished:
                yield future.result()
            if not interrupted and not stop():
                pending |= {pool.submit(function, item) for item in islice(remaining, len(finished))}
    except Killed:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    except BaseException:
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown()
    if interrupted:
        raise KeyboardInterrupt
