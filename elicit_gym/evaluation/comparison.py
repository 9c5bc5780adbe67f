"""The result of a comparison: summaries of policies and pairs, and the records behind them."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import StorageError
from elicit_gym.evaluation.failures import SHORT_FIRST, failure_notes
from elicit_gym.evaluation.report import write_report
from elicit_gym.evaluation.summary import PairSummary, PolicySummary, summarise_pairs, summarise_policies
from elicit_gym.json_files import write_json
from elicit_gym.rollout.manifest import RunManifest
from elicit_gym.rollout.usage import UsageRow, usage_of_run, usage_table
from elicit_gym.types import Scenario

__all__ = ["Comparison", "comparison_of"]


@dataclass(frozen=True, kw_only=True)
class Comparison:
    """The result of a comparison.

    Attributes:
        policies: one summary per policy.
        pairs: one summary per pair of policies.
        usage: what each seat that holds a model spent.
        records: every episode.
        scenarios: to show conversations beside their checklists; none where they are not at hand.
        manifest: what it was made with.
    """

    policies: tuple[PolicySummary, ...]
    pairs: tuple[PairSummary, ...]
    usage: tuple[UsageRow, ...]
    records: tuple[EpisodeRecord, ...]
    scenarios: tuple[Scenario, ...]
    manifest: RunManifest

    def to_row(self) -> dict[str, Any]:
        """Convert the numbers to JSON types."""
        return {
            "policies": [policy.to_row() for policy in self.policies],
            "pairs": [pair.to_row() for pair in self.pairs],
            "usage": [row.to_row() for row in self.usage],
            "stopped": self.manifest.stopped,
            "warning": SHORT_FIRST if self.manifest.stopped else None,
        }

    def without_a_result(self) -> list[str]:
        """Return one sentence for each policy of which not a single episode was finished: in which seat, and why."""
        lines = []
        for description in self.manifest.policies:
            own = [record for record in self.records if record.policy == description.name]
            if any(record.failure is None for record in own):
                continue
            why = "; ".join(note for note in failure_notes(own)) or self.manifest.stopped or "None was started."
            lines.append(f"{description.name}: no episode was finished. {why}")
        return lines

    def save(self, folder: str | Path) -> Path:
        """Write ``summary.json``, the figures and ``report.html`` into a folder.

        Returns:
            The path of the report.
        """
        folder = Path(folder)
        write_json(folder / "summary.json", self.to_row())
        return write_report(
            folder,
            policies=self.policies,
            pairs=self.pairs,
            usage=self.usage,
            records=self.records,
            scenarios=self.scenarios,
            manifest=self.manifest,
        )


def comparison_of(records: Sequence[EpisodeRecord], scenarios: Sequence[Scenario], manifest: RunManifest) -> Comparison:
    """Compare records that are there already.

    Args:
        records: of any number of policies.
        scenarios: to show conversations beside their checklists.
        manifest: of the run.

    Raises:
        StorageError: an episode is longer than the manifest's turns.
    """
    max_turns = manifest.environment.max_turns
    for record in records:
        if len(record.episode.turns) > max_turns:
            raise StorageError(
                f"Comparing policies: expected episodes of at most {max_turns} turns, as the manifest says, got one of "
                f"{len(record.episode.turns)} ({record.policy!r} in {record.scenario_id!r}). The files do not belong "
                "together."
            )
    return Comparison(
        policies=tuple(summarise_policies(records, max_turns=max_turns, privileged=manifest.privileged)),
        pairs=tuple(summarise_pairs(records)),
        usage=tuple(usage_of_run(manifest.spent) or usage_table(records)),
        records=tuple(records),
        scenarios=tuple(scenarios),
        manifest=manifest,
    )
