"""The actors of a run on a Ray cluster, and what becomes of the units under way on those that are lost."""

import warnings
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from elicit_gym.episode import Episode, EpisodeRecord, Failure
from elicit_gym.errors import ElicitGymError, SettingError, WorkerFailure
from elicit_gym.llm.cache import CacheMode
from elicit_gym.rollout.ray_actor import Actor
from elicit_gym.rollout.units import Unit, UnitRunner
from elicit_gym.seeding import unit_seed

__all__ = ["Crew", "Work"]

MAX_LOSSES = 20
"""The number of actors lost before any record was made after which the run gives up: the fault is not a unit's."""

MAX_TRIES = 3
"""How often a unit may take its actor down with it before that is its failure; in the last two it is alone there."""

PATIENCE = 10.0
"""The seconds without any actor after which the user is told what they wait for."""


@dataclass(eq=False)
class _Member:
    """An actor as the driver sees it.

    Attributes:
        ready: whether it is set up, and can be given work.
        units: under way on it.
        alone: whether it has a unit under way beside which it gets no other.
    """

    handle: Any
    ready: bool = False
    units: set[Unit] = field(default_factory=set)
    alone: bool = False


class Work:
    """The units that are left, and what has become of those that were under way on lost actors."""

    def __init__(self, units: Sequence[Unit], runner: UnitRunner, names: Sequence[str]) -> None:
        self._fresh = iter(units)
        self._number = len(units)
        self._suspects: deque[Unit] = deque()
        self._tries: Counter[Unit] = Counter()
        self._runner, self._names = runner, names

    @property
    def left(self) -> int:
        """The number of units that nobody works on."""
        return self._number + len(self._suspects)

    def fresh(self) -> Unit | None:
        """Return a unit that has not been tried, if there is one."""
        unit = next(self._fresh, None)
        self._number -= unit is not None
        return unit

    def suspect(self) -> Unit | None:
        """Return a unit that was under way on an actor when it was lost, if there is one."""
        return self._suspects.popleft() if self._suspects else None

    def lost(self, unit: Unit, reason: str) -> EpisodeRecord | None:
        """Note that a unit's actor is gone; returns the record of its failure where that was so too often."""
        self._tries[unit] += 1
        if self._tries[unit] < MAX_TRIES:
            self._suspects.append(unit)
            return None
        error = WorkerFailure(
            f"Making the episode on a cluster: expected an actor that lives through it, lost {self._tries[unit]}, the "
            f"last two with nothing else to do. Ray said: {reason}"
        )
        return EpisodeRecord(
            policy=self._names[unit.policy],
            env_id=self._runner.env_id,
            scenario_id=unit.scenario_id,
            repeat=unit.repeat,
            seed=unit_seed(self._runner.seed, unit.scenario_id, unit.repeat),
            episode=Episode(opening_message="", turns=(), terminated=False, truncated=False),
            failure=Failure(source=error.source, message=str(error), turn=0),
        )


