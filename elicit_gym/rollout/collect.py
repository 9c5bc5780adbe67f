"""Many episodes: any number of scenarios and repeats, in parallel, saved as they finish, resumed after a kill."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from elicit_gym.envs.arguments import whole_number
from elicit_gym.envs.infoquest import check_parts
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import SettingError
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.llm.runtime import current_runtime
from elicit_gym.policy import NetworkBoundPolicy, Policy, PolicyLike, is_privileged
from elicit_gym.registration import DEFAULT_ENV
from elicit_gym.reporting.progress import progress_bar
from elicit_gym.rollout.admission import Admission
from elicit_gym.rollout.interrupts import two_stages
from elicit_gym.rollout.lock_step import in_lock_step, run_in_lock_step
from elicit_gym.rollout.manifest import RunManifest, describe_policies, describe_run
from elicit_gym.rollout.storage import RunStore
from elicit_gym.rollout.units import PolicyMaker, Say, Stop, Unit, UnitRunner, Units, sample_environment
from elicit_gym.rollout.workers import run_in_processes, run_in_threads
from elicit_gym.types import Scenario
from elicit_gym.user_simulators.scripted import ScriptedUserSimulator

__all__ = ["DEFAULT_ENV", "Backend", "collect_episodes", "collect_policies", "environment_scenarios"]

PROCESSES_FROM = 1_000
"""The number of scripted episodes from which processes pay: starting one takes as long as hundreds of episodes."""

Backend = Callable[[UnitRunner, Sequence[Policy], Sequence[Unit], int, Stop, Say], Iterator[EpisodeRecord]]
"""What runs units elsewhere; see `elicit_gym.rollout.ray_backend`. A unit may come back twice and counts once."""


def collect_episodes(
    policy: PolicyLike,
    env_id: str = DEFAULT_ENV,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    scenario_ids: Sequence[str] | None = None,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 1,
    backend: Backend | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    keep: bool = True,
    progress: bool = False,
) -> list[EpisodeRecord]:
    """Roll out a policy over scenarios and repeats.

    Args:
        policy: a policy, or something that makes one. With several workers each has its own.
        env_id: a registered InfoQuest environment, Gymnasium's ``module:id``, or ``module:Class``.
        env_kwargs: arguments for it; all others are its own.
        scenario_ids: which scenarios; all of the environment's by default.
        repeats: episodes for each scenario.
        seed: the base seed. Each episode's seeds derive from (seed, scenario, repeat), so that the records do not
            depend on `concurrency`.
        concurrency: the number of conversations at once, of all workers together; a cluster's actors have at least one
            each. Those of a policy that calls models over a network go at their own pace; those of a local model
            (`BatchPolicy`) go in lock-step and are answered in batches; scripted episodes go to processes if there are
            at least a thousand.
        backend: what runs the episodes elsewhere, such as `elicit_gym.rollout.ray_backend.RayBackend`.
        out: a folder to write ``episodes.jsonl`` and ``manifest.json`` to.
        resume: continue the run in `out`; its finished episodes are not made again.
        keep: False returns nothing and holds nothing in memory: the records are in `out`.
        progress: show a progress bar.

    Returns:
        One record per (scenario, repeat), in that order, failed episodes included; fewer if a budget ended the run.

    Raises:
        SettingError: an argument is invalid.
        ManifestMismatchError: `resume` is on and the settings of the saved run differ.
        FatalModelError: no call to a model can succeed; what was finished is saved.
        KeyboardInterrupt: Ctrl-C was pressed; what was under way was finished and is saved. A second Ctrl-C does not
            wait for it (`elicit_gym.rollout.interrupts.Killed`).
    """
    records, _ = collect_policies(
        [policy],
        env_id,
        env_kwargs=env_kwargs,
        scenario_ids=scenario_ids,
        repeats=repeats,
        seed=seed,
        concurrency=concurrency,
        backend=backend,
        out=out,
        resume=resume,
        keep=keep,
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
    concurrency: int = 1,
    backend: Backend | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    keep: bool = True,
    progress: bool = False,
    config: str | None = None,
) -> tuple[list[EpisodeRecord], RunManifest]:
    """Roll out several policies on the same units; see `collect_episodes`, and `elicit_gym.evaluation.compare.compare`.

    Returns:
        The records, ordered by policy, scenario and repeat, and the manifest.
    """
    repeats = whole_number("Collecting episodes", "repeats", repeats, 1)
    concurrency = whole_number("Collecting episodes", "concurrency", concurrency, 1)
    seed = whole_number("Collecting episodes", "seed", seed)
    if not keep and out is None:
        raise SettingError("Collecting episodes: expected a folder for records that are not kept, got none. Give out.")
    kwargs = dict(env_kwargs or {})
    makers = [PolicyMaker(policy) for policy in policies]
    samples = [make() for make in makers]
    names = _different_names(samples)
    sample_env = sample_environment(env_id, kwargs)
    chosen = _choose(sample_env.scenarios, scenario_ids)
    manifest = describe_run(
        sample_env,
        describe_policies(samples),
        privileged=[policy.name for policy in samples if is_privileged(policy)],
        repeats=repeats,
        seed=seed,
    )
    units = Units(range(len(makers)), [scenario.id for scenario in chosen], repeats)
    runner = UnitRunner(env_id, kwargs, makers, seed)
    admission = Admission(current_runtime(), runner, samples)
    check = partial(check_parts, *samples)
    store = RunStore(Path(out), manifest, resume=resume, check=check, config=config) if out is not None else None
    done: dict[int, EpisodeRecord | None] = {}
    try:
        if store:
            admission.resume(store.folder, store.manifest)
            there = ((_place(units, names, record), record) for record in store.take_records().values())
            done = {at: record if keep else None for at, record in there if at is not None}
        else:
            check()
        todo = units.without(done)
        with (
            two_stages() as interrupts,
            progress_bar("episodes", len(units), done=len(units) - len(todo), show=progress) as advance,
        ):
            run = partial(_run, runner, samples, todo, concurrency, stop=lambda: interrupts.count > 0)
            for record in run(say=advance.say, backend=backend, admission=admission):
                at = _place(units, names, record)
                # It may be made twice, after a worker was lost; the budget may cut it off, and it is made when resumed.
                if at is None or at in done or not admission.take(record, elsewhere=backend is not None):
                    continue
                if keep or backend is not None:
                    done[at] = record if keep else None
                if store:
                    store.append(record)
                    store.note(admission.books)
                advance()
        if interrupts.count:
            raise KeyboardInterrupt
        manifest = replace(manifest, stopped=admission.stopped(len(units)), spent=admission.books()[0])
    except Exception:
        if store:
            store.fail(admission.books)
        raise
    finally:
        admission.close()
        if store:
            store.close(admission.books, stopped=manifest.stopped)
    return [record for _, record in sorted(done.items()) if record is not None], manifest


def _run(
    runner: UnitRunner,
    samples: Sequence[Policy],
    todo: Units,
    concurrency: int,
    *,
    stop: Stop,
    say: Say,
    backend: Backend | None,
    admission: Admission,
) -> Iterator[EpisodeRecord]:
    """Choose by policy how its conversations run at the same time."""
    if backend is not None:
        yield from backend(runner, samples, todo, concurrency, stop, say)
        return
    together = [index for index, policy in enumerate(samples) if concurrency > 1 and in_lock_step(policy)]
    for index in together:
        yield from run_in_lock_step(runner, admission.units(todo.of([index])), concurrency, stop)
    apart = todo.of([index for index in range(len(samples)) if index not in together])
    if concurrency > 1 and len(apart) >= PROCESSES_FROM and _is_plain(runner, samples):
        yield from run_in_processes(runner, apart, concurrency, stop)
    else:
        yield from run_in_threads(runner, admission.units(apart), concurrency, stop)


def _is_plain(runner: UnitRunner, samples: Sequence[Policy]) -> bool:
    """Say whether all work is done in Python, so that threads do not speed it up, and can go to other processes."""
    import cloudpickle

    sample = runner.sample
    scripted = isinstance(sample.user_simulator, ScriptedUserSimulator) and isinstance(sample.judge, ScriptedJudge)
    if not scripted or any(isinstance(policy, NetworkBoundPolicy) for policy in samples):
        return False
    try:
        cloudpickle.dumps(runner)
    except Exception:  # a user's policy may hold anything
        return False
    return True


def environment_scenarios(env_id: str, env_kwargs: Mapping[str, Any]) -> tuple[Scenario, ...]:
    """Return the scenarios that an environment draws from.

    Raises:
        SettingError: it is not an InfoQuest environment, or its arguments are invalid.
    """
    return sample_environment(env_id, env_kwargs).scenarios


def _different_names(policies: Sequence[Policy]) -> list[str]:
    names = [policy.name for policy in policies]
    if len(set(names)) != len(names):
        twice = sorted({name for name in names if names.count(name) > 1})
        raise SettingError(
            f"Collecting episodes: expected policies with different names, got {', '.join(map(repr, twice))} twice. "
            "Leave one out, or give it another name."
        )
    return names


def _place(units: Units, names: Sequence[str], record: EpisodeRecord) -> int | None:
    """Return where a record's unit stands among all; None where it is none of them."""
    policy, scenario_id, repeat = record.unit
    return units.place(Unit(names.index(policy), scenario_id, repeat)) if policy in names else None


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
