"""What the import shows: speakers and roles, guesses, and what was left out."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from elicit_gym.offline.importing.build import ImportedTranscript, LeftOut
from elicit_gym.offline.importing.roles import SpeakerReview
from elicit_gym.reporting.terminal import printable

__all__ = ["print_import_review"]

_MAX_ROWS = 60


def print_import_review(
    imported: Sequence[ImportedTranscript],
    console: Console | None = None,
    *,
    out: Path | None = None,
    others: Sequence[Path] = (),
) -> None:
    """Print a row for each speaker, and for each file its layout, characters, guesses and what was left out.

    A terminal that cannot show a character gets a question mark in its place.

    Args:
        imported: what was read.
        console: where to.
        out: the file that was written, if one was.
        others: files in the folders that are not transcripts.
    """
    console = console or Console()
    encoding = console.encoding or "utf-8"

    def shown(text: str) -> Text:
        return Text(printable(text).encode(encoding, "replace").decode(encoding))

    table = Table(title="Speakers and roles", title_justify="left")
    for name in ("dialogue", "speaker", "role", "from"):
        table.add_column(name)
    for name in ("turns", "words", "questions"):
        table.add_column(name, justify="right")
    rows = [row for transcript in imported for row in transcript.review]
    rows = _by_speaker(rows) if len(rows) > _MAX_ROWS else rows
    for row in rows[:_MAX_ROWS]:
        table.add_row(
            shown(row.dialogue_id), shown(row.speaker), row.role, row.source,
            f"{row.turns:,}", f"{row.words:,}", f"{row.questions:.0%}",
        )  # fmt: skip
    console.print(table)
    lines = [f"... and {len(rows) - _MAX_ROWS:,} more speakers."] if len(rows) > _MAX_ROWS else []
    for transcript in imported:
        lines += _lines(transcript)
    if others:
        more = ", ..." if len(others) > 10 else ""
        lines.append(
            f"Not read, for another kind ({len(others):,}): {', '.join(path.name for path in others[:10])}{more}"
        )
    if out is not None:
        number = sum(len(transcript.dialogues) for transcript in imported)
        what = "dialogue" if number == 1 else "dialogues"
        lines.append(f"{out}: {number:,} {what}. Check the roles above; give --role where a guess is wrong.")
    for line in lines:
        console.print(shown(line), soft_wrap=True)


def _by_speaker(rows: Sequence[SpeakerReview]) -> list[SpeakerReview]:
    """Put the rows of equal speakers in many dialogues together."""
    groups: dict[tuple[str, str, str], list[SpeakerReview]] = {}
    for row in rows:
        groups.setdefault((row.speaker, row.role, row.source), []).append(row)
    return [
        SpeakerReview(
            dialogue_id=f"{len(group):,} dialogues" if len(group) > 1 else group[0].dialogue_id,
            speaker=group[0].speaker,
            turns=sum(row.turns for row in group),
            words=sum(row.words for row in group),
            questions=sum(row.turns * row.questions for row in group) / sum(row.turns for row in group),
            role=group[0].role,
            source=group[0].source,
        )
        for group in groups.values()
    ]


def _lines(transcript: ImportedTranscript) -> list[str]:
    c = transcript.characters
    encoding = f", {transcript.encoding}" if transcript.encoding else ""
    many = f", {len(transcript.dialogues):,} dialogues" if len(transcript.dialogues) > 1 else ""
    return [
        f"{transcript.path.name}: {transcript.layout}{encoding}{many}. {c['source']:,} characters: "
        f"{c['text']:,} of text, {c['labels']:,} of names and times, {c['marks']:,} of their marks, "
        f"{c['left out']:,} left out.",
        *(f"  {note}" for note in transcript.notes),
        *(f"  left out: {_left_out(entry)}" for entry in transcript.left_out if not entry.what.startswith("field ")),
        *_fields([entry for entry in transcript.left_out if entry.what.startswith("field ")]),
    ]


def _fields(entries: Sequence[LeftOut]) -> list[str]:
    if not entries:
        return []
    listed = ", ".join(f"{entry.what.removeprefix('field ')} ({entry.count:,})" for entry in entries)
    return [f"  left out: fields that a dialogue has no place for: {listed}"]


def _left_out(entry: LeftOut) -> str:
    examples = "; ".join(repr(example) for example in entry.examples)
    more = "; ..." if entry.count > len(entry.examples) else ""
    kept = ", kept in the metadata" if entry.kept else ""
    return f"{entry.what} ({entry.count:,}, {entry.characters:,} characters{kept}): {examples}{more}"
