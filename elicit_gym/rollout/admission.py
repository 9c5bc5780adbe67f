"""Which episodes a budget lets start: a run's units, handed out one by one as long as there is money for them."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import FailureSource
from elicit_gym.llm.runtime import Runtime
from elicit_gym.llm.spending import Account, Episode, Spent, SpentRow
from elicit_gym.policy import Policy
from elicit_gym.rollout.estimate import check_prices, estimate_usage
from elicit_gym.rollout.manifest import RunManifest
from elicit_gym.rollout.storage import Books
from elicit_gym.rollout.units import Unit, UnitRunner

__all__ = ["Admission"]

_CUT: FailureSource = "budget"
SORTED_UP_TO = 1_000_000
"""Units that are put in another order: more than that are made one by one, policy by policy."""


class Admission:
    """A run's view of the budget: what it may start, and what it has spent.

    Args:
        runtime: with the budget and the prices.
        runner: what makes the episodes.
        samples: one policy of each kind, by the units' index.

    Raises:
        SettingError: there is a budget in dollars, and a model whose price is unknown.
    """

    def __init__(self, runtime: Runtime, runner: UnitRunner, samples: Sequence[Policy]) -> None:
        self._budget, self._prices = runtime.budget, runtime.prices
        self._runner, self._samples = runner, samples
        self._names = [policy.name for policy in samples]
        self._mark = self._budget.ledger.snapshot()
        self._before: tuple[SpentRow, ...] = ()
        self._started: set[Episode] = set()
        self._handed_out: list[AdmittedUnits] = []
        self._cut: str | None = None
        self._num_cut = 0
        parts = runner.sample.parts
        check_prices(self._budget, self._prices, samples, user_simulator=parts.user_simulator, judge=parts.judge)

    def resume(self, folder: Path, manifest: RunManifest) -> None:
        """Count what the run has spent in earlier processes, and learn from it what an episode costs.

        Args:
            folder: of the run.
            manifest: of the run as it was found; a new one says nothing.
        """
        self._before = manifest.spent
        self._budget.count_before(str(folder.resolve()), sum((row.spent for row in manifest.spent), Spent()))
        self._budget.learn(manifest.episode_costs)

    def units(self, units: Sequence[Unit]) -> "AdmittedUnits":
        """Return units as an iterable that hands out those that may start now, and goes on when it is asked again.

        Under a budget, all policies play the first scenario before the next one's turn: what there is money for can be
        compared.
        """
        if self._budget.limited:
            for policy in self._samples:
                self._estimate(policy)
            if len(units) <= SORTED_UP_TO:
                order = {scenario.id: index for index, scenario in enumerate(self._runner.sample.scenarios)}
                units = sorted(units, key=lambda unit: (unit.repeat, order[unit.scenario_id], unit.policy))
        self._handed_out.append(AdmittedUnits(self, units))
        return self._handed_out[-1]

    def start(self, unit: Unit) -> bool:
        """Say whether a unit may start, and set its cost aside if so."""
        episode = (self._names[unit.policy], unit.scenario_id, unit.repeat)
        if not self._budget.start(episode):
            return False
        self._started.add(episode)
        return True

    def take(self, record: EpisodeRecord, *, elsewhere: bool = False) -> bool:
        """Note that an episode has ended. Returns whether it counts: one that the budget has cut off does not.

        Args:
            record: of the episode.
            elsewhere: whether it was made on another machine, whose calls are counted from the record.
        """
        if elsewhere:
            for usage in (usage for turn in record.episode.turns for usage in turn.usage):
                self._budget.charge(
                    Account(policy=record.policy, seat=usage.seat, model=usage.model),
                    Spent(
                        calls=usage.calls,
                        input_tokens=usage.input_tokens,
                        output_tokens=usage.output_tokens,
                        cost_usd=usage.cost_usd or 0.0,
                        unpriced_calls=usage.calls if usage.cost_usd is None else 0,
                    ),
                )
        cut = record.failure is not None and record.failure.source == _CUT
        self._budget.finish(record.unit, whole=record.failure is None)
        self._started.discard(record.unit)
        if record.failure is not None and cut:
            self._num_cut += 1
            self._cut = self._cut or record.failure.message
            return False
        return True

    def close(self) -> None:
        """Release what is set aside for episodes that will not end any more."""
        for episode in self._started:
            self._budget.finish(episode, whole=False)
        self._started.clear()

    def books(self) -> Books:
        """Return what the run has spent, in earlier processes and in this one, and what its episodes cost."""
        return self._budget.ledger.rows(self._mark, self._before), self._budget.learned(self._names)

    def stopped(self, num_units: int) -> str | None:
        """Return why the budget ended the run, and after how many of its episodes; None where it did not."""
        left = sum(map(len, self._handed_out))
        num_done = num_units - left - self._num_cut
        reason = self._cut or (self._budget.reason() if left else None)
        return None if reason is None else f"{reason} {num_done:,} of {num_units:,} episodes are there."

    def _estimate(self, policy: Policy) -> None:
        sample = self._runner.sample
        rows = estimate_usage(
            sample.scenarios,
            repeats=1,
            max_turns=sample.max_turns,
            user_simulator=sample.user_simulator,
            judge=sample.judge,
            policies=[policy],
            prices=self._prices,
        )
        tokens = sum(row.input_tokens + row.output_tokens for row in rows) / len(sample.scenarios)
        usd = sum(row.cost_usd or 0.0 for row in rows) / len(sample.scenarios)
        self._budget.expect(policy.name, (tokens, usd))


class AdmittedUnits:
    """Units that may start now; where iterating has ended, it goes on once there is room again.

    Args:
        admission: that decides.
        units: in the order in which they start.
    """

    def __init__(self, admission: Admission, units: Sequence[Unit]) -> None:
        self._admission, self._units, self._next = admission, units, 0

    def __len__(self) -> int:
        return len(self._units) - self._next

    def __iter__(self) -> Iterator[Unit]:
        return self

    def __next__(self) -> Unit:
        if self._next >= len(self._units) or not self._admission.start(self._units[self._next]):
            raise StopIteration
        self._next += 1
        return self._units[self._next - 1]
