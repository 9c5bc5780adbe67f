"""Subtitles as turns: voices, labels, dashes; markup and entities resolved; captions that roll are read once."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing import labels
from elicit_gym.offline.importing.characters import is_visible, unescape, without_marks
from elicit_gym.offline.importing.cues import Cue, looks_like_cues, parse_cues
from elicit_gym.offline.importing.labels import Start
from elicit_gym.offline.importing.names import NameKind, classify, name_key
from elicit_gym.offline.importing.rolling import repeated_lines
from elicit_gym.offline.importing.source import REMARKS, Line, Piece, Reading

__all__ = ["looks_like_cues", "read_cues"]

_MARKUP = re.compile(
    r"</?(?:c|i|b|u|s|v|em|strong|lang|ruby|rt|font)(?:[.\s][^<>]{0,200})?>|<(?:\d{1,3}:)?\d{1,2}:\d{2}[.,]\d{1,3}>|"
    r"\{\\[^{}]{1,60}\}|<br ?/?>",
    re.IGNORECASE,
)
_VOICE = re.compile(r"<v(?:\.[^\s<>]{1,60})?\s+([^<>]{1,200})>", re.IGNORECASE)


@dataclass(slots=True)
class Voice:
    """A voice that markup names, and the piece that accounts for the name."""

    name: str
    piece: Piece


@dataclass(slots=True)
class Fragment:
    """A line of a cue, or the part of it that one voice says.

    Attributes:
        line: with the text as written, entities included, markup not.
        opens_cue: whether it is the first of its cue.
        start: its label, where it has one that counts.
        change: the dash or the ``>>`` before it.
    """

    cue: Cue
    line: Line
    voice: Voice | None = None
    opens_cue: bool = False
    start: Start | None = None
    change: str = ""


def read_cues(lines: Sequence[Line], path: str, *, forced: Collection[str] = (), speaker: bool = False) -> Reading:
    """Read the lines of subtitles.

    A cue without a speaker goes on with the one before it. Dashes and ``>>`` say that somebody else speaks: where the
    file names two speakers they take turns, else nobody is named.

    Raises:
        SettingError: there is no cue, or nobody is named and `speaker` is off.
    """
    reading = Reading("subtitles")
    cues = parse_cues(lines, path, reading)
    fragments = _fragments(cues, reading)
    _find_labels(fragments, forced)
    if not speaker and not any(f.voice or f.start for f in fragments):
        raise SettingError(_nobody(path, fragments))
    _tell(reading, cues, fragments)
    _alternate(reading)
    reading.finish()
    return reading


def _nobody(path: str, fragments: Sequence[Fragment]) -> str:
    changes = sum(bool(f.change) for f in fragments)
    first = next((without_marks(f.line.text) for f in fragments if is_visible(f.line.text)), "")
    marks = f" {changes} dashes or '>>' show who changes: give --speaker twice, for the two in turn." if changes else ""
    candidates = (labels.parse_colon(i, f.line) for i, f in enumerate(fragments))
    names = dict.fromkeys(s.name for s in candidates if s is not None and s.kind is not NameKind.prose)
    if names:
        marks += (
            f" What might be names does not recur: {', '.join(map(repr, list(names)[:5]))}; --role NAME=... takes it."
        )
    return (
        f"Importing {path}: expected somebody who is named, as in 'Anna: Where?' or '<v Anna>Where?', got cues without "
        f"speakers such as {first[:60]!r}. Write names into the file, or give --speaker NAME if all is by one.{marks}"
    )


def _fragments(cues: Sequence[Cue], reading: Reading) -> list[Fragment]:
    """Take markup out, split at voices and leave out lines that rolling captions repeat."""
    texts = [[t for line in cue.lines if (t := without_marks(_MARKUP.sub("", line.text)))] for cue in cues]
    repeated = repeated_lines(cues, texts)
    fragments: list[Fragment] = []
    for cue, to_skip in zip(cues, repeated, strict=True):
        skipped = 0
        voice: Voice | None = None
        first = True
        for line in cue.lines:
            is_shown = bool(without_marks(_MARKUP.sub("", line.text)))
            if skipped < to_skip and is_shown:
                skipped += 1
                reading.leave_out(line.unit, "lines that rolling captions repeat", line.text, where=line.where)
                continue
            parts = _parts(line, voice, reading)
            for part, whose in parts:
                if is_visible(part):
                    fragments.append(Fragment(cue, replace(line, text=part), whose, first))
                    first = False
            voice = parts[-1][1]  # a voice lasts until it is closed, or to the cue's end
    return fragments


def _parts(line: Line, voice: Voice | None, reading: Reading) -> list[tuple[str, Voice | None]]:
    parts: list[tuple[str, Voice | None]] = []
    text = ""
    at = 0
    for found in _MARKUP.finditer(line.text):
        text += line.text[at : found.start()]
        at = found.end()
        opened = _VOICE.fullmatch(found[0])
        if opened or found[0].lower() == "</v>":
            parts.append((text, voice))
            text = ""
            name = opened[1] if opened else ""
            tag = found[0].removesuffix(f"{name}>") + ">" if name else found[0]
            reading.leave_out(line.unit, "markup", tag, where=line.where)
            voice = _voice(line, name, reading) if name else None
        else:
            text += " " if found[0].lower().startswith("<br") else ""
            reading.leave_out(line.unit, "markup", found[0], where=line.where)
    parts.append((text + line.text[at:], voice))
    return parts


def _voice(line: Line, name: str, reading: Reading) -> Voice:
    # Until somebody speaks with it, it is a label without text.
    piece = Piece(line.unit, "labels without text", name, where=line.where)
    reading.pieces.append(piece)
    return Voice(without_marks(unescape(name)), piece)


def _find_labels(fragments: Sequence[Fragment], forced: Collection[str]) -> None:
    starts = []
    for i, fragment in enumerate(fragments):
        if fragment.voice is not None:
            continue
        before = fragments[i - 1] if i else None
        ended = before is None or before.voice is not None or labels.ends_sentence(before.line.text)
        beside = before is not None and before.cue is fragment.cue and bool(before.change)
        fragment.change = labels.change_mark(fragment.line.text[:60], after_sentence=ended or beside)
        start = labels.parse_colon(i, fragment.line)
        if start is not None:
            starts.append(replace(start, after_break=before is None or bool(fragment.change), after_sentence=ended))
    chosen = labels.accept(starts, sum(f.voice is None for f in fragments), forced)
    if not chosen and any(f.voice for f in fragments):
        known = {name_key(f.voice.name) for f in fragments if f.voice}
        chosen = [start for start in starts if start.key in known or start.key in forced]
    for start in chosen:
        fragments[start.index].start = start
    if not chosen and not any(f.voice for f in fragments):
        _names_on_top(fragments, forced)


def _names_on_top(fragments: Sequence[Fragment], forced: Collection[str]) -> None:
    """Find names on the first line of each cue, as older exports of Teams have them."""
    tops = [
        (i, f)
        for i, f in enumerate(fragments)
        if f.opens_cue and i + 1 < len(fragments) and fragments[i + 1].cue is f.cue
    ]
    num_cues = sum(f.opens_cue for f in fragments)
    names = [name_key(without_marks(f.line.text)[:200]) for _, f in tops]
    fit = [
        (i, f)
        for (i, f), name in zip(tops, names, strict=True)
        if name in forced or classify(without_marks(f.line.text)[:200]) in (NameKind.name, NameKind.role)
    ]
    if num_cues < 2 or 5 * len(fit) < 4 * num_cues or 2 * len(set(names)) > len(names) + 1:
        return
    for i, fragment in fit:
        text = without_marks(fragment.line.text)
        fragment.start = Start(i, fragment.line, text, "", len(fragment.line.text), "", NameKind.name)


def _tell(reading: Reading, cues: Sequence[Cue], fragments: Sequence[Fragment]) -> None:
    """Make the segments; the times of a cue go to the segment that begins in it."""
    timed: set[int] = set()
    for fragment in fragments:
        cue, line = fragment.cue, fragment.line
        begins = fragment.start is not None or fragment.voice is not None or bool(fragment.change)
        if not begins and reading.segments and not (fragment.opens_cue and reading.segments[-1].speaker is None):
            if fragment.opens_cue:
                reading.count("a cue that names nobody goes on with the speaker before it", line.where)
            _say(reading, line, line.text)
            continue
        time = "" if id(cue) in timed else cue.start
        timed.add(id(cue))
        rest = _begin(reading, fragment, time)
        _say(reading, line, rest)
    for cue in cues:
        text = cue.line.text
        if id(cue) in timed:
            at = text.index(cue.start)
            text = text[:at] + text[at + len(cue.start) :]
        elif not cue.lines:
            reading.count("a cue without text was left out", cue.line.where)
        reading.leave_out(cue.line.unit, "times of cues", text, where=cue.line.where)


def _say(reading: Reading, line: Line, text: str) -> None:
    reading.say(line.unit, text, value=unescape(text), join=" ", where=line.where)


def _begin(reading: Reading, fragment: Fragment, time: str) -> str:
    """Begin the segment and return what is said in the line."""
    line, start = fragment.line, fragment.start
    previous = reading.segments[-1] if reading.segments else None
    if fragment.voice is not None:
        if previous is not None and fragment.voice.piece in previous.labels:
            return line.text  # a second line of the same voice
        segment = reading.begin(line.unit, None, where=line.where)
        segment.speaker = fragment.voice.name
        fragment.voice.piece.use = "speaker"
        segment.labels.append(fragment.voice.piece)
    elif start is not None:
        beside = {REMARKS: start.remark, "times in labels": start.time}
        segment = reading.begin(line.unit, start.name, prefix=start.prefix, where=line.where, beside=beside)
    else:
        segment = reading.begin(line.unit, None, where=line.where, changes=bool(fragment.change))
        reading.mark(line.unit, fragment.change)
    if time:
        segment.time = time
        segment.labels.append(reading.add_time(fragment.cue.line.unit, time, where=fragment.cue.line.where))
    return line.text[start.text_at :] if start is not None else line.text[len(fragment.change) :]


def _alternate(reading: Reading) -> None:
    """Let the two speakers of a file take turns at dashes and ``>>`` that name nobody."""
    named = {name_key(s.speaker): s.speaker for s in reading.segments if s.speaker is not None}
    if len(named) != 2:
        return
    before: str | None = None
    for segment in reading.segments:
        if segment.changes and segment.speaker is None and before is not None:
            segment.speaker = next(name for key, name in named.items() if key != name_key(before))
            reading.count(
                f"guessed: a dash or '>>' without a name is the other speaker's, here {segment.speaker!r}",
                segment.where,
            )
        before = segment.speaker
