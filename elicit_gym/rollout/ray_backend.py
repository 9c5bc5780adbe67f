"""Episodes over a Ray cluster: policies loaded once per actor, units handed out one by one, records as they come."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import SettingError
from elicit_gym.llm.cache import CacheMode
from elicit_gym.policy import Policy
from elicit_gym.rollout.parcels import pack
from elicit_gym.rollout.ray_cluster import connect, room_for_actors
from elicit_gym.rollout.ray_crew import Crew, Work
from elicit_gym.rollout.units import Say, Stop, Unit, UnitRunner

__all__ = ["RayBackend"]


class RayBackend:
    """Spreads (scenario, repeat) units over actors, one by one: none waits for the slowest conversation of a chunk.

    Actors that can be scheduled get work as soon as they are set up; the others are waited for and told. When an actor
    is lost, with its machine or its process, the units under way on it are made again, each on an actor of its own: one
    that loses it three times is a failure of source ``worker``, and the run goes on. A unit's seeds derive from what it
    is, so that it does not matter who makes it; and the caller counts each once.

    Args:
        address: the cluster's address (``auto`` for the one this machine belongs to); None starts one here.
        num_actors: the number of actors; by default as many as the cluster has room for, and never more than units.
        gpus_per_actor: the GPUs, or the share of one, that each actor reserves, for local models.
        cache: file and mode of the cache of responses, which every actor opens on a disk that they share.
        send: the names of environment variables that actors get, such as those of keys.
        working_dir: a folder that every machine gets a copy of. Without one, modules that other machines cannot import
            travel with what uses them; files and folders of scenarios and prompts travel in any case.

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
        send: Sequence[str] = (),
        working_dir: Path | None = None,
    ) -> None:
        if num_actors is not None and num_actors < 1:
            raise SettingError(f"Spreading over Ray: expected num_actors of 1 or more, got {num_actors}.")
        if gpus_per_actor < 0 or (gpus_per_actor > 1 and gpus_per_actor != int(gpus_per_actor)):
            raise SettingError(
                "Spreading over Ray: expected gpus_per_actor to be a share of one GPU or a whole number of them, got "
                f"{gpus_per_actor:g}."
            )
        self._address, self._num_actors, self._gpus, self._cache = address, num_actors, gpus_per_actor, cache
        self._send, self._working_dir = tuple(send), working_dir

    def __call__(
        self,
        runner: UnitRunner,
        samples: Sequence[Policy],
        units: Sequence[Unit],
        concurrency: int,
        stop: Stop,
        say: Say,
    ) -> Iterator[EpisodeRecord]:
        """Yield records as they come; see `elicit_gym.rollout.collect.Backend`."""
        if not units:
            return
        parcel = pack(runner, variables=self._send, by_value=self._working_dir is None)
        ray = connect(self._address, working_dir=self._working_dir)
        number = min(self._num_actors or room_for_actors(ray, self._gpus), len(units))
        window = -(-concurrency // number)
        names = [policy.name for policy in samples]
        crew = Crew(ray, ray.put(parcel), window, self._gpus, self._cache)
        work = Work(units, runner, names)
        try:
            crew.start(number)
            while True:
                if not stop():
                    crew.hand_out(work)
                if not crew.under_way and (stop() or not work.left):
                    return
                say(crew.status())
                yield from crew.collect(work)
                crew.start(min(number, work.left) - len(crew.members))
        finally:
            crew.dismiss()