class Crew:
    """The actors of a run."""

    def __init__(self, ray: Any, parcel: Any, window: int, gpus: float, cache: tuple[str, CacheMode] | None) -> None:
        self._ray, self._parcel, self._window, self._gpus, self._cache = ray, parcel, window, gpus, cache
        # A call more than there are conversations: `set_up` runs beside nothing, but has a thread of its own.
        self._make = ray.remote(num_cpus=1, num_gpus=gpus, max_concurrency=window + 1)(Actor)
        self.members: list[_Member] = []
        self.under_way = 0
        self._calls: dict[Any, tuple[_Member, Unit | None]] = {}
        self._losses = 0
        self._records = 0
        self._waited = 0.0

    def start(self, number: int) -> None:
        """Ask the cluster for more actors."""
        for _ in range(number):
            member = _Member(self._make.remote(self._window, self._cache))
            self.members.append(member)
            self._calls[member.handle.set_up.remote(self._parcel)] = (member, None)

    def hand_out(self, work: Work) -> None:
        """Fill every actor that is set up: all get a unit before one gets its second."""
        ready = [member for member in self.members if member.ready and not member.alone]
        for room in range(self._window):
            for member in ready:
                if len(member.units) == room and not member.alone:
                    unit = work.fresh()
                    if unit is None and not member.units:
                        unit = work.suspect()
                        member.alone = unit is not None
                    if unit is None:
                        continue
                    member.units.add(unit)
                    self.under_way += 1
                    self._calls[member.handle.run.remote(unit)] = (member, unit)

    def collect(self, work: Work) -> Iterator[EpisodeRecord]:
        """Wait until something happens, and yield the records that there are then."""
        done, _ = self._ray.wait(list(self._calls), num_returns=1, timeout=PATIENCE)
        if not done:
            self._complain()
            return
        more, _ = self._ray.wait(list(self._calls), num_returns=len(self._calls), timeout=0)
        for call in more:
            if call not in self._calls:
                continue  # its actor was lost with another call
            member, unit = self._calls[call]
            try:
                result = self._ray.get(call)
            except (self._ray.exceptions.RayActorError, self._ray.exceptions.WorkerCrashedError) as error:
                yield from self._bury(member, error, work)
                continue
            except self._ray.exceptions.RayTaskError as error:
                raise _original(error, setting_up=unit is None) from None
            del self._calls[call]
            if unit is None:
                member.ready = True
                continue
            member.units.discard(unit)
            member.alone = False
            self.under_way -= 1
            self._records += 1
            yield result

    def _bury(self, member: _Member, error: Exception, work: Work) -> Iterator[EpisodeRecord]:
        self._losses += 1
        if not self._records and self._losses > MAX_LOSSES:
            raise SettingError(
                f"Spreading over Ray: expected actors that stay alive, lost {self._losses} in a row. Look into the "
                f"cluster's logs; the last said: {error}"
            ) from error
        self.members.remove(member)
        self._calls = {call: (m, u) for call, (m, u) in self._calls.items() if m is not member}
        self.under_way -= len(member.units)
        for unit in member.units:
            failed = work.lost(unit, str(error))
            if failed is not None:
                yield failed

    def status(self) -> str:
        """Return how many actors there are, and what the others wait for."""
        ready = sum(member.ready for member in self.members)
        waiting = len(self.members) - ready
        alive = f"{ready} actor{'' if ready == 1 else 's'}"
        return f"{alive}, {waiting} waiting for {self._need()}" if waiting else alive

    def _need(self) -> str:
        return "1 CPU" + (f" and {self._gpus:g} GPU" if self._gpus else "")

    def _complain(self) -> None:
        """Say what is waited for, once, where no actor has been there for a while."""
        if self._waited or any(member.ready for member in self.members):
            return
        self._waited = PATIENCE
        have = self._ray.cluster_resources()
        free = self._ray.available_resources()
        warnings.warn(
            f"Spreading over Ray: none of {len(self.members)} actors has started in {PATIENCE:g} seconds. Each waits "
            f"for {self._need()}; the cluster has {have.get('CPU', 0):g} CPU and {have.get('GPU', 0):g} GPU, of which "
            f"{free.get('CPU', 0):g} and {free.get('GPU', 0):g} are free. Waiting on; Ctrl-C stops.",
            stacklevel=2,
        )

    def dismiss(self) -> None:
        """Let all actors go."""
        for member in self.members:
            self._ray.kill(member.handle)


def _original(error: Any, *, setting_up: bool) -> BaseException:
    """Return the error that an actor met, as it was raised there."""
    cause = getattr(error, "cause", None)
    if isinstance(cause, ElicitGymError):
        return cause
    if setting_up:
        return SettingError(
            f"Setting up an actor: expected all that the run needs on the other machine, got {type(cause).__name__}: "
            f"{cause}. Install it there, or send its folder with --working-dir."
        )
    return cause if isinstance(cause, BaseException) else error
