"""What a reader hands over: the segments that somebody says, and what became of every piece of the source."""

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from elicit_gym.offline.importing.characters import is_visible, replace_non_characters, visible, without_marks
from elicit_gym.offline.schema import DialogueRole

__all__ = [
    "REMARKS",
    "UNKNOWN_SPEAKER",
    "Conversation",
    "Line",
    "Piece",
    "Reading",
    "Segment",
    "SourceUnit",
    "Unit",
    "left_out_by_kind",
    "lines_of_text",
]

Unit: TypeAlias = Hashable
"""Names a part of the source that is checked on its own: a line's number, a JSON path, a paragraph."""

SourceUnit: TypeAlias = tuple[Unit, str, str]
"""A unit, where it is in words, and all its text."""

UNKNOWN_SPEAKER = "(unknown)"
REMARKS = "remarks in labels"


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, of whatever kind of file.

    Attributes:
        unit: it belongs to.
        where: in words, for messages.
        page: that it is on, from 0.
    """

    unit: Unit
    where: str
    text: str
    page: int = 0


def lines_of_text(text: str) -> list[Line]:
    """Split a text into numbered lines; a form feed begins a page."""
    lines = []
    page = 0
    for number, whole in enumerate(re.split(r"\r\n|\r|\n", text), 1):
        for i, part in enumerate(whole.split("\x0c")):
            page += i > 0
            lines.append(Line(number, f"line {number}", part, page))
    return lines


@dataclass(slots=True, eq=False)
class Piece:
    """A part of a unit, and what became of it.

    Attributes:
        use: ``text``, ``speaker``, ``time`` or ``mark`` (punctuation of the format, such as a label's colon); anything
            else names what was left out, for the report.
        value: of a text, as it was read, where the format escapes characters.
    """

    unit: Unit
    use: str
    raw: str
    value: str | None = None
    where: str = ""

    @property
    def left_out(self) -> bool:
        """Whether it is outside the dialogue."""
        return self.use not in ("text", "speaker", "time", "mark")


@dataclass(slots=True)
class Segment:
    """What one speaker says in one go.

    Attributes:
        speaker: as labelled; None where the source does not say.
        time: as the source has it.
        where: it begins, in words.
        role: where the source itself says so.
        changes: whether a mark (a dash, ``>>``) says that somebody else begins to speak.
    """

    speaker: str | None
    time: str = ""
    where: str = ""
    role: DialogueRole | None = None
    changes: bool = False
    parts: list[str] = field(default_factory=list)
    labels: list[Piece] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The utterance."""
        return "".join(self.parts).strip()


@dataclass(slots=True)
class Conversation:
    """One conversation of a file.

    Attributes:
        kept: texts that are not turns and go into the metadata, by what they are.
        fields: of the conversation, for the metadata.
        named_roles: roles that the source gives to names outside the turns (a heading, a list of participants).
    """

    segments: list[Segment] = field(default_factory=list)
    kept: dict[str, list[str]] = field(default_factory=dict)
    fields: dict[str, str | int | float | bool] = field(default_factory=dict)
    title: str | None = None
    languages: tuple[str, ...] = ()
    named_roles: dict[str, DialogueRole] = field(default_factory=dict)


class Reading:
    """A file while it is read: segments and pieces, in the order of the source.

    Args:
        layout: what the file was recognised as, for the report.
    """

    def __init__(self, layout: str) -> None:
        self.layout = layout
        self.conversations: list[Conversation] = [Conversation()]
        self.pieces: list[Piece] = []
        self.notes: list[str] = []
        self.aliases: dict[str, str] = {}
        """Full name by the key of a short one, where the source itself says so: ``Anna Lind (AL)``."""
        self._counted: dict[str, list[str]] = {}

    @property
    def conversation(self) -> Conversation:
        """The one being read."""
        return self.conversations[-1]

    @property
    def segments(self) -> list[Segment]:
        """Of the conversation being read."""
        return self.conversation.segments

    def begin(
        self,
        unit: Unit,
        speaker: str | None,
        *,
        time: str = "",
        prefix: str = "",
        where: str = "",
        role: DialogueRole | None = None,
        beside: Mapping[str, str] | None = None,
        changes: bool = False,
    ) -> Segment:
        """Begin a segment and account for its label.

        Args:
            unit: that holds the label.
            speaker: as written; None where nobody is named.
            time: as written.
            prefix: the whole label as written; what is in it beside speaker and time is a mark.
            where: in words.
            role: where the source says so.
            beside: other words of the label, by what they are; they are left out.
            changes: see `Segment`.
        """
        segment = Segment(speaker, time, where, role, changes)
        rest = Counter(visible(prefix))
        for use, raw in (("speaker", speaker or ""), ("time", time), *(beside or {}).items()):
            if raw:
                piece = Piece(unit, use, raw, where=where)
                segment.labels.append(piece)
                self.pieces.append(piece)
                rest -= Counter(visible(raw))
            if raw and use == REMARKS:
                kept = self.conversation.kept.setdefault(REMARKS, [])
                kept.append(replace_non_characters(f"{speaker} ({raw})"))
        if marks := "".join(rest.elements()):
            self.mark(unit, marks)
        self.segments.append(segment)
        return segment

    def say(self, unit: Unit, raw: str, *, value: str | None = None, join: str = "\n", where: str = "") -> None:
        """Add text to the segment that was begun last."""
        value = raw if value is None else value
        segment = self.segments[-1]
        if is_visible(value):
            self.pieces.append(Piece(unit, "text", raw, value, where))
            if segment.parts:
                segment.parts.append(join)
            segment.parts.append(value.strip() if join else value)
        elif visible(raw):
            self.mark(unit, raw)

    def add_time(self, unit: Unit, raw: str, *, where: str = "") -> Piece:
        """Account for the time of the segment that was begun last, where it stands apart from the label."""
        piece = Piece(unit, "time", raw, where=where)
        self.pieces.append(piece)
        return piece

    def mark(self, unit: Unit, raw: str) -> None:
        """Account for punctuation of the format."""
        if is_visible(raw):
            self.pieces.append(Piece(unit, "mark", raw))

    def leave_out(self, unit: Unit, what: str, raw: str, *, keep: bool = False, where: str = "") -> None:
        """Leave something out of the dialogue, and say so.

        Args:
            unit: that holds it.
            what: it is, in the plural: "page numbers".
            raw: as written.
            keep: whether it goes into the metadata.
            where: in words.
        """
        if not is_visible(raw):
            return
        self.pieces.append(Piece(unit, what, raw, where=where))
        if keep:
            self.conversation.kept.setdefault(what, []).append(replace_non_characters(without_marks(raw)))

    def note(self, sentence: str) -> None:
        """Tell the user something, once."""
        if sentence not in self.notes:
            self.notes.append(sentence)

    def count(self, sentence: str, where: str) -> None:
        """Tell the user something that happens in many places: the sentence gets their number and the first ones."""
        self._counted.setdefault(sentence, []).append(where)

    def finish(self) -> None:
        """Drop segments without text and write out the counted notes."""
        for conversation in self.conversations:
            for segment in conversation.segments:
                segment.time = replace_non_characters(segment.time)
                if segment.speaker is not None:
                    segment.speaker = replace_non_characters(segment.speaker)
                if not segment.text and segment.labels:
                    self.count("nothing is said under a label, which was left out", segment.where)
                    for piece in segment.labels:
                        piece.use = "labels without text"
            conversation.segments = [segment for segment in conversation.segments if segment.text]
        for sentence, places in self._counted.items():
            self.note(f"{sentence} ({_places(places)})")
        self._counted = {}


def _places(places: Sequence[str]) -> str:
    distinct = list(dict.fromkeys(place for place in places if place))
    more = f" and {len(distinct) - 3} more" if len(distinct) > 3 else ""
    return f"{len(places)}: {', '.join(distinct[:3])}{more}" if distinct else str(len(places))


def left_out_by_kind(pieces: Iterable[Piece]) -> dict[str, list[Piece]]:
    """Group what was left out by what it is."""
    groups: dict[str, list[Piece]] = {}
    for piece in pieces:
        if piece.left_out:
            groups.setdefault(piece.use, []).append(piece)
    return groups
