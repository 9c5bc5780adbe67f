"""A unit of work, and what runs it: in a thread, a process, or an actor on another machine."""

import copy
import inspect
from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from threading import local
from typing import Any, cast

import gymnasium as gym

from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.envs.stepping import Parts
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import ElicitGymError, SettingError
from elicit_gym.lazy_sequence import LazySequence
from elicit_gym.policy import Policy, PolicyLike, ScenarioPolicy, is_privileged
from elicit_gym.registration import environment_spec
from elicit_gym.registry import carry, load_object, receive
from elicit_gym.rollout.run_episode import run_episode

__all__ = [
    "PolicyMaker",
    "Say",
    "Stop",
    "Unit",
    "UnitRunner",
    "Units",
    "environment_defaults",
    "make_env",
    "sample_environment",
]

Say = Callable[[str], None]
"""Takes what is shown beside the progress bar."""

Stop = Callable[[], bool]
"""Says whether no more units should be started."""


@dataclass(frozen=True, slots=True)
class Unit:
    """One episode to make.

    Attributes:
        policy: the index of the policy.
        scenario_id: the scenario to play.
        repeat: which repeat of it.
    """

    policy: int
    scenario_id: str
    repeat: int


class Units(LazySequence[Unit]):
    """All units of a run, ordered by policy, scenario and repeat, without those that are done.

    Each is made when it is asked for: a hundred million of them take no time and no memory.

    Args:
        policies: the indexes of the policies.
        scenario_ids: the scenarios.
        repeats: the episodes per policy and scenario.
        done: the places of units that are left out, in the order of all.
    """

    def __init__(
        self, policies: Sequence[int], scenario_ids: Sequence[str], repeats: int, done: Iterable[int] = ()
    ) -> None:
        self._policies, self._ids, self._repeats = tuple(policies), tuple(scenario_ids), repeats
        self._rank = {scenario_id: rank for rank, scenario_id in enumerate(self._ids)}
        self._done = sorted(set(done))
        # How many units that are not done come before each one that is: rises, so that it can be searched.
        self._before = [place - i for i, place in enumerate(self._done)]

    def __len__(self) -> int:
        return len(self._policies) * len(self._ids) * self._repeats - len(self._done)

    def _make(self, index: int) -> Unit:
        rest, repeat = divmod(index + bisect_right(self._before, index), self._repeats)
        policy, rank = divmod(rest, len(self._ids))
        return Unit(self._policies[policy], self._ids[rank], repeat)

    def place(self, unit: Unit) -> int | None:
        """Return where a unit stands in the order of all, the ones that are done included; None if it is none."""
        rank = self._rank.get(unit.scenario_id)
        if rank is None or unit.policy not in self._policies or not 0 <= unit.repeat < self._repeats:
            return None
        return (self._policies.index(unit.policy) * len(self._ids) + rank) * self._repeats + unit.repeat

    def without(self, done: Iterable[int]) -> "Units":
        """Return the units that are at none of these places."""
        return Units(self._policies, self._ids, self._repeats, done)

    def of(self, policies: Sequence[int]) -> "Units":
        """Return the units of some of the policies."""
        size = len(self._ids) * self._repeats
        moved = {self._policies.index(policy): new for new, policy in enumerate(policies)}
        done = (moved[at // size] * size + at % size for at in self._done if at // size in moved)
        return Units(policies, self._ids, self._repeats, done)


@dataclass(frozen=True)
class PolicyMaker:
    """Makes a separate policy for each worker by calling a factory or copying a policy; it can itself be pickled.

    Raises:
        SettingError: it is neither a policy nor a factory.
    """

    source: PolicyLike

    def __post_init__(self) -> None:
        if not isinstance(self.source, Policy) and not callable(self.source):
            raise SettingError(
                f"Collecting episodes: expected a policy with name, reset(seed) and act(history), or something that "
                f"makes one, got {type(self.source).__name__}. Add what is missing."
            )

    def __call__(self) -> Policy:
        """Return a policy."""
        if isinstance(self.source, type) or not isinstance(self.source, Policy):
            return cast(Callable[[], Policy], self.source)()
        return copy.deepcopy(self.source)


class UnitRunner:
    """Runs units in any number of threads, each with its own environment and policies.

    Parts keep nothing between calls: all threads of a process share one of each, with its connections.

    It travels to other processes, which know nothing of what was registered here, with all that they need in order to
    understand its names.

    Args:
        env_id: the environment's id.
        env_kwargs: the environment's arguments.
        makers: what makes each policy.
        seed: the base seed.
    """

    def __init__(self, env_id: str, env_kwargs: Mapping[str, Any], makers: Sequence[PolicyMaker], seed: int) -> None:
        self.env_id, self.env_kwargs, self.makers, self.seed = env_id, dict(env_kwargs), tuple(makers), seed
        self.kept: dict[int, Policy] = {}
        """Policies that this process keeps between calls, for those that answer many conversations themselves."""
        self._sample: InfoQuestEnv | None = None
        self._own = local()

    def __getstate__(self) -> dict[str, Any]:
        spec = copy.copy(environment_spec(self.env_id))
        if isinstance(spec.entry_point, str) and not spec.entry_point.startswith("elicit_gym."):
            # Another process has a main module of its own, and another machine may not find the module.
            spec.entry_point = load_object("environment", spec.entry_point)
        return {
            "spec": spec, "env_kwargs": self.env_kwargs, "makers": self.makers, "seed": self.seed,
            "names": carry({**spec.kwargs, **self.env_kwargs}),
        }  # fmt: skip

    def __setstate__(self, state: dict[str, Any]) -> None:
        receive(state.pop("names"))
        spec = state.pop("spec")
        gym.registry[spec.id] = spec
        self.__dict__.update(state, env_id=spec.id)
        self.kept, self._sample, self._own = {}, None, local()

    def __call__(self, unit: Unit) -> EpisodeRecord:
        """Make the episode."""
        own = self._own
        if not hasattr(own, "env"):
            own.env = self.make_env()
            own.policies = {}
        policy = self.policy(unit, own.policies)
        return run_episode(own.env, policy, scenario_id=unit.scenario_id, repeat=unit.repeat, seed=self.seed)

    def policy(self, unit: Unit, made: dict[int, Policy]) -> Policy:
        """Return the unit's policy; it is made if there is none yet."""
        if unit.policy not in made:
            made[unit.policy] = self.makers[unit.policy]()
        policy = made[unit.policy]
        if is_privileged(policy) and isinstance(policy, ScenarioPolicy):
            scenarios = self.sample.scenarios
            return policy.for_scenario(next(s for s in scenarios if s.id == unit.scenario_id))
        return policy

    @property
    def sample(self) -> InfoQuestEnv:
        """An environment whose parts all others share."""
        if self._sample is None:
            self._sample = sample_environment(self.env_id, self.env_kwargs)
        return self._sample

    def make_env(self) -> gym.Env[Any, Any]:
        """Return an environment of one's own, with the shared parts."""
        return make_env(self.env_id, self.env_kwargs, self.sample.parts)


def make_env(env_id: str, env_kwargs: Mapping[str, Any], parts: Parts) -> gym.Env[Any, Any]:
    """Make an environment that shares its parts, and with them their connections, with others."""
    env = gym.make(environment_spec(env_id), disable_env_checker=True, **env_kwargs)
    cast(InfoQuestEnv, env.unwrapped).parts = parts
    return env


def sample_environment(env_id: str, kwargs: Mapping[str, Any]) -> InfoQuestEnv:
    """Make one environment, unwrapped.

    Args:
        env_id: a registered id, ``module:id`` or ``module:Class``.
        kwargs: for it; all others are as the id was registered, or as its class has them.

    Raises:
        UnknownNameError: no such id.
        SettingError: it is not an InfoQuest environment, or an argument is invalid.
    """
    spec = environment_spec(env_id)
    try:
        env = gym.make(spec, disable_env_checker=True, **kwargs).unwrapped
    except ElicitGymError:
        raise
    except (gym.error.Error, TypeError) as error:
        # Gymnasium puts the values of all arguments into its message, and one may be a secret.
        given = ", ".join(kwargs) or "no arguments"
        raise SettingError(f"Making the environment {env_id!r} with {given}: {error.__cause__ or error}.") from error
    if not isinstance(env, InfoQuestEnv):
        raise SettingError(
            f"Collecting episodes: expected an InfoQuest environment, got {env_id!r}. Use one of this package's ids, "
            "or a class that extends InfoQuestEnv."
        )
    return env


def environment_defaults(env_id: str) -> dict[str, Any]:
    """Return the arguments that an environment is made with where nobody gives others.

    They are those of its class and of its registration: the environment itself is their one source.

    Raises:
        UnknownNameError: no such id.
        SettingError: its module cannot be imported.
    """
    spec = environment_spec(env_id)
    made_by = load_object("environment", spec.entry_point) if isinstance(spec.entry_point, str) else spec.entry_point
    own = inspect.signature(made_by).parameters if made_by is not None else {}
    defaults = {name: p.default for name, p in own.items() if p.default is not p.empty}
    return {**defaults, **spec.kwargs}
