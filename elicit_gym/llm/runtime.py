"""What all calls of a process share: one event loop, limits on concurrency, the cache and the budget."""

import asyncio
from collections.abc import Coroutine, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from threading import Lock, Thread
from typing import Any, TypeVar

from elicit_gym.errors import SettingError
from elicit_gym.llm.budget import Budget
from elicit_gym.llm.cache import ResponseCache
from elicit_gym.llm.prices import Prices
from elicit_gym.llm.refusals import CircuitBreaker
from elicit_gym.redaction import learn_environment

__all__ = ["Runtime", "current_runtime", "llm_runtime", "run_on_loop"]

T = TypeVar("T")

_lock = Lock()
_loop: asyncio.AbstractEventLoop | None = None


def _start_loop() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            Thread(target=_loop.run_forever, name="elicit-gym-llm", daemon=True).start()
        return _loop


def run_on_loop(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the one background loop and wait for it; Ctrl-C cancels it."""
    future: Future[T] = asyncio.run_coroutine_threadsafe(coroutine, _start_loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


class Runtime:
    """Settings that no record depends on: how many calls run at once, with which cache, within which budget.

    Args:
        concurrency: the largest number of calls in flight to all models together.
        model_concurrency: the largest number of calls in flight to one model.
        cache: the cache of responses; None for no cache.
        budget: the budget, which counts what is spent even without a limit.
        max_attempts: the number of calls per request, the first included.
        prices: those that the user gives.

    Attributes:
        breaker: ends a run in which every call to a model fails alike.
    """

    def __init__(
        self,
        *,
        concurrency: int = 256,
        model_concurrency: int = 256,
        cache: ResponseCache | None = None,
        budget: Budget | None = None,
        max_attempts: int = 6,
        prices: Prices | None = None,
    ) -> None:
        if min(concurrency, model_concurrency, max_attempts) < 1:
            raise SettingError(
                "Setting up calls to models: expected concurrency and max_attempts of 1 or more, got "
                f"{concurrency}, {model_concurrency} and {max_attempts}. Raise them."
            )
        self.cache = cache
        self.budget = budget or Budget()
        self.max_attempts = max_attempts
        self.prices = prices or Prices({})
        self.breaker = CircuitBreaker()
        learn_environment()
        self._all = asyncio.Semaphore(concurrency)
        self._model_concurrency = model_concurrency
        self._models: dict[str, asyncio.Semaphore] = {}

    def limits(self, model: str) -> tuple[asyncio.Semaphore, asyncio.Semaphore]:
        """Return the limits for a model: its own, which has to be entered first, and the one for all models."""
        if model not in self._models:
            self._models[model] = asyncio.Semaphore(self._model_concurrency)
        return self._models[model], self._all


_current = Runtime()


def current_runtime() -> Runtime:
    """Return the runtime in force."""
    return _current


@contextmanager
def llm_runtime(runtime: Runtime) -> Iterator[Runtime]:
    """Put a runtime in force for all threads while the block runs."""
    global _current
    before, _current = _current, runtime
    try:
        yield runtime
    finally:
        _current = before
