"""Many episodes: any number of scenarios and repeats, in parallel, saved as they finish, resumed after a kill."""

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from threading import local
from typing import Any

import gymnasium as gym

from elicit_gym.envs.infoquest import InfoQuestEnv, check_parts
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import SettingError
from elicit_gym.policy import Policy, PolicyLike, PrivilegedPolicy, is_privileged
from elicit_gym.rollout.manifest import make_manifest, prompt_hashes
from elicit_gym.rollout.progress import progress_bar
from elicit_gym.rollout.run_episode import run_episode
from elicit_gym.rollout.storage import RunStore, write_json
from elicit_gym.types import Scenario

__all__ = ["DEFAULT_ENV", "collect_episodes", "collect_policies", "environment_scenarios", "sample_environment"]

DEFAULT_ENV = "elicit_gym/InfoQuest-v0"


def collect_episodes(
    policy: PolicyLike,
    env_id: str = DEFAULT_ENV,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    scenario_ids: Sequence[str] | None = None,
    repeats: int = 1,
    seed: int = 0,
    num_workers: int = 1,
    out: str | Path | None = None,
    resume: bool = False,
    progress: bool = False,
) -> list[EpisodeRecord]:
    """Roll out a policy over scenarios and repeats.

    Args:
        policy: a policy, or something that makes one. With several workers each has its own.
        env_id: a registered InfoQuest environment.
        env_kwargs: arguments for it.
        scenario_ids: which scenarios; all of the environment's by default.
        repeats: episodes for each scenario.
        seed: the base seed. Each episode's seeds derive from (seed, scenario, repeat), so that the records do not
            depend on `num_workers`.
        num_workers: threads.
        out: a folder to write ``episodes.jsonl`` and ``manifest.json`` to.
        resume: go on with the run in `out`; its finished episodes are not made again.
        progress: show a progress bar.

    Returns:
        One record for each (scenario, repeat), in that order; failed episodes are among them. Fewer when a budget
        ended the run.

    Raises:
        SettingError: an argument is off.
        ManifestMismatchError: `resume` is on and the settings of the saved run differ.
        FatalModelError: no call to a model can succeed; what was finished is saved.
    """
    records, _ = collect_policies(
        [policy],
        env_id,
        env_kwargs=env_kwargs,
        scenario_ids=scenario_ids,
        repeats=repeats,
        seed=seed,
        num_workers=num_workers,
        out=out,
        resume=resume,
        progress=progress,
    )
    return records


def collect_policies(
    policies: Sequence[PolicyLike],
    env_id: str = DEFAULT_ENV,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    scenario_ids: Sequence[str] | None = None,
    repeats: int = 1,
    seed: int = 0,
    num_workers: int = 1,
    out: str | Path | None = None,
    resume: bool = False,
    progress: bool = False,
) -> tuple[list[EpisodeRecord], dict[str, Any]]:
    """Roll out several policies on the same units; see `collect_episodes`.

    Returns:
        The records, ordered by policy, scenario and repeat, and the manifest.
    """
    if repeats < 1 or num_workers < 1:
        raise SettingError(
            f"Collecting episodes: expected repeats and num_workers of 1 or more, got {repeats} and {num_workers}."
        )
    kwargs = dict(env_kwargs or {})
    makers = [_maker(policy) for policy in policies]
    samples = [make() for make in makers]
    names = [policy.name for policy in samples]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SettingError(
            f"Collecting episodes: expected policies with different names, got {', '.join(map(repr, twice))} twice. "
            "Leave one out, or give it another name."
        )
    sample_env = sample_environment(env_id, kwargs)
    scenarios = sample_env.scenarios
    chosen = _choose(scenarios, scenario_ids)
    manifest = make_manifest(
        env_id=env_id,
        env_kwargs=kwargs,
        scenarios=scenarios,
        policies=names,
        privileged=[policy.name for policy in samples if is_privileged(policy)],
        repeats=repeats,
        seed=seed,
        prompts={**prompt_hashes(sample_env.user_simulator), **prompt_hashes(sample_env.judge)},
        policy_prompts={policy.name: found for policy in samples if (found := prompt_hashes(policy))},
    )
    units = [(p, scenario, repeat) for p in range(len(makers)) for scenario in chosen for repeat in range(repeats)]
    store = RunStore(Path(out), manifest, resume=resume) if out is not None else None
    done: dict[tuple[str, str, int], EpisodeRecord] = dict(store.records) if store else {}
    todo = [unit for unit in units if (names[unit[0]], unit[1].id, unit[2]) not in done]
    stopped: list[str] = []
    run = _Runner(env_id, kwargs, sample_env, makers, seed)
    try:
        if todo:
            check_parts(*samples)
        with progress_bar("episodes", len(units), done=len(units) - len(todo), show=progress) as advance:
            for record in _map(run, todo, num_workers, stop=lambda: bool(stopped)):
                if record.failure and record.failure.source == "budget":
                    stopped.append(record.failure.message)  # what is under way may still end; nothing new is begun
                    continue
                done[record.unit] = record
                if store:
                    store.append(record)
                advance()
    finally:
        if store:
            store.close()
    manifest["stopped"] = stopped[0] if stopped else None
    if store:
        write_json(store.folder / "manifest.json", manifest)
    keys = ((names[p], scenario.id, repeat) for p, scenario, repeat in units)
    return [done[key] for key in keys if key in done], manifest


