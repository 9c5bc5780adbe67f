"""Tables: CSV with commas, semicolons, tabs or bars, and the tables of Word files."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.file_limits import FileLimits
from elicit_gym.offline.importing.characters import is_visible, visible
from elicit_gym.offline.importing.rows import Fields, Row, find_fields, no_speaker_field, read_rows
from elicit_gym.offline.importing.source import Reading, SourceUnit

__all__ = ["read_table", "table_units"]

_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}


def read_table(text: str, path: str, limits: FileLimits, *, speaker: bool = False) -> Reading:
    """Read a table with a header.

    A row with more fields than the header is read where its text comes last: the text was not quoted, and what stands
    after its commas belongs to it. Elsewhere such a row is refused, and so is one with fewer fields than name and text.

    Raises:
        SettingError: there is no header with fields for speaker and text, a row does not fit, or nobody speaks.
    """
    rows, delimiter = _parse(text, path, limits)
    if not rows:
        raise SettingError(f"Importing {path}: expected a table with a header, got an empty file. Check the file.")
    header = rows[0][1]
    names = [name.strip() or f"column {i + 1}" for i, name in enumerate(header)]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise SettingError(f"Importing {path}: expected each column's name once, got {twice!r} twice. Rename one.")
    if len(rows) == 1:
        raise SettingError(f"Importing {path}: expected rows below the header, got none. Check the file.")
    nothing = dict.fromkeys(names, "")
    fields = find_fields([{**nothing, **dict(zip(names, row, strict=False))} for _, row in rows[1:]])
    if fields is None or (fields.speaker is None and not fields.pairs and not speaker):
        raise no_speaker_field(path, names)
    reading = Reading(f"a table with {_DELIMITERS[delimiter]}")
    for i, name in enumerate(header):
        reading.leave_out((0, i), "the header", name)
    made = [
        _row(reading, i, line, cells, names, fields, delimiter, path) for i, (line, cells) in enumerate(rows[1:], 1)
    ]
    read_rows(reading, made, fields, path)
    reading.finish()
    return reading


def _parse(text: str, path: str, limits: FileLimits) -> tuple[list[tuple[int, list[str]]], str]:
    """Return the rows that are not empty, each with its last line's number, and the delimiter."""
    before = csv.field_size_limit(limits.line)
    try:
        first = text.lstrip("\r\n").split("\n", 1)[0][:10_000]
        delimiter = max(_DELIMITERS, key=lambda mark: (_promise(first, mark), first.count(mark)))
        reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
        return [(reader.line_num, row) for row in reader if any(is_visible(cell) for cell in row)], delimiter
    except csv.Error as error:
        raise SettingError(
            f"Importing {path}: expected a table of fields of at most {limits.line:,} characters, got {error} "
            f"(line {reader.line_num}). Fix the line; raise the limit (--max-mb) if the file is right."
        ) from error
    finally:
        csv.field_size_limit(before)


def _promise(first: str, delimiter: str) -> int:
    """Say how much of a table a first line is with a delimiter: 2 with speaker and text, 1 with a text."""
    try:
        names = next(csv.reader([first], delimiter=delimiter), [])
    except csv.Error:
        return 0
    fields = find_fields([dict.fromkeys(names, "")])
    return 0 if fields is None else 2 if fields.speaker or fields.pairs else 1


def _row(
    reading: Reading, number: int, line: int, cells: Sequence[str], names: Sequence[str], fields: Fields,
    delimiter: str, path: str,
) -> Row:  # fmt: skip
    where = f"line {line}"
    units: dict[str, tuple[int, int]] = {name: (number, i) for i, name in enumerate(names)}
    values: Mapping[str, Any] = dict(zip(names, cells, strict=False))
    if len(cells) > len(names):
        if fields.text != names[-1]:
            raise SettingError(
                f"Importing {path}: expected {len(names)} fields, got {len(cells)} ({where}). "
                "Put quotation marks around the text, or make it the last column."
            )
        reading.count("a text with more fields than the header was put together again: it lacks quotation marks", where)
        values = {**values, names[-1]: delimiter.join(cells[len(names) - 1 :])}
    elif len(cells) < len(names):
        reading.count("a row has fewer fields than the header", where)
        needed = {fields.text, *fields.pairs} - {None}
        if not needed & values.keys():
            raise SettingError(
                f"Importing {path}: expected {len(names)} fields, got {len(cells)}, none of them the text ({where}). "
                "Fix the row."
            )
    return Row(values, units, where)


def table_units(text: str, path: str, limits: FileLimits) -> list[SourceUnit]:
    """Return every cell of a table for the check; a row's extra fields belong to its last column.

    Raises:
        SettingError: it cannot be parsed.
    """
    rows, delimiter = _parse(text, path, limits)
    width = len(rows[0][1]) if rows else 0
    units: list[SourceUnit] = []
    for number, (line, cells) in enumerate(rows):
        whole = [*cells[: width - 1], delimiter.join(cells[width - 1 :])] if len(cells) > width else cells
        units += [((number, i), f"line {line}, column {i + 1}", cell) for i, cell in enumerate(whole)]
    # What the parser takes for cells is all that the file holds, but for quotation marks and delimiters.
    skipped = '"' + delimiter
    have = sum(len(visible(cell).translate({ord(c): None for c in skipped})) for _, row in rows for cell in row)
    raw = len(visible(text).translate({ord(c): None for c in skipped}))
    if have != raw:
        raise SettingError(
            f"Importing {path}: expected every character of the table in a cell, {abs(raw - have)} are not. "
            "Please report the file."
        )
    return units
