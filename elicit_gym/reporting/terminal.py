"""What a terminal shows: text that it can encode, and tables that keep their shape at any width."""

import re
import sys
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

__all__ = ["Column", "echo", "print_table", "print_text", "printable"]

_PIECE = re.compile(r"(?:\[[-−+\d.,% ]*\]|\S)+")
"""What a line break never parts: a word, or an interval in its brackets."""
_BETWEEN = " · "
_JOINERS = "\u200c\u200d"
"""Without these, some scripts and emoji fall apart."""


def printable(text: str) -> str:
    """Return a text as a terminal may show it; whatever comes from a file, a name or a model goes through here.

    Lone surrogates, which no terminal can encode, become question marks. Characters that steer a terminal, turn the
    direction of writing or cannot be seen are escaped; line feeds and tabs stay.
    """
    clean = text.encode("utf-8", "replace").decode("utf-8")
    return clean if clean.isprintable() else "".join(map(_visible, clean))


def _visible(character: str) -> str:
    if character in "\n\t" or character.isprintable() or character in _JOINERS:
        return character
    if unicodedata.category(character) == "Zs":
        return " "
    number = ord(character)
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"


def echo(text: str, *, err: bool = False) -> None:
    """Print a line, as it is and unbroken, on standard output or standard error.

    A terminal that cannot show a character gets a question mark in its place.
    """
    stream = sys.stderr if err else sys.stdout
    encoding = stream.encoding or "utf-8"
    print(printable(text).encode(encoding, "replace").decode(encoding), file=stream, flush=True)


@dataclass(frozen=True)
class Column:
    """A column of a table.

    Attributes:
        title: the column's head.
        right: whether it is flush right, as numbers are.
        optional: whether its values may be listed below the table where the terminal is too narrow for all columns.
    """

    title: str
    right: bool = True
    optional: bool = False


def print_text(text: str, console: Console | None = None, *, style: str = "") -> None:
    """Print a text, broken between words and never inside an interval."""
    console = console or Console()
    for paragraph in printable(text).split("\n"):
        console.print(Text("\n".join(_wrap(paragraph, console.width)), style=style, overflow="fold"))


def print_table(
    title: str,
    columns: Sequence[Column],
    rows: Sequence[Sequence[str] | None],
    *,
    console: Console | None = None,
    header: bool = True,
    dim: Collection[int] = (),
) -> None:
    """Print a table that is at most as wide as the terminal, cuts no name and breaks no interval.

    If a row does not fit on one line, its cells are broken between words. If that is not enough, optional columns are
    listed below the table. If that is not enough either, each row becomes a paragraph.

    Args:
        title: printed above it.
        columns: the columns; the first one names the rows.
        rows: one text per column; None stands for a rule between two rows.
        console: the terminal by default.
        header: whether to print the columns' titles.
        dim: the indexes of rows that are printed faintly.
    """
    console = console or Console()
    clean = [None if row is None else [printable(cell) for cell in row] for row in rows]
    print_text(title, console, style="italic")
    kept = list(range(len(columns)))
    optional = [index for index in kept if columns[index].optional]
    while (widths := _widths([columns[i] for i in kept], _chosen(clean, kept), console.width, header)) is None:
        if not optional:
            break
        kept.remove(optional.pop())
    if widths is None:
        _print_paragraphs(columns, clean, console, header=header, dim=dim)
        return
    table = Table(show_header=header)
    for index, width in zip(kept, widths, strict=True):
        head = "\n".join(_wrap(columns[index].title, width))
        table.add_column(Text(head), justify="right" if columns[index].right else "left", width=width, no_wrap=True)
    for number, row in enumerate(clean):
        if row is None:
            table.add_section()
        else:
            cells = (Text("\n".join(_wrap(row[i], width))) for i, width in zip(kept, widths, strict=True))
            table.add_row(*cells, style="dim" if number in dim else "")
    console.print(table)
    for index in sorted(set(range(len(columns))) - set(kept)):
        print_text(_listed(columns[index].title, clean, index), console)


def _wrap(text: str, width: int) -> list[str]:
    lines: list[str] = []
    for piece in _PIECE.findall(text):
        if lines and cell_len(lines[-1]) + 1 + cell_len(piece) <= width:
            lines[-1] += f" {piece}"
        else:
            lines.append(piece)
    return lines or [""]


def _chosen(rows: Sequence[Sequence[str] | None], kept: Sequence[int]) -> Iterator[list[str]]:
    return ([row[i] for i in kept] for row in rows if row is not None)


def _widths(columns: Sequence[Column], rows: Iterator[list[str]], width: int, header: bool) -> list[int] | None:
    """Return the columns' widths, None if the terminal is too narrow for the longest word of each."""
    cells = [list(texts) for texts in zip(*rows, strict=True)] or [[] for _ in columns]
    if header:
        cells = [[column.title, *texts] for column, texts in zip(columns, cells, strict=True)]
    whole = [max((cell_len(text) for text in texts), default=0) for texts in cells]
    least = [max((cell_len(piece) for text in texts for piece in _wrap(text, 0)), default=0) for texts in cells]
    room = width - 3 * len(columns) - 1  # each column has a border and a space on both sides
    if sum(least) > room:
        return None
    widths = list(whole)
    while sum(widths) > room:
        widest = max(range(len(widths)), key=lambda i: (widths[i] > least[i], widths[i]))
        widths[widest] -= 1
    broken = [[line for text in texts for line in _wrap(text, w)] for texts, w in zip(cells, widths, strict=True)]
    return [max(map(cell_len, lines), default=0) for lines in broken]


def _listed(title: str, rows: Sequence[Sequence[str] | None], index: int) -> str:
    values = [(row[0], row[index]) for row in rows if row is not None]
    if len({value for _, value in values}) == 1:
        return f"{title}: {values[0][1]} in every row."
    return f"{title}: {', '.join(f'{name} {value}' for name, value in values)}."


def _print_paragraphs(
    columns: Sequence[Column],
    rows: Sequence[Sequence[str] | None],
    console: Console,
    *,
    header: bool,
    dim: Collection[int],
) -> None:
    """Print each row as its name and, below it, its values with their titles, broken between values if possible."""
    titles = [f"{column.title} " if header else "" for column in columns]
    for number, row in enumerate(rows):
        if row is None:
            titles[0] = ""  # below a rule are totals and the like, which are none of what the first column names
            continue
        style = "dim" if number in dim else ""
        items = [f"{title}{cell}" for title, cell in zip(titles, row, strict=True) if cell]
        print_text(items[0] if items else "", console, style=f"bold {style}")
        line = ""
        for item in items[1:]:
            if line and cell_len(line + _BETWEEN + item) + 2 > console.width:
                _print_indented(line, console, style)
                line = ""
            line = line + _BETWEEN + item if line else item
        _print_indented(line, console, style)


def _print_indented(text: str, console: Console, style: str) -> None:
    for line in _wrap(text, console.width - 2) if text else ():
        console.print(Text(f"  {line}", style=style, overflow="fold"))
