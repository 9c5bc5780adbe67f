"""Run units at once on this machine: one after the other, in threads, or in processes."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, as_completed, wait
from functools import partial
from itertools import islice
from typing import Any, TypeVar

from elicit_gym.episode import EpisodeRecord
from elicit_gym.rollout.units import Stop, Unit, UnitRunner

__all__ = ["CHUNK", "run_in_processes", "run_in_threads"]

CHUNK = 64
"""The number of units handed to a process at once, so that their transport costs little."""

T = TypeVar("T")


def run_in_threads(runner: UnitRunner, units: Iterable[Unit], concurrency: int, stop: Stop) -> Iterator[EpisodeRecord]:
    """Yield records as they come. Each conversation goes at its own pace: none waits for a slower one."""
    if concurrency == 1:
        for unit in units:
            if stop():
                return
            yield runner(unit)
        return
    pool = ThreadPoolExecutor(concurrency)
    abandon = partial(pool.shutdown, wait=False, cancel_futures=True)
    yield from _stream(pool, runner, units, concurrency, stop, abandon)


def run_in_processes(
    runner: UnitRunner, units: Sequence[Unit], concurrency: int, stop: Stop
) -> Iterator[EpisodeRecord]:
    """Yield records as they come, from processes that each make a chunk of episodes at a time.

    This uses loky: the user's main module is not run again in the processes, and policies defined in it can be sent.
    """
    from loky import ProcessPoolExecutor

    starts = range(0, len(units), CHUNK)
    chunks = (units[i : i + CHUNK] for i in starts)
    pool = ProcessPoolExecutor(min(concurrency, len(starts)), initializer=_set_runner, initargs=(runner,))
    abandon = partial(pool.shutdown, wait=False, kill_workers=True)
    for records in _stream(pool, _run_chunk, chunks, 2 * concurrency, stop, abandon):
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


def _stream(
    pool: Executor,
    function: Callable[[Any], T],
    work: Iterable[Any],
    ahead: int,
    stop: Stop,
    abandon: Callable[[], None],
) -> Iterator[T]:
    """Yield results as they come.

    At most `ahead` units are handed out, and none once `stop` says so; what is under way then is still yielded, so that
    it can be saved, and likewise after an error, which is raised when it is. Where nobody takes the results any more,
    as after a second Ctrl-C, `abandon` closes the pool without waiting.
    """
    remaining = iter(work)
    pending: set[Future[T]] = set()
    finished: set[Future[T]] = set()
    try:
        while True:
            if stop():
                pending = {future for future in pending if not future.cancel()}
            else:
                pending |= {pool.submit(function, item) for item in islice(remaining, ahead - len(pending))}
            if not pending:
                break
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            while finished:
                yield finished.pop().result()
    except Exception:
        try:
            yield from _rest([*finished, *(future for future in pending if not future.cancel())])
        except BaseException:
            abandon()
            raise
        pool.shutdown()
        raise
    except BaseException:
        abandon()
        raise
    pool.shutdown()


def _rest(futures: Sequence[Future[T]]) -> Iterator[T]:
    """Yield what comes of work that was under way when something went wrong: it has been paid for."""
    for future in as_completed(futures):
        if future.exception() is None:
            yield future.result()
