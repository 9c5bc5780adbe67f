"""Dialogue in the tables of a Word file: a column of names, a column of what they say."""

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from elicit_gym.offline.importing.characters import is_visible, without_marks
from elicit_gym.offline.importing.labels import time_alone
from elicit_gym.offline.importing.names import NameKind, classify, name_key
from elicit_gym.offline.importing.rows import find_fields
from elicit_gym.offline.importing.source import Line, Reading
from elicit_gym.offline.importing.text_layouts import read_lines
from elicit_gym.offline.importing.word import WordText

__all__ = ["read_word_text"]

_Row = list[list[Line]]


@dataclass(frozen=True, slots=True)
class Columns:
    """Which column holds what."""

    speaker: int
    text: int
    time: int | None
    header: bool


def read_word_text(word: WordText, path: str, *, forced: Collection[str] = (), speaker: bool = False) -> Reading:
    """Read the paragraphs or the tables of a Word file, whichever hold more turns; the others are kept apart.

    Raises:
        SettingError: neither holds a dialogue.
    """
    rows = [block for block in word.blocks if not isinstance(block, Line)]
    lines = [block for block in word.blocks if isinstance(block, Line)]
    columns = _columns(rows, forced)
    turns_in_rows = sum(_is_turn(row, columns) for row in rows) if columns else 0
    reading = None
    if any(is_visible(line.text) for line in lines) or not columns:
        reading = _try_lines(lines, path, forced, speaker, must=not turns_in_rows)
    if reading is None or (columns and turns_in_rows > len(reading.segments)):
        assert columns is not None
        reading = _read_table(rows, columns)
        for line in lines:
            reading.leave_out(line.unit, "text outside the table", line.text, keep=True, where=line.where)
    else:
        for row in rows:
            for line in (line for cell in row for line in cell):
                reading.leave_out(line.unit, "tables", line.text, keep=True, where=line.where)
    for unit, what, text, where in word.apart:
        reading.leave_out(unit, what, text, keep=what not in ("field codes", "copies for older programs"), where=where)
    reading.finish()
    return reading


def _try_lines(
    lines: Sequence[Line], path: str, forced: Collection[str], speaker: bool, *, must: bool
) -> Reading | None:
    from elicit_gym.errors import SettingError

    try:
        return read_lines(lines, path, forced=forced, speaker=speaker and must)
    except SettingError:
        if must:
            raise
        return None


def _texts(row: _Row) -> list[str]:
    return [without_marks("\n".join(line.text for line in cell)) for cell in row]


def _columns(rows: Sequence[_Row], forced: Collection[str]) -> Columns | None:
    if len(rows) < 2:
        return None
    texts = [_texts(row) for row in rows]
    fields = find_fields([dict(zip(texts[0], row, strict=False)) for row in texts[1:]])
    if fields is not None and fields.speaker is not None and fields.text is not None:
        time = texts[0].index(fields.time) if fields.time is not None else None
        return Columns(texts[0].index(fields.speaker), texts[0].index(fields.text), time, True)
    width = Counter(len(row) for row in texts).most_common(1)[0][0]
    columns = [[row[i] for row in texts if len(row) == width] for i in range(width)]
    names = [i for i, column in enumerate(columns) if _are_names(column, forced)]
    times = [i for i, column in enumerate(columns) if sum(bool(time_alone(t)) for t in column) * 2 > len(column)]
    rest = [i for i in range(width) if i not in names[:1] and i not in times]
    if not names or not rest:
        return None
    longest = max(rest, key=lambda i: sum(map(len, columns[i])))
    return Columns(names[0], longest, times[0] if times else None, False)


def _are_names(column: Sequence[str], forced: Collection[str]) -> bool:
    filled = [text.rstrip(":.") for text in column if text]
    fit = [t for t in filled if name_key(t[:200]) in forced or classify(t[:200]) in (NameKind.name, NameKind.role)]
    recurs = Counter(map(name_key, fit))
    speaks = [t for t in fit if recurs[name_key(t)] >= 2 or classify(t) is NameKind.role]
    return len(filled) >= 2 and 5 * len(fit) >= 4 * len(filled) and 2 * len(speaks) >= len(fit)


def _is_turn(row: _Row, columns: Columns | None) -> bool:
    return columns is not None and len(row) > max(columns.speaker, columns.text) and bool(_texts(row)[columns.text])


def _read_table(rows: Sequence[_Row], columns: Columns) -> Reading:
    reading = Reading("a table in Word")
    for number, row in enumerate(rows):
        if (columns.header and number == 0) or not _is_turn(row, columns):
            what = "the header" if number == 0 and columns.header else "rows without text"
            for line in (line for cell in row for line in cell):
                reading.leave_out(line.unit, what, line.text, keep=True, where=line.where)
            continue
        _begin(reading, row, columns)
        for line in row[columns.text]:
            if is_visible(line.text):
                reading.say(line.unit, line.text, where=line.where)
        for i, cell in enumerate(row):
            if i not in (columns.speaker, columns.text, columns.time):
                for line in cell:
                    reading.leave_out(line.unit, "other columns", line.text, keep=True, where=line.where)
    return reading


def _begin(reading: Reading, row: _Row, columns: Columns) -> None:
    cell = row[columns.speaker]
    named = [line for line in cell if is_visible(line.text)]
    if named:
        first = named[0]
        name = without_marks(first.text).rstrip(":.").strip()
        segment = reading.begin(first.unit, name, prefix=first.text, where=first.where)
        for line in named[1:]:
            reading.leave_out(line.unit, "remarks beside names", line.text, keep=True, where=line.where)
    else:
        segment = reading.begin((), None, where=row[columns.text][0].where)
    if columns.time is not None and columns.time < len(row):
        for line in row[columns.time]:
            time = without_marks(line.text)
            if time and not segment.time:
                segment.time = time
                segment.labels.append(reading.add_time(line.unit, time, where=line.where))
            else:
                reading.leave_out(line.unit, "further times", line.text, where=line.where)
