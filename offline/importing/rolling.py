"""Captions that roll: each cue repeats the lines before it, so that every word stands two or three times."""

from collections.abc import Sequence
from itertools import pairwise

from elicit_gym.offline.importing.cues import Cue

__all__ = ["repeated_lines"]


def _overlap(before: Sequence[str], lines: Sequence[str]) -> int:
    """Return how many of the first lines are the last ones of the cue before."""
    return next((k for k in range(min(len(before), len(lines), 4), 0, -1) if list(before[-k:]) == list(lines[:k])), 0)


def repeated_lines(cues: Sequence[Cue], texts: Sequence[Sequence[str]]) -> list[int]:
    """Return for each cue how many of its first lines are repetitions; zeros where the captions do not roll.

    Somebody may well say "No." twice. Captions roll where line after line is shown again together with a new one, or
    for an instant only.

    Args:
        cues: of the file.
        texts: the lines of each cue, without markup.
    """
    overlaps = [0] + [_overlap(before, lines) for before, lines in pairwise(texts)]
    signs = sum(
        k > 0 and (len(lines) > k or cue.seconds <= 0.05) for k, lines, cue in zip(overlaps, texts, cues, strict=True)
    )
    shown = sum(bool(lines) for lines in texts)
    if signs >= 2 and 10 * signs >= 3 * shown:
        return overlaps
    return _grown(texts)


def _grown(texts: Sequence[Sequence[str]]) -> list[int]:
    """Find captions that grow word by word: a cue whose whole text opens the next one is shown again there."""
    joined = [" ".join(lines) for lines in texts]
    grows = [bool(now) and after != now and after.startswith(now + " ") for now, after in pairwise(joined)] + [False]
    if sum(grows) < 3 or 2 * sum(grows) < len(texts):
        return [0] * len(texts)
    return [len(lines) if grow else 0 for lines, grow in zip(texts, grows, strict=True)]
