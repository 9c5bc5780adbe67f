"""What the import shows: speakers and roles, guesses, and what was left out."""

from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from elicit_gym.envs.render import printable
from elicit_gym.offline.importing.api import ImportedTranscript, LeftOut

__all__ = ["print_import_review"]

_MAX_ROWS = 60


def print_import_review(imported: Sequence[ImportedTranscript], console: Console | None = None) -> None:
    """Print a row for each speaker, and for each file its layout, characters, guesses and what was left out."""
    console = console or Console()
    encoding = console.encoding or "utf-8"

    def shown(text: str) -> str:
        return printable(text).encode(encoding, "replace").decode(encoding)

    table = Table(title="Speakers and roles", title_justify="left")
    for name in ("dialogue", "speaker", "role", "from"):
        table.add_column(name)
    for name in ("turns", "words", "with questions"):
        table.add_column(name, justify="right")
    rows = [row for transcript in imported for row in transcript.review]
    for row in rows[:_MAX_ROWS]:
        table.add_row(
            Text(shown(row.dialogue_id)), Text(shown(row.speaker)), row.role, row.source,
            f"{row.turns:,}", f"{row.words:,}", f"{row.questions:.0%}",
        )  # fmt: skip
    console.print(table)
    if len(rows) > _MAX_ROWS:
        console.print(f"... and {len(rows) - _MAX_ROWS:,} more speakers.")
    for transcript in imported:
        for line in _lines(transcript):
            console.print(Text(shown(line)), soft_wrap=True)


def _lines(transcript: ImportedTranscript) -> list[str]:
    c = transcript.characters
    encoding = f", {transcript.encoding}" if transcript.encoding else ""
    many = f", {len(transcript.dialogues):,} dialogues" if len(transcript.dialogues) > 1 else ""
    return [
        f"{transcript.path.name}: {transcript.layout}{encoding}{many}. {c['source']:,} characters: "
        f"{c['text']:,} of text, {c['labels']:,} of names and times, {c['marks']:,} of their marks, {c['left out']:,} left out.",
        *(f"  {note}" for note in transcript.notes),
        *(f"  left out: {_left_out(entry)}" for entry in transcript.left_out),
    ]


def _left_out(entry: LeftOut) -> str:
    examples = "; ".join(repr(example) for example in entry.examples)
    more = "; ..." if entry.count > len(entry.examples) else ""
    kept = ", kept in the metadata" if entry.kept else ""
    return f"{entry.what} ({entry.count:,}, {entry.characters:,} characters{kept}): {examples}{more}"
