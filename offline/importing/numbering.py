"""Line numbers down the margin, as depositions have them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from elicit_gym.offline.importing.characters import is_visible
from elicit_gym.offline.importing.source import Line

__all__ = ["Numbering", "read_numbering"]

_NUMBER = re.compile(r"[ \t]*(\d{1,3})(?=[ \t]|$)")


@dataclass(frozen=True, slots=True)
class Numbering:
    """Lines without their numbers, and the numbers."""

    lines: list[Line]
    numbers: list[tuple[Line, str]]


def read_numbering(lines: Sequence[Line]) -> Numbering | None:
    """Take line numbers off where most lines have them and they count up; None where there are none."""
    spoken = [line for line in lines if is_visible(line.text)]
    numbered = [(line, int(found[1])) for line in spoken if (found := _NUMBER.match(line.text[:40]))]
    if len(numbered) < 4 or 10 * len(numbered) < 7 * len(spoken):
        return None
    steps = sum(b - a in (1, 2) or b == 1 for (_, a), (_, b) in pairwise(numbered))
    if 10 * steps < 9 * (len(numbered) - 1):
        return None
    result = Numbering([], [])
    before, page = 0, -1
    for line in lines:
        found = _NUMBER.match(line.text[:40])
        number = int(found[1]) if found else -1
        fits = 0 < number - before <= 3 or number == 1 or (line.page != page and number <= 3)
        if found and fits:
            result.numbers.append((line, found[1]))
            result.lines.append(replace(line, text=line.text[found.end() :]))
            before, page = number, line.page
        else:
            result.lines.append(line)
    return result if any(is_visible(line.text) for line in result.lines) else None
