"""What failed, in whose seat and why, in sentences; and what a run that ended early says of its means."""

from collections.abc import Sequence

from elicit_gym.episode import EpisodeRecord, Failure

__all__ = ["SHORT_FIRST", "failure_notes"]

SHORT_FIRST = (
    "The run was stopped early: the means are over the episodes that were finished, and short episodes finish first."
)
"""The warning beside every mean of a run that ended before all of its episodes were made."""


def failure_notes(records: Sequence[EpisodeRecord]) -> list[str]:
    """Return one sentence for each kind of failure, with its number and the cause of the first of that kind.

    Args:
        records: of one policy, or of one run.
    """
    kinds: dict[tuple[str, str | None], list[Failure]] = {}
    for record in records:
        if record.failure is not None:
            kinds.setdefault((record.failure.source, record.failure.seat), []).append(record.failure)
    return [_note(source, seat, failures) for (source, seat), failures in kinds.items()]


def _note(source: str, seat: str | None, failures: Sequence[Failure]) -> str:
    whose = source.replace("_", " ")
    where = f" in the seat of the {seat.replace('_', ' ')}" if seat is not None and seat != source else ""
    return f"{len(failures)} failed by the {whose}{where}. First: {failures[0].message}"
