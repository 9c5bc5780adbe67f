"""SubRip and WebVTT as cues, line by line; nothing of the file is thrown away here."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing.characters import is_visible, without_marks
from elicit_gym.offline.importing.source import Line, Reading

__all__ = ["Cue", "is_timing", "looks_like_cues", "parse_cues"]

_STAMP = r"(?:\d{1,3}:)?\d{1,3}:\d{1,2}[.,]\d{1,3}|(?:\d{1,3}:)?\d{1,3}:\d{1,2}"
_TIMING = re.compile(rf"[ \t]*(?P<start>{_STAMP})[ \t]*-->[ \t]*(?P<end>{_STAMP})(?P<settings>(?:[ \t].*)?)$")
_FULL = r"\d{1,3}:\d{1,2}:\d{1,2}(?:[.,]\d{0,3})?"
_ALMOST = re.compile(rf"{_FULL}\s{{0,5}}(?:-{{1,3}}>|-{{2,3}}|=>|→)\s{{0,5}}(?:{_FULL})?$|\d{{1,3}}:.{{0,40}}-->")
_BLOCK = re.compile(r"(NOTE|STYLE|REGION)(?:[ \t].*)?$")


@dataclass(slots=True)
class Cue:
    """One cue.

    Attributes:
        start: as written.
        lines: of the payload that are not empty.
    """

    line: Line
    start: str
    seconds: float
    lines: list[Line] = field(default_factory=list)


def is_timing(line: Line) -> re.Match[str] | None:
    """Match a line with a cue's times."""
    text = line.text
    return _TIMING.match(text) if "-->" in text[:120] else None


def looks_like_cues(lines: Sequence[Line]) -> bool:
    """Say whether a text is subtitles: WebVTT's first line, or times with an arrow before any fourth line."""
    first = next((without_marks(line.text) for line in lines if is_visible(line.text)), "")
    if first.split(maxsplit=1)[:1] == ["WEBVTT"]:
        return True
    timings = sum(is_timing(line) is not None for line in lines)
    return timings > 0 and 8 * timings >= sum((is_visible(line.text)) for line in lines)


def parse_cues(lines: Sequence[Line], path: str, reading: Reading) -> list[Cue]:
    """Split subtitles into cues; what is no cue's text is left out of `reading` by name.

    Raises:
        SettingError: there is no cue, or a line is almost one with times.
    """
    matches = [is_timing(line) for line in lines]
    names = _identifiers(lines, matches)
    cues: list[Cue] = []
    block = ""  # the header or the block that is being skipped
    for i, line in enumerate(lines):
        text = without_marks(line.text)
        found = matches[i]
        if found:
            block = ""
            cues.append(Cue(line, found["start"], _seconds(found["end"]) - _seconds(found["start"])))
        elif not text:
            block = ""
        elif i in names:
            reading.leave_out(line.unit, "cue numbers", line.text, where=line.where)
        elif block:
            reading.leave_out(line.unit, block, line.text, keep=block == "notes", where=line.where)
        elif not cues and text.startswith("WEBVTT"):
            block = "subtitles' header"
            reading.leave_out(line.unit, block, line.text, where=line.where)
        elif (opened := _BLOCK.match(text[:200])) and _after_empty(lines, i):
            block = "notes" if opened[1] == "NOTE" else "subtitles' styles"
            reading.leave_out(line.unit, block, line.text, keep=block == "notes", where=line.where)
        elif _ALMOST.match(text[:120]):
            raise SettingError(
                f"Importing {path}: expected times such as '00:00:03,000 --> 00:00:05,000', got {text[:60]!r} "
                f"({line.where}). Fix the line."
            )
        elif cues:
            if i and not lines[i - 1].text:
                reading.count("text after an empty line belongs to the cue above it", line.where)
            cues[-1].lines.append(line)
        else:
            reading.leave_out(line.unit, "headings", line.text, keep=True, where=line.where)
    if not cues:
        raise SettingError(
            f"Importing {path}: expected cues with times such as '00:00:03,000 --> 00:00:05,000', got none. "
            "Check the file."
        )
    return cues


def _after_empty(lines: Sequence[Line], i: int) -> bool:
    return i == 0 or not is_visible(lines[i - 1].text)


def _identifiers(lines: Sequence[Line], matches: Sequence[re.Match[str] | None]) -> set[int]:
    """Find the lines that number or name a cue: the one above its times."""
    above = [
        i - 1 for i, found in enumerate(matches) if found and i and is_visible(lines[i - 1].text) and not matches[i - 1]
    ]
    opening = [i for i in above if _after_empty(lines, i)]
    timings = sum(found is not None for found in matches)
    # Names of cues may be any text: they count where cues have them throughout, and never follow text directly.
    named = 5 * len(opening) >= 4 * timings and len({lines[i].text for i in opening}) == len(opening)
    chosen = set()
    number = 0
    for i in above:
        text = without_marks(lines[i].text)
        is_number = len(text) <= 9 and text.isdecimal()
        if is_number and (_after_empty(lines, i) or int(text) == number + 1):
            chosen.add(i)
            number = int(text)
        elif not is_number and named and _after_empty(lines, i) and not text.startswith(("WEBVTT", "NOTE")):
            chosen.add(i)
    return chosen


def _seconds(stamp: str) -> float:
    parts = stamp.replace(",", ".").split(":")
    total = 0.0
    for part in parts:
        total = 60 * total + float(part)
    return total
