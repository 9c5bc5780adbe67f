"""Rows with a speaker and a text, of tables and of JSON: which fields they are, and what a row says."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing.characters import is_visible, replace_non_characters
from elicit_gym.offline.importing.field_words import SPEAKERS, TEXTS, TIMES
from elicit_gym.offline.importing.json_source import Path, all_text, leaf_text, leaves, shown
from elicit_gym.offline.importing.role_words import role_by_name
from elicit_gym.offline.importing.source import Reading

__all__ = ["Fields", "Row", "find_fields", "no_speaker_field", "read_rows"]

_INSIDE_SPEAKERS = ("name", "display_name", "displayName", "label", "id", "role")
_SYSTEM = ("system", "developer")
_TOOLS = ("tool", "function", "tool_call", "tool_result", "ipython", "observation")
_THOUGHTS = ("thinking", "reasoning", "reasoning_text", "summary_text", "thoughts")


@dataclass(frozen=True, slots=True)
class Row:
    """A row and where its fields are.

    Attributes:
        unit: of each field: a JSON path, or a row's and a column's number.
        where: in words.
    """

    values: Mapping[str, Any]
    unit: Mapping[str, Path]
    where: str


@dataclass(frozen=True, slots=True)
class Fields:
    """Which fields hold what.

    Attributes:
        speaker: None where no row says who speaks.
        role: beside the speaker, where both are there.
        pairs: fields that each hold what one side says: ``question`` and ``answer``.
    """

    speaker: str | None
    text: str | None
    time: str | None = None
    role: str | None = None
    pairs: tuple[str, ...] = ()


def _plain(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.strip()[:80].casefold())


def find_fields(rows: Sequence[Mapping[str, Any]]) -> Fields | None:
    """Find the fields for speaker, text and time by their names; None where there is no text.

    Where several fields could hold one thing, the one that most rows fill is taken.
    """
    filled: Counter[str] = Counter()
    by_name: dict[str, str] = {}
    for row in rows:
        for name, value in row.items():
            filled[by_name.setdefault(_plain(name), name)] += value not in (None, "")
    text = _fullest(TEXTS, by_name, filled)
    speaker = _fullest(SPEAKERS, by_name, filled, text)
    time = _fullest(TIMES, by_name, filled, text)
    role = by_name.get("role") if by_name.get("role") != speaker else None
    pairs = tuple(name for plain, name in by_name.items() if role_by_name(plain, by_name) is not None)
    both = {role_by_name(_plain(name), by_name) for name in pairs} == {"elicitor", "respondent"}
    if both and (speaker is None or text is None or text in pairs):
        return Fields(None, None, time, None, pairs)
    if text is not None and speaker is not None:
        return Fields(speaker, text, time, role)
    return Fields(None, text, time, None) if text is not None else None


def _fullest(
    known: Sequence[str], by_name: Mapping[str, str], filled: Counter[str], but: str | None = None
) -> str | None:
    present = [by_name[name] for name in known if name in by_name and by_name[name] != but]
    return max(present, key=lambda name: filled[name], default=None)


def no_speaker_field(path: str, names: Iterable[str]) -> SettingError:
    """Say that no field was found, and how they may be named."""
    listed = ", ".join(repr(str(name)[:40]) for name in list(names)[:12]) or "none"
    return SettingError(
        f"Importing {path}: expected a field for the speaker and one for the text, got {listed}. Name them speaker and "
        "text; or give --speaker NAME if there is a text and all is by one."
    )


def read_rows(reading: Reading, rows: Sequence[Row], fields: Fields, path: str) -> None:
    """Read rows into the conversation that is being read.

    A row without a speaker is told and stays one of an unnamed speaker; system and tool messages are no turns and go
    into the metadata; fields that a dialogue has no place for are left out by name.

    Raises:
        SettingError: a text or a speaker is of a type that is none.
    """
    if _newest_first(rows, fields.time):
        rows = rows[::-1]
        reading.note("the file has its newest row first, as its times say: the rows were turned round")
    for row in rows:
        used: set[str] = set()
        if fields.pairs:
            for name in (name for name in fields.pairs if name in row.values):
                used.add(name)
                role = role_by_name(_plain(name), [_plain(field) for field in fields.pairs])
                reading.begin(row.unit[name], None, where=row.where, role=role).speaker = name
                _say(reading, row, name, path)
        else:
            assert fields.text is not None
            used |= _read_row(reading, row, fields, path)
        for name, value in row.values.items():
            if name not in used:
                _leave_out(reading, row, name, value)


def _newest_first(rows: Sequence[Row], time: str | None) -> bool:
    """Whether every row is earlier than the one before it."""
    if time is None or len(rows) < 2:
        return False
    times = [row.values.get(time) for row in rows]
    if all(isinstance(value, int | float) for value in times) or all(
        isinstance(value, str) and re.match(r"\d{4}-\d{2}-\d{2}", value) for value in times
    ):
        return all(later < earlier for earlier, later in pairwise(times))  # type: ignore[operator]
    return False


def _leave_out(reading: Reading, row: Row, name: str, value: Any) -> None:
    reading.leave_out(row.unit[name], f"field {str(name)[:40]!r}", all_text(value), where=row.where)


def _below(unit: Path | None, value: Any) -> Iterable[tuple[Path, str, str]]:
    return leaves(value, unit) if unit is not None else ()


def _read_row(reading: Reading, row: Row, fields: Fields, path: str) -> set[str]:
    """Read a row and return the fields that are accounted for."""
    assert fields.text is not None
    used = {fields.text} | ({fields.speaker} if fields.speaker is not None else set())
    name, unit = _speaker(row, fields.speaker, path)
    author = row.values.get(fields.speaker) if fields.speaker is not None else None
    said = author.get("role", "") if isinstance(author, dict) else row.values.get(fields.role or "", "")
    said_role = str(said).casefold()
    for word in ((name or "").casefold(), said_role):
        if word in _SYSTEM or word in _TOOLS:
            _keep_apart(reading, row, fields, "system messages" if word in _SYSTEM else "tool messages")
            return used
    role = role_by_name(said_role, ()) if said_role else None
    clean = replace_non_characters(name).strip() if name is not None else None
    segment = reading.begin(unit, name, where=row.where, role=role)
    segment.speaker = clean
    if fields.speaker is not None:
        _rest_of_speaker(reading, row, fields.speaker, unit)
    time = row.values.get(fields.time) if fields.time is not None else None
    if fields.time is not None and _is_time(time):
        used.add(fields.time)
        segment.time = leaf_text(time)
        segment.labels.append(reading.add_time(row.unit[fields.time], segment.time, where=row.where))
    _say(reading, row, fields.text, path)
    return used


def _is_time(value: Any) -> bool:
    if isinstance(value, float) and not math.isfinite(value):
        return False
    return isinstance(value, str | int | float) and (is_visible(leaf_text(value)))


def _speaker(row: Row, field: str | None, path: str) -> tuple[str | None, Path | None]:
    value = row.values.get(field) if field is not None else None
    unit = row.unit.get(field) if field is not None else None
    if isinstance(value, dict) and unit is not None:
        inner = next((key for key in _INSIDE_SPEAKERS if value.get(key) is not None), None)
        if inner is None:
            return None, None
        value, unit = value[inner], (*unit, inner)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None, None
    if isinstance(value, list | dict | bool):
        raise SettingError(
            f"Importing {path}: expected a name or a number as {field!r}, got {str(value)[:60]!r} ({row.where}). "
            "Fix the row."
        )
    text = leaf_text(value)
    return (text, unit) if is_visible(text) else (None, None)


def _rest_of_speaker(reading: Reading, row: Row, field: str, used: Path | None) -> None:
    """Leave out what the speaker's field holds beside the name: an id, a null, an object's other fields."""
    for unit, _, text in _below(row.unit.get(field), row.values.get(field)):
        if unit != used:
            reading.leave_out(unit, f"field {field!r}", text, where=row.where)


def _keep_apart(reading: Reading, row: Row, fields: Fields, what: str) -> None:
    """Leave a message out and keep its text in the metadata."""
    for name in (fields.speaker, fields.text):
        if name is not None:
            for unit, _, text in _below(row.unit.get(name), row.values.get(name)):
                is_text = name == fields.text and unit[-1] not in ("type", "content_type")
                reading.leave_out(unit, what, text, keep=is_text, where=row.where)


def _say(reading: Reading, row: Row, field: str, path: str) -> None:
    """Say a text, or the text parts of one; pictures, calls of tools and the like are left out by their type."""
    value = row.values.get(field)
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return
    unit = row.unit[field]
    if isinstance(value, dict) and isinstance(value.get("parts"), list):
        _leave_out_but(reading, unit, value, "parts", row)
        value, unit = value["parts"], (*unit, "parts")
    if isinstance(value, dict):
        _part(reading, value, unit, row, field, path, "\n")
    elif isinstance(value, list):
        # Text between marked-up pieces of it goes on in the line; parts of a message stand below one another.
        join = "" if any(isinstance(part, str) for part in value) else "\n"
        for i, part in enumerate(value):
            _part(reading, part, (*unit, i), row, field, path, join)
    elif isinstance(value, bool):
        raise _no_text(path, field, value, row.where)
    else:
        _text(reading, unit, leaf_text(value), row.where)


def _leave_out_but(reading: Reading, unit: Path, value: Mapping[str, Any], kept: str, row: Row) -> None:
    for key, item in value.items():
        if key != kept:
            reading.leave_out((*unit, key), f"field {str(key)[:40]!r}", all_text(item), where=row.where)


def _part(reading: Reading, part: Any, unit: Path, row: Row, field: str, path: str, join: str) -> None:
    if isinstance(part, str):
        _text(reading, unit, part, row.where, join)
        return
    if not isinstance(part, dict):
        raise _no_text(path, field, part, shown(unit))
    kind = part.get("type") or part.get("content_type") or "text"
    text = part.get("text")
    if kind not in _THOUGHTS and isinstance(text, str):
        _leave_out_but(reading, unit, part, "text", row)
        _text(reading, (*unit, "text"), text, row.where, join)
        return
    what = f"parts that are not text ({str(kind)[:40]})"
    reading.count("a message has a part that is not text, which was left out", row.where)
    reading.leave_out(unit, what, all_text(part), where=row.where)


def _no_text(path: str, field: str, value: Any, where: str) -> SettingError:
    return SettingError(
        f"Importing {path}: expected a text as {field!r}, got {str(value)[:60]!r} ({where}). Fix the file."
    )


def _text(reading: Reading, unit: Path, text: str, where: str, join: str = "\n") -> None:
    value = replace_non_characters(text)
    if value != text:
        reading.count("a NUL or half of a surrogate pair, which is not a character, was written as U+FFFD", where)
    reading.say(unit, text, value=value, join=join, where=where)
