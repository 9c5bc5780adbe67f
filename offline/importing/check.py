"""The check that nothing is lost: the raw file's characters against the finished dialogues."""

import html
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from elicit_gym.offline.importing.names import name_key
from elicit_gym.offline.importing.source import Piece, Reading, SourceUnit, Unit, visible
from elicit_gym.offline.schema import Dialogue

__all__ = ["left_over", "replace_non_characters", "unescape"]

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos|nbsp|lrm|rlm);")
_NON_CHARACTER = re.compile("[\x00\ud800-\udfff]")


def unescape(text: str) -> str:
    """Resolve the entities that subtitles use; anything else that begins with ``&`` is text."""
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text


def replace_non_characters(text: str) -> str:
    """Put U+FFFD where there is a NUL or half of a surrogate pair, which are no characters."""
    return _NON_CHARACTER.sub("\ufffd", text)


def left_over(source: Iterable[SourceUnit], reading: Reading, dialogues: Sequence[Dialogue]) -> list[str]:
    """Return what the dialogues and the report do not account for, one line each; empty where nothing is lost.

    Three things are held against one another: every unit of the raw source against the pieces that the reader says it
    made of it; the pieces that are speech, in their order, against what the dialogues' turns say; and the names in
    labels against the dialogues' speakers. A piece that calls itself punctuation may hold no letter and no digit.

    Args:
        source: of the raw file, taken from it without the reader's help.
        reading: what the reader says became of it.
        dialogues: the result.
    """
    return [
        *_unaccounted(source, reading.pieces),
        *_unsaid(reading.pieces, dialogues),
        *_unnamed(reading.pieces, dialogues),
    ]


def _unaccounted(source: Iterable[SourceUnit], pieces: Sequence[Piece]) -> list[str]:
    claimed: dict[Unit, Counter[str]] = {}
    problems = []
    for piece in pieces:
        raw = visible(piece.raw)
        claimed.setdefault(piece.unit, Counter()).update(raw)
        if piece.use == "mark" and any(c.isalnum() for c in raw):
            problems.append(f"{piece.where or piece.unit}: {_short(piece.raw)} (taken for punctuation)")
    for unit, where, text in source:
        have = claimed.pop(unit, Counter())
        raw = visible(text)
        # The common case is cheap; a unit may be one word of a long JSON file.
        if have.total() == len(raw) and have == Counter(raw):
            continue
        missing = Counter(raw) - have
        if missing:
            whole = text if missing.total() == len(raw) else f"{''.join(missing.elements())} of {text.strip()}"
            problems.append(f"{where}: {_short(whole)}")
        if invented := have - Counter(raw):
            problems.append(f"{where}: {_short(''.join(invented.elements()))} (not in the file)")
    problems += [
        f"{unit}: {_short(''.join(have.elements()))} (not in the file)" for unit, have in claimed.items() if have
    ]
    return problems


def _unsaid(pieces: Sequence[Piece], dialogues: Sequence[Dialogue]) -> list[str]:
    texts = [piece for piece in pieces if piece.use == "text"]
    problems = []
    for piece in texts:
        value = visible(piece.value or "")
        if value != visible(piece.raw) and value not in (
            visible(unescape(piece.raw)),
            visible(replace_non_characters(piece.raw)),
        ):
            problems.append(
                f"{piece.where or piece.unit}: {_short(piece.raw)} (changed into {_short(piece.value or '')})"
            )
    read = [visible(piece.value or "") for piece in texts]
    said = "".join(visible(turn.utterance) for dialogue in dialogues for turn in dialogue.turns)
    position = 0
    for piece, value in zip(texts, read, strict=True):
        if not said.startswith(value, position):
            problems.append(f"{piece.where or piece.unit}: {_short(piece.value or '')} (in no turn)")
            return problems
        position += len(value)
    if position < len(said):
        problems.append(f"{_short(said[position:])} (in a turn, not in the file)")
    return problems


def _unnamed(pieces: Sequence[Piece], dialogues: Sequence[Dialogue]) -> list[str]:
    speakers = {name_key(turn.speaker) for dialogue in dialogues for turn in dialogue.turns}
    lost = {name_key(replace_non_characters(unescape(piece.raw))): piece for piece in pieces if piece.use == "speaker"}
    times = Counter(visible(piece.raw) for piece in pieces if piece.use == "time")
    kept = Counter(visible(turn.timestamp) for dialogue in dialogues for turn in dialogue.turns if turn.timestamp)
    return [
        *(
            f"{piece.where or piece.unit}: the speaker {_short(piece.raw)}"
            for k, piece in lost.items()
            if k not in speakers
        ),
        *(f"the time {_short(time)}" for time in (times - kept)),
        *(f"the time {_short(time)} (not in the file)" for time in (kept - times)),
    ]


def _short(text: str) -> str:
    text = " ".join(text.split())
    return repr(text if len(text) <= 60 else text[:57] + "...")
