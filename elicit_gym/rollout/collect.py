"""Many episodes: any number of scenarios and repeats, in parallel, saved as they finish, resumed after a kill."""

import copy
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from itertools import islice
from pathlib import Path
from threading import local
from typing import Any

import gymnasium as gym

from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import SettingError
from elicit_gym.policy import Policy, PolicyLike, PrivilegedPolicy, is_privileged
from elicit_gym.rollout.manifest import make_manifest
from elicit_gym.rollout.progress import progress_bar
from elicit_gym.rollout.run_episode import run_episode
from elicit_gym.rollout.storage import RunStore
from elicit_gym.types import Scenario

__all__ = ["DEFAULT_ENV", "collect_episodes", "collect_policies", "environment_scenarios"]

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
        One record for each (scenario, repeat), in that order; failed episodes are among them.

    Raises:
        SettingError: an argument is off.
        ManifestMismatchError: `resume` is on and the settings of the saved run differ.
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
    scenarios = environment_scenarios(env_id, kwargs)
    chosen = _choose(scenarios, scenario_ids)
    manifest = make_manifest(
        env_id=env_id,
        env_kwargs=kwargs,
        scenarios=scenarios,
        policies=names,
        privileged=[policy.name for policy in samples if is_privileged(policy)],
        repeats=repeats,
        seed=seed,
    )
    units = [(p, scenario, repeat) for p in range(len(makers)) for scenario in chosen for repeat in range(repeats)]
    store = RunStore(Path(out), manifest, resume=resume) if out is not None else None
    done: dict[tuple[str, str, int], EpisodeRecord] = dict(store.records) if store else {}
    todo = [unit for unit in units if (names[unit[0]], unit[1].id, unit[2]) not in done]
    workers = local()

    def run(unit: tuple[int, Scenario, int]) -> EpisodeRecord:
        index, scenario, repeat = unit
        if not hasattr(workers, "env"):
            workers.env = gym.make(env_id, disable_env_checker=True, **kwargs)
            workers.policies = {}
        policy = workers.policies.get(index)
        if policy is None:
            policy = workers.policies[index] = makers[index]()
        return run_episode(workers.env, _for(policy, scenario), scenario_id=scenario.id, repeat=repeat, seed=seed)

    try:
        with progress_bar("episodes", len(units), done=len(units) - len(todo), show=progress) as advance:
            for record in _map(run, todo, num_workers):
                done[record.unit] = record
                if store:
                    store.append(record)
                advance()
    finally:
        if store:
            store.close()
    return [done[(names[p], scenario.id, repeat)] for p, scenario, repeat in units], manifest


def environment_scenarios(env_id: str, env_kwargs: Mapping[str, Any]) -> tuple[Scenario, ...]:
    """Return the scenarios that an environment draws from.

    Raises:
        SettingError: it is no InfoQuest environment, or its arguments are off.
    """
    return _env_of(env_id, env_kwargs).scenarios


def _map(
    function: Callable[[tuple[int, Scenario, int]], EpisodeRecord],
    units: Sequence[tuple[int, Scenario, int]],
    num_workers: int,
) -> Any:
    """Yield results as they come; with several workers no more units are handed out than can be under way."""
    if num_workers == 1:
        yield from map(function, units)
        return
    remaining = iter(units)
    pool = ThreadPoolExecutor(num_workers)
    try:
        pending: set[Future[EpisodeRecord]] = {
            pool.submit(function, unit) for unit in islice(remaining, 2 * num_workers)
        }
        while pending:
            finished, pending = wait(pending, return_when=FIRST_COMPLETED)
            pending |= {pool.submit(function, unit) for unit in islice(remaining, len(finished))}
            for future in finished:
                yield future.result()
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


def _env_of(env_id: str, kwargs: Mapping[str, Any]) -> InfoQuestEnv:
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
