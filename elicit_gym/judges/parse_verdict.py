"""Read a verdict from a judge's reply, strictly, since a wrong guess is worse than an unscored item.

What counts is the last verdict that the judge gives in its own name, in whatever shape models write one: a line, a
heading, a table, JSON, a tag, a first word before the reasons. What it quotes is not a verdict: nothing in quotation
marks, block quotes or fences counts, nor anything that the judged message contains word for word. Hedges, refusals,
contradictions and replies that were cut off stay unscored.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from elicit_gym.judges.answers import Statement, answer_of, words_of
from elicit_gym.judges.statements import statements_in
from elicit_gym.llm.content import clean_content

__all__ = ["parse_verdict", "parse_verdicts"]

Reading = tuple[bool | None, str | None]

LONGEST_REPLY = 40_000
_RUN = re.compile(r"[*_`\t ]{61,}|[^\S\n]{61,}")
"""Spaces and marks without end, which the patterns for statements would look at once for each of them."""
CUT_OFF = "the reply was cut off by the length limit"


def parse_verdict(text: str, judged: str = "", *, mark: str = "", truncated: bool = False) -> Reading:
    """Read the one verdict of a reply; see `parse_verdicts`.

    Returns:
        True, False or None, and the reason if it is None.
    """
    verdicts, reason = parse_verdicts(text, 1, judged, mark=mark, truncated=truncated)
    return verdicts[0], reason


def parse_verdicts(
    text: str, count: int, judged: str = "", *, mark: str = "", truncated: bool = False
) -> tuple[list[bool | None], str | None]:
    """Read `count` verdicts of a reply, numbered from 1.

    Args:
        text: the reply.
        count: the number of criteria that it answers.
        judged: what the judge was shown, the judged message above all; a verdict that stands in it word for word
            counts for nothing.
        mark: a mark that the judged message cannot contain; a verdict line that bears it is the judge's own.
        truncated: whether the reply was cut off by a length limit.

    Returns:
        One answer per criterion, and a reason if any of them is None.
    """
    if truncated:
        return [None] * count, CUT_OFF
    if len(text) > LONGEST_REPLY:
        return [None] * count, f"the reply is longer than {LONGEST_REPLY:,} characters"
    reply, _ = clean_content(text, None, "stop")
    reply = _RUN.sub(lambda run: run[0][:60], reply)
    whole = answer_of(reply) if count == 1 else None
    if whole is not None and not _stands_in(Statement(0, None, whole, reply), judged):
        return [whole], None
    found = statements_in(reply, count, mark)
    verdicts: list[bool | None] = []
    reason: str | None = None
    for number in range(1, count + 1):
        verdict, why = _last_of([s for s in found if s.number == number or (count == 1 and s.number is None)], judged)
        verdicts.append(verdict)
        if why is not None:
            reason = why if count == 1 else f"{why} for criterion {number}"
    return verdicts, reason


def _last_of(statements: Sequence[Statement], judged: str) -> Reading:
    """Return what the last of these statements says, if it can be told that it is the judge's own."""
    if not statements:
        return None, "no result line"
    last = statements[-1]
    if _stands_in(last, judged):
        return None, "the last verdict stands word for word in the judged message"
    if last.answer is None:
        return None, "the verdict is neither yes nor no"
    before = statements[-2] if len(statements) > 1 else None
    if before is not None and before.adjoins and before.answer is not last.answer and not _stands_in(before, judged):
        return None, "two verdicts contradict each other"
    return last.answer, None


def _stands_in(statement: Statement, judged: str) -> bool:
    """Say whether the judged message holds this statement: as words in a row, or as a line if it is one word."""
    said = words_of(statement.text)
    if not judged or statement.marked or not said:
        return False
    if len(said) > 1:
        return f" {' '.join(said)} " in _in_words(judged)
    return any(words_of(line) == said for line in judged.splitlines())


@lru_cache(maxsize=256)
def _in_words(judged: str) -> str:
    """Return the words of a judged message in a row; one message is judged by several criteria."""
    return f" {' '.join(words_of(judged))} "
