"""Tell a question of the agent's own from the user's words handed back."""

from collections.abc import Iterable, Sequence
from difflib import SequenceMatcher
from functools import lru_cache

from elicit_gym.text import content_stems, stem, words
from elicit_gym.understanding.clauses import Clause, split_clauses
from elicit_gym.understanding.patterns import EMPTY_FRAME
from elicit_gym.understanding.vectors import word_vectors

__all__ = ["ECHO", "FRAME_STEMS", "all_heard", "confidence_needed", "is_copy", "says_nothing", "share_copied"]

ECHO = 2.0
"""More than any confidence: not even the surest reading makes this a question of the agent's own."""
BORROWED = 0.6
"""Confidence that a question needs when all of its topic words are the user's own."""
SURE = 0.85
"""The same where its frame says nothing either."""

FRAME_STEMS = content_stems(
    """problem problems trouble troubles issue issues matter matters worry worries worried concern concerns feel feeling
    feelings mean meaning important importance role play story deal wrong bother bothers bothered relevant
    situation topic subject affect affects come comes word"""
)
"""Stems of what asks how things stand with a topic, and says nothing of it: "is X a problem"."""

MIN_COPIED = 4
COPIED_SHARE = 0.8
MIN_LETTERS = 4


def says_nothing(clause: Clause, topic: frozenset[str]) -> bool:
    """Say whether all that a question says of its own is its topic: "is X a problem", "tell me about X"."""
    if clause.wh == "whether":
        return bool(topic & FRAME_STEMS) or clause.probe is not None or EMPTY_FRAME.match(clause.text) is not None
    return clause.probe == "more" or (clause.probe is not None and topic.isdisjoint(FRAME_STEMS))


def confidence_needed(clause: Clause, topic: frozenset[str], lately: frozenset[str], ever: frozenset[str]) -> float:
    """Return how sure the reading of a clause must be for it to be more than an echo.

    Args:
        clause: a question or a suggestion.
        topic: stems of its topic words.
        lately: stems of the opening message and of the message that is answered.
        ever: these, and stems of whatever else the user may have said.
    """
    own = topic - FRAME_STEMS
    if not own or not all_heard(own, ever):
        return 0.0
    if clause.wh is None or clause.probe == "more":
        return ECHO
    if says_nothing(clause, topic):
        return ECHO if all_heard(own, lately) else SURE
    return SURE if clause.probe is not None else BORROWED


def all_heard(topic: Iterable[str], heard: frozenset[str]) -> bool:
    """Say whether all of these stems have been heard, a misspelt one under its nearest."""
    return all(stem in heard or _is_nearly_heard(stem, heard) for stem in topic)


def _is_nearly_heard(stem: str, heard: frozenset[str]) -> bool:
    if len(stem) < MIN_LETTERS or stem in word_vectors():
        return False
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    cutoff = 1 if len(stem) == MIN_LETTERS else 2
    return process.extractOne(stem, heard, scorer=OSA.distance, score_cutoff=cutoff) is not None


def is_copy(said: Sequence[str], text: str) -> bool:
    """Say whether what was said is for the most part a text that was heard, function words included."""
    words = frozenset(said)
    return len(words) >= MIN_COPIED and len(words & _words_of(text)) >= COPIED_SHARE * len(words)


def share_copied(text: str, source: str) -> tuple[float, int]:
    """Return the share of a text's words that stand in another text in the same order, and how many words it has."""
    said = [stem(word) for word in words(text)]
    matcher = SequenceMatcher(None, said, [stem(word) for word in words(source)], autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks()) / max(1, len(said)), len(said)


@lru_cache(maxsize=4_096)
def _words_of(text: str) -> frozenset[str]:
    return frozenset([word for clause in split_clauses(text) for word in clause.words])