class _Runner:
    """Runs units in any number of threads, each with an environment and policies of its own.

    Simulator and judge keep nothing between calls: all threads share one of each, with its connections.
    """

    def __init__(
        self,
        env_id: str,
        kwargs: Mapping[str, Any],
        sample_env: InfoQuestEnv,
        makers: Sequence[Callable[[], Policy]],
        seed: int,
    ) -> None:
        self._env_id = env_id
        self._kwargs = kwargs
        self._sample_env = sample_env
        self._makers = makers
        self._seed = seed
        self._own = local()

    def __call__(self, unit: tuple[int, Scenario, int]) -> EpisodeRecord:
        index, scenario, repeat = unit
        own = self._own
        if not hasattr(own, "env"):
            own.env = gym.make(self._env_id, disable_env_checker=True, **self._kwargs)
            own.env.unwrapped.user_simulator = self._sample_env.user_simulator
            own.env.unwrapped.judge = self._sample_env.judge
            own.policies = {}
        if index not in own.policies:
            own.policies[index] = self._makers[index]()
        policy = _for(own.policies[index], scenario)
        return run_episode(own.env, policy, scenario_id=scenario.id, repeat=repeat, seed=self._seed)


def environment_scenarios(env_id: str, env_kwargs: Mapping[str, Any]) -> tuple[Scenario, ...]:
    """Return the scenarios that an environment draws from.

    Raises:
        SettingError: it is no InfoQuest environment, or its arguments are off.
    """
    return sample_environment(env_id, env_kwargs).scenarios


def _map(
    function: Callable[[tuple[int, Scenario, int]], EpisodeRecord],
    units: Sequence[tuple[int, Scenario, int]],
    num_workers: int,
    stop: Callable[[], bool],
) -> Iterator[EpisodeRecord]:
    """Yield results as they come; no more units are handed out than can be under way, and none once `stop` says so."""
    if num_workers == 1:
        for unit in units:
            if stop():
                return
            yield function(unit)
        return
    remaining = iter(units)
    pool = ThreadPoolExecutor(num_workers)
    try:
        pending: set[Future[EpisodeRecord]] = {
            pool.submit(function, unit) for unit in islice(remaining, 2 * num_workers)
        }
        while pending:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            for future in finished:
                yield future.result()
            if not stop():
                pending |= {pool.submit(function, unit) for unit in islice(remaining, len(finished))}
    finally:
        pool.shutdown(wait=True, cancel_futures=True)


def _maker(policy: PolicyLike) -> Callable[[], Policy]:
    if isinstance(policy, type) or not isinstance(policy, Policy):
        if callable(policy):
            return policy
        raise SettingError(
            f"Collecting episodes: expected a policy with name, reset(seed) and act(history), or something that makes "
            f"one, got {type(policy).__name__}. Add what is missing."
        )
    original = policy
    return lambda: copy.deepcopy(original)


def _for(policy: Policy, scenario: Scenario) -> Policy:
    if is_privileged(policy) and isinstance(policy, PrivilegedPolicy):
        return policy.for_scenario(scenario)
    return policy


def sample_environment(env_id: str, kwargs: Mapping[str, Any]) -> InfoQuestEnv:
    """Make one environment, unwrapped.

    Raises:
        SettingError: it is no InfoQuest environment, or its arguments are off.
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


def _choose(scenarios: Sequence[Scenario], ids: Sequence[str] | None) -> list[Scenario]:
    if ids is None:
        return list(scenarios)
    by_id = {scenario.id: scenario for scenario in scenarios}
    unknown = [i for i in ids if i not in by_id]
    if unknown:
        raise SettingError(
            f"Collecting episodes: expected ids of scenarios, got {unknown[0]!r}. "
            f"Known: {', '.join(list(by_id)[:6])}, ..."
        )
    return [by_id[i] for i in dict.fromkeys(ids)]
