"""A unit of work, and what runs it: in a thread, a process, or an actor on another machine."""

import copy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from threading import local
from typing import Any, cast

import gymnasium as gym

from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import SettingError
from elicit_gym.policy import Policy, PolicyLike, PrivilegedPolicy, is_privileged
from elicit_gym.rollout.run_episode import run_episode

__all__ = ["PolicyMaker", "Stop", "Unit", "UnitRunner", "make_env", "sample_environment"]

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

    User simulator and judge keep nothing between calls, so that all threads of a process share one of each.

    Args:
        env_id: the environment's id.
        env_kwargs: the environment's arguments.
        makers: what makes each policy.
        seed: the base seed.
    """

    def __init__(self, env_id: str, env_kwargs: Mapping[str, Any], makers: Sequence[PolicyMaker], seed: int) -> None:
        self.env_id, self.env_kwargs, self.makers, self.seed = env_id, dict(env_kwargs), tuple(makers), seed
        self.kept: dict[int, Policy] = {}
        """The policies that this process keeps between calls, if they answer many conversations themselves."""
        self._parts: InfoQuestEnv | None = None
        self._own = local()

    def __getstate__(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in ("env_id", "env_kwargs", "makers", "seed")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self.kept, self._parts, self._own = {}, None, local()

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
        if is_privileged(policy) and isinstance(policy, PrivilegedPolicy):
            scenarios = self.sample.scenarios
            return policy.for_scenario(next(s for s in scenarios if s.id == unit.scenario_id))
        return policy

    @property
    def sample(self) -> InfoQuestEnv:
        """An environment whose simulator and judge all others share."""
        if self._parts is None:
            self._parts = sample_environment(self.env_id, self.env_kwargs)
        return self._parts

    def make_env(self) -> gym.Env[Any, Any]:
        """Return an environment of one's own, with the shared parts."""
        return make_env(self.env_id, self.env_kwargs, self.sample)


def make_env(env_id: str, env_kwargs: Mapping[str, Any], parts: InfoQuestEnv) -> gym.Env[Any, Any]:
    """Make an environment that takes simulator and judge from another."""
    env = gym.make(env_id, disable_env_checker=True, **env_kwargs)
    inner = cast(InfoQuestEnv, env.unwrapped)
    inner.user_simulator, inner.judge = parts.user_simulator, parts.judge
    return env


def sample_environment(env_id: str, kwargs: Mapping[str, Any]) -> InfoQuestEnv:
    """Make one environment, unwrapped.

    Raises:
        SettingError: it is not an InfoQuest environment, or its arguments are invalid.
    """
    try:
        env = gym.make(env_id, disable_env_checker=True, **kwargs).unwrapped
    except gym.error.Error as error:
        raise SettingError(f"Making the environment {env_id!r}: {error}") from error
    except TypeError as error:
        raise SettingError(f"Making the environment {env_id!r} with {dict(kwargs)!r}: {error}.") from error
    if not isinstance(env, InfoQuestEnv):
        raise SettingError(
            f"Collecting episodes: expected an InfoQuest environment, got {env_id!r}. Use one of this package's ids."
        )
    return env
