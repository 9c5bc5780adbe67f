"""Episodes over a Ray cluster: policies loaded once per actor, records streamed back as they are made."""

import logging
import socket
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import ElicitGymError, MissingExtraError, SettingError
from elicit_gym.llm.cache import CacheMode
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.policy import Policy
from elicit_gym.rollout.lock_step import in_lock_step, run_in_lock_step
from elicit_gym.rollout.units import Stop, Unit, UnitRunner

__all__ = ["RayBackend", "connect"]

MAX_LOSSES = 20
"""The number of actors lost without a record in between after which the run gives up."""


def connect(address: str | None = None) -> Any:
    """Return Ray, connected to the cluster at an address, or without one to a cluster started on this machine.

    Raises:
        MissingExtraError: the extra ``ray`` is not installed.
        SettingError: there is no cluster at the address.
    """
    try:
        import ray
    except ImportError as error:
        raise MissingExtraError("Spreading work over a cluster", "ray") from error
    if not ray.is_initialized():
        try:
            host, _, port = (address or "").removeprefix("ray://").rpartition(":")
            if host and port.isdigit():
                # Ray itself would try for a minute without saying anything.
                socket.create_connection((host, int(port)), timeout=5).close()
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, include_dashboard=False)
        except (OSError, ValueError, RuntimeError) as error:
            raise SettingError(
                f"Connecting to Ray: expected a cluster at {address!r}, got {type(error).__name__}: "
                f"{str(error)[:200]}. Start one with: ray start --head"
            ) from error
    return ray


class RayBackend:
    """Spreads (scenario, repeat) units over actors; each makes `concurrency` episodes at once.

    When an actor is lost, with its machine or its process, its units are made again by another one. A unit's seeds
    derive from what it is, so that it does not matter who makes it; and the caller counts each once.

    Args:
        address: the cluster's address (``auto`` for the one this machine belongs to); None starts one here.
        num_actors: the number of actors; by default the cluster's CPUs, and never more than there are chunks of work.
        gpus_per_actor: the GPUs that each actor reserves, for local models.
        cache: file and mode of the cache of responses, which every actor opens on a disk that they share.

    References:
        Moritz et al. (2018), "Ray: A Distributed Framework for Emerging AI Applications".
    """

    def __init__(
        self,
        address: str | None = None,
        *,
        num_actors: int | None = None,
        gpus_per_actor: float = 0.0,
        cache: tuple[str, CacheMode] | None = None,
    ) -> None:
        if num_actors is not None and num_actors < 1:
            raise SettingError(f"Spreading over Ray: expected num_actors of 1 or more, got {num_actors}.")
        self._address, self._num_actors, self._gpus, self._cache = address, num_actors, gpus_per_actor, cache

    def __call__(
        self, runner: UnitRunner, samples: Sequence[Policy], units: Sequence[Unit], concurrency: int, stop: Stop
    ) -> Iterator[EpisodeRecord]:
        """Yield records as they come; see `elicit_gym.rollout.collect.Backend`."""
        if not units:
            return
        ray = connect(self._address)
        chunks = _chunks(units, samples, concurrency)
        most = self._num_actors or max(1, int(ray.cluster_resources().get("CPU", 1)))
        actor_class = ray.remote(num_cpus=1, num_gpus=self._gpus)(_Worker)
        shared = ray.put(runner)

        def start() -> Any:
            return actor_class.remote(shared, concurrency, self._cache)

        todo = deque(chunks)
        under_way: dict[Any, tuple[Any, list[Unit]]] = {}
        actors = [start() for _ in range(min(most, len(chunks)))]
        idle = deque(actors)
        losses = 0
        try:
            while todo or under_way:
                while idle and todo and not stop():
                    actor, chunk = idle.popleft(), todo.popleft()
                    under_way[actor.run.remote(chunk)] = (actor, chunk)
                if not under_way:
                    return
                (finished, *_), _ = ray.wait(list(under_way), num_returns=1)
                actor, chunk = under_way.pop(finished)
                try:
                    records: list[EpisodeRecord] = ray.get(finished)
                except (ray.exceptions.RayActorError, ray.exceptions.WorkerCrashedError) as error:
                    losses += 1
                    if losses > MAX_LOSSES:
                        raise SettingError(
                            f"Spreading over Ray: expected actors that stay alive, lost {losses} in a row. Look into "
                            f"the cluster's logs; the last said: {str(error)[:200]}"
                        ) from error
                    todo.appendleft(chunk)
                    idle.append(start())
                    continue
                except ray.exceptions.RayTaskError as error:
                    raise _original(error) from None
                losses = 0
                idle.append(actor)
                yield from records
        finally:
            for actor in {id(a): a for a in [*idle, *(a for a, _ in under_way.values())]}.values():
                ray.kill(actor)


def _chunks(units: Sequence[Unit], samples: Sequence[Policy], concurrency: int) -> list[list[Unit]]:
    """Cut the work so that an actor is busy with one policy, and little is lost with an actor."""
    chunks = []
    for index in range(len(samples)):
        own = [unit for unit in units if unit.policy == index]
        chunks += [own[i : i + concurrency] for i in range(0, len(own), concurrency)]
    return chunks


def _original(error: Any) -> BaseException:
    cause = getattr(error, "cause", None)
    return cause if isinstance(cause, ElicitGymError) else error


class _Worker:
    """An actor, which keeps its threads and its policies between chunks."""

    def __init__(self, runner: UnitRunner, concurrency: int, cache: tuple[str, CacheMode] | None) -> None:
        from elicit_gym.llm.cache import ResponseCache

        self._runner, self._concurrency = runner, concurrency
        self._pool = ThreadPoolExecutor(concurrency)
        kept = ResponseCache(cache[0], cache[1]) if cache is not None else None
        # The runtime applies as long as the actor lives: a context that nothing refers to would be closed at once.
        self._runtime = ExitStack()
        self._runtime.enter_context(llm_runtime(Runtime(concurrency=max(256, concurrency), cache=kept)))

    def run(self, units: list[Unit]) -> list[EpisodeRecord]:
        """Make a chunk of episodes of one policy."""
        policy = self._runner.policy(units[0], self._runner.kept)
        if self._concurrency > 1 and in_lock_step(policy):
            return list(run_in_lock_step(self._runner, units, self._concurrency, lambda: False))
        return list(self._pool.map(self._runner, units))
