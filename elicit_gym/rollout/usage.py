"""What a run spent, by policy, seat and model."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from elicit_gym.episode import EpisodeRecord
from elicit_gym.llm.spending import SpentRow

__all__ = ["UsageRow", "usage_of_run", "usage_table"]


@dataclass(frozen=True, kw_only=True)
class UsageRow:
    """What one seat spent on one model for one policy.

    Attributes:
        calls: those that were answered, usably or not.
        cost_usd: None when a price is unknown; never 0 for that.
        failed_calls: those that were not; what they cost is not known.
        cached_calls: answers of the cache, which cost nothing.
    """

    policy: str
    seat: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    failed_calls: int = 0
    cached_calls: int = 0

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def usage_of_run(spent: Sequence[SpentRow]) -> list[UsageRow]:
    """Return what a run spent by its own books: every call counts, whatever became of it."""
    return [
        UsageRow(
            policy=row.policy or "(no policy)",
            seat=row.seat,
            model=row.model,
            calls=row.calls,
            input_tokens=row.input_tokens,
            output_tokens=row.output_tokens,
            cost_usd=None if row.unpriced_calls else row.cost_usd,
            failed_calls=row.failed_calls,
            cached_calls=row.cached_calls,
        )
        for row in spent
    ]


def usage_table(records: Sequence[EpisodeRecord]) -> list[UsageRow]:
    """Add up what stands in records, for those without books; an answer from the cache counts as what it once cost."""
    sums: dict[tuple[str, str, str], list[Any]] = {}
    for record in records:
        for turn in record.episode.turns:
            for usage in turn.usage:
                entry = sums.setdefault((record.policy, usage.seat, usage.model), [0, 0, 0, 0.0])
                entry[0] += usage.calls
                entry[1] += usage.input_tokens
                entry[2] += usage.output_tokens
                entry[3] = None if entry[3] is None or usage.cost_usd is None else entry[3] + usage.cost_usd
    return [
        UsageRow(
            policy=policy, seat=seat, model=model, calls=calls, input_tokens=given, output_tokens=made, cost_usd=cost
        )
        for (policy, seat, model), (calls, given, made, cost) in sorted(sums.items())
    ]
