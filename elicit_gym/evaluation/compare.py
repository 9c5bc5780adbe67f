"""Compare policies head to head: the same scenarios, the same users, the same repeats."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.evaluation.comparison import Comparison, comparison_of
from elicit_gym.evaluation.saved_scenarios import scenarios_of_run
from elicit_gym.policy import PolicyLike
from elicit_gym.rollout.collect import DEFAULT_ENV, Backend, collect_policies, environment_scenarios
from elicit_gym.rollout.storage import load_run

__all__ = ["compare", "compare_runs"]


def compare(
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
    progress: bool = False,
    config: str | None = None,
) -> Comparison:
    """Roll out policies on the same units and compare them.

    Args:
        policies: the policies, which must have different names.
        env_id: a registered InfoQuest environment.
        env_kwargs: the environment's arguments.
        scenario_ids: the scenarios to play; all by default.
        repeats: the number of episodes per scenario and policy.
        seed: the base seed.
        concurrency: the number of conversations at once; see `elicit_gym.rollout.collect.collect_episodes`.
        backend: what runs the episodes elsewhere; see the same place.
        out: a folder for the episodes, the numbers, the figures and the report.
        resume: continue the run in `out`.
        progress: show a progress bar.
        config: the options that the run was asked for, to be kept as ``run.yaml`` in `out`.

    Returns:
        Summaries with 95 % intervals over opening messages, paired differences with Holm-corrected p-values, and all
        records.

    Raises:
        SettingError: an argument is invalid.
        ManifestMismatchError: `resume` is on and the settings of the saved run differ.
    """
    records, manifest = collect_policies(
        policies,
        env_id,
        env_kwargs=env_kwargs,
        scenario_ids=scenario_ids,
        repeats=repeats,
        seed=seed,
        concurrency=concurrency,
        backend=backend,
        out=out,
        resume=resume,
        progress=progress,
        config=config,
    )
    comparison = comparison_of(records, environment_scenarios(env_id, env_kwargs or {}), manifest)
    if out is not None:
        comparison.save(out)
    return comparison


def compare_runs(folders: Sequence[str | Path], scenarios: str | None = None) -> Comparison:
    """Compare the policies of saved runs. What their files name is text: nothing of it is imported, called or opened.

    Args:
        folders: of the runs; one that is named twice counts once.
        scenarios: where the runs' scenarios are: a known name or a path. By default they are looked for where the runs
            name ``bundled`` or ``infoquest``, and the conversations stand without their checklists where they do not.

    Raises:
        StorageError: a folder holds no readable run.
        ManifestMismatchError: two runs differ in what matters.
        SettingError: two runs have a policy of the same name, or there are other scenarios where the user says.
    """
    named = {Path(folder).resolve(): Path(folder) for folder in folders}
    runs = [(folder, *load_run(folder)) for folder in named.values()]
    if not runs:
        raise SettingError("Comparing runs: expected at least one folder, got none. Name some.")
    first, _, combined = runs[0]
    owner: dict[str, Path] = {}
    for folder, records, theirs in runs:
        theirs.check_same(f"Comparing {folder} with {first}", combined, "Compare runs made with the same settings.")
        for policy in {record.policy for record in records}:
            if owner.setdefault(policy, folder) != folder:
                raise SettingError(
                    f"Comparing runs: expected policies with different names, got {policy!r} in {owner[policy]} and "
                    f"in {folder}. Leave one out."
                )
    for *_, theirs in runs[1:]:
        combined = combined.with_policies_of(theirs)
    merged = [record for _, records, _ in runs for record in records]
    return comparison_of(merged, scenarios_of_run(combined, scenarios), combined)
