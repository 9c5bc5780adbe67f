"""Saved conversations from either source: a run's folder, or a file of published chats."""

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from elicit_gym.envs.description import EnvironmentDescription, ScenarioSet
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import SettingError, StorageError
from elicit_gym.evaluation.compare import compare_runs
from elicit_gym.evaluation.comparison import Comparison, comparison_of
from elicit_gym.registry import REWARDS
from elicit_gym.rewards import Reward
from elicit_gym.rollout.manifest import RunManifest, run_facts
from elicit_gym.rollout.published_chats import load_published_chats, policy_of_chats
from elicit_gym.scenarios.load import load_scenarios, scenarios_sha256
from elicit_gym.types import Description, Scenario

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
    def max_turns(self) -> int:
        """Messages that an agent may send in the run's environment."""
        return self._comparison.manifest.environment.max_turns

    def reward(self) -> Reward:
        """Make the run's reward anew; only a registered name is made, whatever the manifest says.

        Raises:
            SettingError: the manifest does not name it as the registry does, so that it cannot be made from there.
        """
        reward = self._comparison.manifest.environment.reward
        if reward.name not in REWARDS.names():
            raise SettingError(
                f"Making the run's reward: expected one of {', '.join(REWARDS.names())} in its manifest, got "
                f"{reward.name!r}. Call elicit_gym.evaluation.rejudge.rejudge with the reward itself."
            )
        return cast(Reward, REWARDS.make(reward.name, reward.settings))

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
        path: of either.
        scenarios: where the scenarios are; by default those that the run names, where the name is a known one, or
            the folder that the chats file lies in.

    Raises:
        StorageError: it cannot be read.
        ScenarioError: the scenarios cannot be read.
    """
    if path.is_dir():
        return LoadedRun(compare_runs([path], scenarios))
    if not path.is_file():
        raise StorageError(f"Reading {path}: expected a run's folder or a chats file, got no such path. Check it.")
    source = scenarios or str(path.parent)
    loaded = load_scenarios(source)
    records = load_published_chats(path, {scenario.id: scenario.opening_message for scenario in loaded})
    return LoadedRun(comparison_of(records, loaded, _manifest_of_chats(path, records, loaded, source)))


def _manifest_of_chats(
    path: Path, records: Sequence[EpisodeRecord], scenarios: Sequence[Scenario], source: str
) -> RunManifest:
    """Describe conversations that somebody else made: what is not in the file is not known."""
    kind = "infoquest/published"
    return RunManifest(
        env_id=kind,
        environment=EnvironmentDescription(
            kind=kind,
            max_turns=max((len(record.episode.turns) for record in records), default=1),
            user_simulator=Description(name=path.name, kind=kind),
            judge=Description(name=path.name, kind=kind),
            reward=Description(name="checklist_gain", kind=kind),
        ),
        scenarios=ScenarioSet(count=len(scenarios), sha256=scenarios_sha256(scenarios), source=source),
        policies=(Description(name=policy_of_chats(path), kind=kind),),
        privileged=(),
        seed=0,
        repeats=1,
        made=run_facts(()),
    )
