"""Whether the parts of a scenario go together: none repeats another, and the checklist does not give itself away.

These rules read words. What only a reader of the meaning sees (a cellar on the top floor) is asked of a model when a
scenario is generated (`elicit_gym.scenarios.stages`).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from elicit_gym.text import content_stems, words

__all__ = ["MAX_SHARED", "coherence_problems", "in_the_same_words"]

MAX_SHARED = 0.6
"""Largest share of the content of one text that another may have."""
MIN_DETAIL = 3
MIN_CONTENT = 2
"""Fewer words than this may meet by chance."""

_HEAD = re.compile(r"^Did the assistant\s+\S+")


def in_the_same_words(first: frozenset[str], second: frozenset[str], *, share: float = MAX_SHARED) -> bool:
    """Say whether the shorter of two texts, given by their content stems, has most of its content from the other."""
    shorter = min(len(first), len(second))
    return bool(shorter) and len(first & second) >= share * shorter


def coherence_problems(row: Mapping[str, Any]) -> Iterator[str]:
    """Yield where the parts of a row of a sound structure repeat each other or give the checklist away.

    Args:
        row: with ``opening_message``, ``goal``, ``obstacle``, ``constraints`` and ``checklist`` (texts).
    """
    hidden = [
        ("goal", row["goal"]),
        ("obstacle", row["obstacle"]),
        *((f"constraint {i}", text) for i, text in enumerate(row["constraints"], 1)),
    ]
    stems = [content_stems(text) for _, text in hidden]
    for i, (name, text) in enumerate(hidden):
        for (other, _), others in zip(hidden[:i], stems[:i], strict=True):
            # Two phrases of a few words each may share some ("in nine days"); what is wholly in another adds nothing.
            if min(len(stems[i]), len(others)) >= MIN_CONTENT and in_the_same_words(stems[i], others, share=1.0):
                yield f"{name!r} says what {other!r} says, got {text!r}. Change one."
    yield from _problems_of_checklist(row["checklist"], row["opening_message"], hidden, stems)


def _problems_of_checklist(
    questions: Sequence[str], opening: str, hidden: Sequence[tuple[str, str]], stems: Sequence[frozenset[str]]
) -> Iterator[str]:
    said = content_stems(opening)
    seen: dict[frozenset[str], int] = {}
    for number, question in enumerate(questions, 1):
        if not _HEAD.match(question):
            yield f"'checklist' {number} must begin with 'Did the assistant', got {question!r}. Reword it."
            continue
        asked = _HEAD.sub("", question)
        own = content_stems(asked)
        if len(own) >= MIN_CONTENT and own <= said:
            yield f"'checklist' {number} is told by the opening message, got {question!r}. Ask for another thing."
        for (name, text), detail in zip(hidden, stems, strict=True):
            if len(detail) >= MIN_DETAIL and detail <= own:
                yield (
                    f"'checklist' {number} gives the {name} away, got {question!r} ({text!r}). Name the matter and not "
                    "the answer."
                )
        again = own if len(own) >= MIN_CONTENT else frozenset(words(asked))
        if seen.setdefault(again, number) != number:
            yield f"'checklist' {number} is in the words of {seen[again]}, got {question!r}. Reword one."
