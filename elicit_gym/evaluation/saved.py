"""Saved conversations from either source: a run's folder, or a file of published chats."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import StorageError
from elicit_gym.evaluation.compare import compare_runs
from elicit_gym.evaluation.comparison import Comparison, comparison_of
from elicit_gym.rollout.manifest import make_manifest
from elicit_gym.rollout.published_chats import load_published_chats, policy_of_chats
from elicit_gym.scenarios.load import load_scenarios

__all__ = ["LoadedRun", "load_any_run"]


class LoadedRun:
    """Records with their scenarios, wherever they come from.

    Args:
        comparison: the comparison of these records.
    """

    def __init__(self, comparison: Comparison) -> None:
        self._comparison = comparison
        self.records = comparison.records
        self.scenarios = comparison.scenarios

    @property
    def comparison(self) -> Comparison:
        """The records with the verdicts of the run."""
        return self._comparison

    def with_records(self, records: Sequence[EpisodeRecord]) -> Comparison:
        """Return the comparison of the same conversations under other verdicts."""
        return comparison_of(records, self.scenarios, self._comparison.manifest)


def load_any_run(path: Path, scenarios: str | None = None) -> LoadedRun:
    """Load a run's folder, or a published ``chats-*.jsonl`` file.

    Args:
        path: the folder or the file.
        scenarios: where the scenarios are; by default the run's own, or the folder that the chats file lies in.

    Raises:
        StorageError: it cannot be read.
        ScenarioError: the scenarios cannot be read.
    """
    if path.is_dir():
        comparison = compare_runs([path])
        if scenarios is not None:
            comparison = replace(comparison, scenarios=load_scenarios(scenarios))
        return LoadedRun(comparison)
    if not path.is_file():
        raise StorageError(f"Reading {path}: expected a run's folder or a chats file, got no such path. Check it.")
    source = scenarios or str(path.parent)
    loaded = load_scenarios(source)
    records = load_published_chats(path, {scenario.id: scenario.opening_message for scenario in loaded})
    manifest = make_manifest(
        env_id="infoquest/published",
        env_kwargs={"chats": path.name},
        scenarios=loaded,
        policies=[policy_of_chats(path)],
        privileged=[],
        repeats=1,
        seed=0,
    )
    return LoadedRun(comparison_of(records, loaded, {**manifest, "stopped": None}))
