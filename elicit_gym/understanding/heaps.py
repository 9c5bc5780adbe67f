"""Tell one question from topics strung together: heaps of nouns, enumerations, the same question ten times over."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from elicit_gym.text import FUNCTION_WORDS

__all__ = ["chunks_of", "is_fragment", "is_function_word", "repeated_frames", "sounds_english"]

MAX_WORDS_IN_QUESTION = 34
MAX_CONTENT_WORDS = 16
MAX_NOUNS_IN_A_ROW = 7
MAX_WORDS_IN_FRAGMENT = 3
MIN_REPEATS = 3
"""So many questions in the same frame, or so many bare topics, are a list."""

_ASKING = frozenset(
    """what whats what's when where who whose whom why how which do does did is are was were can could will would should
    have has had any you your yours u ur need know tell describe explain share may might if whether anyone anybody there
    must""".split()
)
_SEPARATOR = re.compile(
    r"\s*(?:[,/;|&+:]|\.{2,}|->|[-–—](?=\s)|"
    r"\b(?:and|or|nor|plus|about|of|on|regarding|concerning|then|with|as well as|along with)\b)\s*"
)


def is_function_word(word: str) -> bool:
    """Say whether a word carries the grammar of a question and no topic."""
    return word in FUNCTION_WORDS or word.split("'", maxsplit=1)[0] in _ASKING


def sounds_english(words: Sequence[str], *, asking: bool) -> bool:
    """Say whether these words can be one English question: no heap of nouns, no list, nothing endless.

    Args:
        words: in lower case, in order.
        asking: whether it is a question by its own form, and not the rest of a request.
    """
    count = len(words)
    if count > MAX_WORDS_IN_QUESTION:
        return False
    grammar = [is_function_word(word) for word in words]
    content = count - sum(grammar)
    if count > 4 and count - content < 0.2 * count:
        return False
    if count > 9 and asking and _ASKING.isdisjoint([word.split("'")[0] for word in words]):
        return False
    if content > MAX_CONTENT_WORDS or _longest_run(grammar) > MAX_NOUNS_IN_A_ROW:
        return False
    pairs = Counter([(first, second) for first, second in pairwise(words) if first in FUNCTION_WORDS])
    if content >= 3 and max(pairs.values(), default=0) >= MIN_REPEATS:
        return False
    # A heap of topics without a verb between them: "the money the rules the time the helpers".
    articles = sum([word in ("the", "your", "a", "any") for word in words])
    return not (articles >= 4 and content >= 4 and count <= 2.6 * articles)


def _longest_run(grammar: Sequence[bool]) -> int:
    longest = run = 0
    for is_grammar in grammar:
        run = 0 if is_grammar else run + 1
        longest = max(longest, run)
    return longest


def is_fragment(words: Sequence[str], limit: int = MAX_WORDS_IN_FRAGMENT) -> bool:
    """Say whether these few words only name something: "the budget", "deadline"."""
    return 0 < len(words) <= limit and not any(word in _ASKING for word in words)


def repeated_frames(questions: Sequence[Sequence[str]]) -> list[bool]:
    """Say for each question whether three or more are it with other topics put in ("is there any X", ten times)."""
    frames = [tuple(dict.fromkeys(word if is_function_word(word) else "" for word in words)) for words in questions]
    count = Counter(frames)
    return [count[frame] >= MIN_REPEATS for frame in frames]


def chunks_of(text: str) -> list[list[str]]:
    """Cut a text at everything that can separate the entries of a list, and return the words of each entry.

    What is left of the frame ("what" of "what about X and Y") is not an entry.
    """
    entries = [[word.strip("'\"?!.:-") for word in chunk.split()] for chunk in _SEPARATOR.split(text)]
    return [entry for entry in entries if any(word and not is_function_word(word) for word in entry)]
