"""Puts lines together to turns, and keeps apart what is none of them: headings, tools' footers, times between lines."""

import re
from collections.abc import Sequence

from elicit_gym.offline.importing.characters import has_marks, without_marks
from elicit_gym.offline.importing.labels import Start, parse_colon
from elicit_gym.offline.importing.names import name_key
from elicit_gym.offline.importing.role_words import role_by_name
from elicit_gym.offline.importing.source import REMARKS, Line, Reading, Segment

__all__ = ["Turns"]

_FOOTER = re.compile(
    r"(?:Transcribed (?:by|with) (?:https?://)?\S+|.{1,80} (?:started|stopped) transcription|"
    r"Transcript(?:ion)? ended after .{1,20}|This editable transcript was computer generated.{0,200}|"
    r"\[?End of (?:transcript|recording|interview|tape)\]?\.?)",
    re.IGNORECASE,
)
# Of f4 and its kin, and of Sonix.
_STAMP = re.compile(r"(?:#\d{2}:\d{2}:\d{2}(?:-\d{1,3})?#|(?<=\s)\[\d{1,2}:\d{2}(?::\d{2})?(?:[.,]\d{1,3})?\])\s{0,9}$")
_HYPHEN = re.compile(r"\w+[^\W\d_]-$")


class Turns:
    """Builds the segments of a text from its lines.

    Args:
        reading: where they go.
        wrapped: whether lines end where the page does: they are joined by a space, and hyphens at their ends go.
    """

    def __init__(self, reading: Reading, *, wrapped: bool) -> None:
        self.reading = reading
        self.join = " " if wrapped else "\n"
        self.wrapped = wrapped
        self._heading: list[Line] = []
        self._time: tuple[Line, str] | None = None
        self._pending: Line | None = None
        self._glued = False
        self._names: set[str] = set()
        self._remarks: dict[str, str] = {}

    def begin(self, start: Start) -> None:
        """Begin a turn at its label."""
        self._flush(None)
        above, self._time = self._time, None
        segment = self._begin(start)
        if above is not None:
            line, time = above
            if start.time:
                self.reading.leave_out(line.unit, "times between lines", line.text, where=line.where)
            else:
                self._take_time(segment, line, time)
        rest = start.line.text[start.text_at :]
        if without_marks(rest):
            self._pending = Line(start.line.unit, start.line.where, rest, start.line.page)

    def _begin(self, start: Start) -> Segment:
        line = start.line
        beside = {REMARKS: start.remark} if start.remark else None
        segment = self.reading.begin(
            line.unit, start.name, time=start.time, prefix=start.prefix, where=line.where, beside=beside
        )
        if has_marks(start.prefix):
            self.reading.count("direction marks around a name were taken off", line.where)
        self._names.add(start.key)
        if start.remark:
            self._remarks[name_key(start.remark)] = start.name
        return segment

    def _take_time(self, segment: Segment, line: Line, time: str) -> None:
        segment.time = time
        at = line.text.index(time)
        self.reading.mark(line.unit, line.text[:at] + line.text[at + len(time) :])
        piece = self.reading.add_time(line.unit, time, where=line.where)
        segment.labels.append(piece)

    def go_on(self, line: Line) -> None:
        """Add a line without a label to the turn before it; before the first turn it is a heading."""
        text = without_marks(line.text)
        if not self.reading.segments:
            self._heading.append(line)
        elif _FOOTER.fullmatch(text):
            self._flush(None)
            self.reading.leave_out(line.unit, "what the tool wrote", line.text, keep=True, where=line.where)
        else:
            if not self.wrapped and (self._pending is not None or self.reading.segments[-1].parts):
                self.reading.count("a line without a label goes on with the turn before it", line.where)
            self._flush(line)
            self._pending = line

    def aside(self, line: Line, what: str) -> None:
        """Keep a line apart."""
        self._flush(None)
        self.reading.leave_out(line.unit, what, line.text, keep=True, where=line.where)

    def time(self, line: Line, time: str, *, begins_turn: bool) -> None:
        """Take a line that holds a time alone: the next turn's, the one's whose name stands above, or none's."""
        segments = self.reading.segments
        if begins_turn and self._time is None:
            self._flush(None)
            self._time = (line, time)
        elif segments and self._pending is None and not segments[-1].parts and not segments[-1].time:
            self._take_time(segments[-1], line, time)
        elif without_marks(line.text) == time:  # no brackets: somebody may be saying it
            self.go_on(line)
        else:
            self._flush(None)
            self.reading.leave_out(line.unit, "times between lines", line.text, where=line.where)

    def _flush(self, following: Line | None) -> None:
        """Say the line that waits; a word split over two lines is put together."""
        line, self._pending = self._pending, None
        if line is None:
            return
        text = line.text
        stripped = without_marks(text)
        if self.wrapped and following is not None and _HYPHEN.search(stripped[-80:]):
            after = without_marks(following.text)
            if after[:1].islower():
                self.reading.say(line.unit, stripped[:-1], join=self._glue(), where=line.where)
                self.reading.leave_out(line.unit, "hyphens at the ends of lines", "-", where=line.where)
                first = re.split(r"[^\w'’]", after, maxsplit=1)[0]
                word = f"{stripped.split()[-1]}{first[:40]}"
                self.reading.count(f"words split over two lines were joined, such as {word!r}", line.where)
                self._glued = True
                return
        if stamp := _STAMP.search(text[-40:]):
            self.reading.leave_out(line.unit, "times at the ends of paragraphs", stamp[0], where=line.where)
            text = text[: len(text) - len(stamp[0])]
        self.reading.say(line.unit, without_marks(text), join=self._glue(), where=line.where)

    def _glue(self) -> str:
        join, self._glued = ("" if self._glued else self.join), False
        return join

    def finish(self) -> None:
        """End the last turn and read the heading: who it says asks and answers."""
        self._flush(None)
        if self._time is not None:
            line = self._time[0]
            self.reading.leave_out(line.unit, "times between lines", line.text, where=line.where)
        for line in self._heading:
            self.reading.leave_out(line.unit, "headings", line.text, keep=True, where=line.where)
        _roles_of_heading(self.reading, self._heading)
        for short, name in self._remarks.items():
            words = name_key(name).split()
            if short in self._names and short in ("".join(word[0] for word in words), *words):
                self.reading.aliases[short] = name


def _roles_of_heading(reading: Reading, heading: Sequence[Line]) -> None:
    names = {name_key(segment.speaker): segment.speaker for segment in reading.segments if segment.speaker}
    for line in heading:
        start = parse_colon(0, line)
        role = role_by_name(start.name, ()) if start else None
        if start is None or role is None:
            continue
        named = name_key(line.text[start.text_at :][:200])
        for key in names:
            initials = "".join(word[0] for word in named.split())
            if key in (named, initials) or (len(key) > 1 and key in named.split()):
                reading.conversation.named_roles[key] = role
                break
