"""The check that nothing is lost: the raw file's characters against the finished dialogues."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from elicit_gym.offline.importing.characters import is_visible, replace_non_characters, unescape, visible
from elicit_gym.offline.importing.json_source import shown
from elicit_gym.offline.importing.names import name_key
from elicit_gym.offline.importing.source import Piece, Reading, SourceUnit, Unit
from elicit_gym.offline.schema import Dialogue

__all__ = ["Checked", "check"]


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check found.

    Attributes:
        left_over: what the dialogues and the report do not account for, one line each; empty where nothing is lost.
        characters: of the source, white space not counted.
    """

    left_over: list[str]
    characters: int


def check(source: Iterable[SourceUnit], reading: Reading, dialogues: Sequence[Dialogue]) -> Checked:
    """Hold a raw file against the dialogues that were made of it.

    Three things are compared: every unit of the raw source with the pieces that the reader says it made of it (a piece
    may stand for all of an object in JSON); the pieces that are speech, in their order, with what the dialogues' turns
    say; and the names in labels with the dialogues' speakers. A piece that calls itself punctuation may hold no letter
    and no digit.

    Args:
        source: of the raw file, taken from it without the reader's help.
        reading: what the reader says became of it.
        dialogues: the result.
    """
    problems, characters = _unaccounted(source, reading.pieces)
    problems += _unsaid(reading.pieces, dialogues)
    problems += _unnamed(reading.pieces, dialogues, reading.aliases)
    return Checked(problems, characters)


def _unaccounted(source: Iterable[SourceUnit], pieces: Sequence[Piece]) -> tuple[list[str], int]:
    claimed: dict[Unit, str] = {}
    problems = []
    for piece in pieces:
        claimed[piece.unit] = claimed[piece.unit] + piece.raw if piece.unit in claimed else piece.raw
        if piece.use == "mark" and any(c.isalnum() for c in piece.raw):
            problems.append(f"{_place(piece)}: {_short(piece.raw)} (taken for punctuation)")
    expected: dict[Unit, list[str]] = {}
    places: dict[Unit, str] = {}
    characters = 0
    for unit, where, text in source:
        raw = visible(text)
        if raw:
            characters += len(raw)
            owner = _owner(unit, claimed)
            expected.setdefault(owner, []).append(text)
            if where:
                places[owner] = where
    for unit, parts in expected.items():
        have, raw = visible(claimed.pop(unit, "")), visible("".join(parts))
        if have != raw:
            place = places.get(unit) or _place_of(unit)
            problems += _differences(place, Counter(have), Counter(raw), " ".join(parts))
    problems += [
        f"{_place_of(unit)}: {_short(have)} (not in the file)" for unit, have in claimed.items() if is_visible(have)
    ]
    return problems, characters


def _owner(unit: Unit, claimed: Mapping[Unit, str]) -> Unit:
    """Return the unit itself, or the nearest one above it in JSON that a piece stands for."""
    if unit in claimed or not isinstance(unit, tuple):
        return unit
    return next((unit[:i] for i in range(len(unit) - 1, 0, -1) if unit[:i] in claimed), unit)


def _differences(place: str, have: Counter[str], expected: Counter[str], text: str) -> list[str]:
    problems = []
    if missing := "".join((expected - have).elements()):
        whole = text if len(missing) == expected.total() else f"{missing} of {text.strip()}"
        problems.append(f"{place}: {_short(whole)}")
    if invented := "".join((have - expected).elements()):
        problems.append(f"{place}: {_short(invented)} (not in the file)")
    return problems


def _place(piece: Piece) -> str:
    """Say where a piece is."""
    return piece.where or _place_of(piece.unit)


def _place_of(unit: Unit) -> str:
    """Say where a unit is."""
    return shown(unit) if isinstance(unit, tuple) else f"line {unit}"


def _unsaid(pieces: Sequence[Piece], dialogues: Sequence[Dialogue]) -> list[str]:
    texts = [piece for piece in pieces if piece.use == "text"]
    problems = []
    for piece in texts:
        value = visible(piece.value or "")
        if value != visible(piece.raw) and value not in map(visible, _readings(piece.raw)):
            problems.append(f"{_place(piece)}: {_short(piece.raw)} (changed into {_short(piece.value or '')})")
    read = [visible(piece.value or "") for piece in texts]
    said = "".join(visible(turn.utterance) for dialogue in dialogues for turn in dialogue.turns)
    position = 0
    for piece, value in zip(texts, read, strict=True):
        if not said.startswith(value, position):
            problems.append(f"{_place(piece)}: {_short(piece.value or '')} (in no turn)")
            return problems
        position += len(value)
    if position < len(said):
        problems.append(f"{_short(said[position:])} (in a turn, not in the file)")
    return problems


def _unnamed(pieces: Sequence[Piece], dialogues: Sequence[Dialogue], aliases: Mapping[str, str]) -> list[str]:
    speakers = {name_key(turn.speaker) for dialogue in dialogues for turn in dialogue.turns}
    speakers |= {short for short, name in aliases.items() if name_key(name) in speakers}
    lost = {
        piece.raw: piece
        for piece in pieces
        if piece.use == "speaker" and speakers.isdisjoint(name_key(reading) for reading in _readings(piece.raw))
    }
    times = Counter(visible(replace_non_characters(piece.raw)) for piece in pieces if piece.use == "time")
    kept = Counter(visible(turn.timestamp) for dialogue in dialogues for turn in dialogue.turns if turn.timestamp)
    return [
        *(f"{_place(piece)}: the speaker {_short(raw)}" for raw, piece in lost.items()),
        *(f"the time {_short(time)}" for time in (times - kept)),
        *(f"the time {_short(time)} (not in the file)" for time in (kept - times)),
    ]


def _readings(raw: str) -> tuple[str, str, str]:
    """Return how a piece may be read: as it stands, with its entities resolved, without what is not a character."""
    return raw, unescape(raw), replace_non_characters(raw)


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else text[:57] + "...")
