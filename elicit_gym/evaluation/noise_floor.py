"""How large a difference must be to mean anything: a policy compared with itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elicit_gym.evaluation.failures import failure_notes
from elicit_gym.evaluation.metrics import total_reward
from elicit_gym.evaluation.summary import UNIT, return_bounds
from elicit_gym.llm.runtime import current_runtime
from elicit_gym.policy import PolicyLike
from elicit_gym.rollout.collect import DEFAULT_ENV, collect_policies
from elicit_gym.rollout.manifest import RunManifest
from elicit_gym.rollout.usage import UsageRow, usage_of_run
from elicit_gym.statistics.estimates import Estimate, cluster_mean

__all__ = ["NoiseFloor", "noise_floor"]


@dataclass(frozen=True, kw_only=True)
class NoiseFloor:
    """What chance alone does to a comparison of this size.

    Attributes:
        policy: the policy's name.
        num_scenarios: the number of scenarios compared.
        by_repeats: for 1, 2, ... repeats, the mean difference between the policy and itself under other seeds, with
            its interval.
        mean_return: of all its episodes; the width of its interval is the part that more repeats cannot shrink, only
            more scenarios.
        num_changed: units whose return changed with the seed, of `num_units`.
        manifest: of the first of the two runs.
        usage: what both runs' calls to models have cost.
        problems: what failed or ended one of them early, in sentences.
    """

    policy: str
    num_scenarios: int
    by_repeats: tuple[Estimate, ...]
    mean_return: Estimate
    num_changed: int
    num_units: int
    manifest: RunManifest
    usage: tuple[UsageRow, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def floors(self) -> tuple[float | None, ...]:
        """For 1, 2, ... repeats, the largest difference that chance alone makes plausible (95 %), None if unknown."""
        return tuple(None if e.low is None or e.high is None else max(abs(e.low), abs(e.high)) for e in self.by_repeats)

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {
            "policy": self.policy,
            "num_scenarios": self.num_scenarios,
            "by_repeats": [estimate.to_row() for estimate in self.by_repeats],
            "floors": list(self.floors),
            "mean_return": self.mean_return.to_row(),
            "num_changed": self.num_changed,
            "num_units": self.num_units,
            "usage": [row.to_row() for row in self.usage],
            "problems": list(self.problems),
            "manifest": self.manifest.to_json(),
        }


def noise_floor(
    policy: PolicyLike,
    env_id: str = DEFAULT_ENV,
    *,
    env_kwargs: Mapping[str, Any] | None = None,
    scenario_ids: Sequence[str] | None = None,
    repeats: int = 3,
    seed: int = 0,
    concurrency: int = 1,
    progress: bool = False,
) -> NoiseFloor:
    """Run a policy twice on the same units under different seeds, and see how far it seems to differ from itself.

    Args:
        policy: the policy.
        env_id: a registered InfoQuest environment.
        env_kwargs: the environment's arguments.
        scenario_ids: the scenarios to play; all by default.
        repeats: the largest number of repeats to look at.
        seed: the base seed of the first run; the second has the next.
        concurrency: the number of conversations at once.
        progress: show progress bars.

    Returns:
        The interval of the difference for each number of repeats: what lies inside it is noise.
    """
    ledger = current_runtime().budget.ledger
    mark = ledger.snapshot()
    both = [
        collect_policies(
            [policy],
            env_id,
            env_kwargs=env_kwargs,
            scenario_ids=scenario_ids,
            repeats=repeats,
            seed=base_seed,
            concurrency=concurrency,
            progress=progress,
        )
        for base_seed in (seed, seed + 1)
    ]
    runs = [records for records, _ in both]
    second = {record.unit: record for record in runs[1] if record.failure is None}  # a budget may end a run early
    pairs = [(a, second[a.unit]) for a in runs[0] if a.failure is None and a.unit in second]
    by_repeats = []
    for count in range(1, repeats + 1):
        chosen = [(a, b) for a, b in pairs if a.repeat < count]
        by_repeats.append(
            cluster_mean(
                [total_reward(a) - total_reward(b) for a, b in chosen],
                [a.episode.opening_message for a, _ in chosen],
                unit=UNIT,
            )
        )
    finished = [record for run in runs for record in run if record.failure is None]
    return NoiseFloor(
        policy=both[0][1].names[0],
        num_scenarios=len({record.scenario_id for record in runs[0]}),
        by_repeats=tuple(by_repeats),
        mean_return=cluster_mean(
            [total_reward(record) for record in finished],
            [record.episode.opening_message for record in finished],
            unit=UNIT,
            bounds=return_bounds(finished),
        ),
        num_changed=sum(total_reward(a) != total_reward(b) for a, b in pairs),
        num_units=len(pairs),
        manifest=both[0][1],
        usage=tuple(usage_of_run(ledger.rows(mark))),
        problems=(
            *failure_notes([record for run in runs for record in run]),
            *(manifest.stopped for _, manifest in both if manifest.stopped),
        ),
    )
