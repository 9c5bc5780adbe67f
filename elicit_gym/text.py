"""Words, their stems, and which of them carry a topic.

Linear in the first `READ_LIMIT` characters of a text and blind beyond them, whatever an agent sends.
"""

import re
from functools import lru_cache
from threading import Lock
from typing import Any

__all__ = ["FUNCTION_WORDS", "READ_LIMIT", "content_stems", "stem", "words"]

READ_LIMIT = 6_000

FUNCTION_WORDS = frozenset(
    """a about above across after again against all almost along already also although always am among an and
    another any anybody anyone anything are around as at away be because been before being below between both
    but by can cannot can't could did didn't do does doesn't doing don't done down during each either else
    enough even ever every everything exactly far few first for from further get getting give given go going got
    had has have haven't having he her here hers him his how however i i'd i'll i'm i've if in into is isn't it
    it's its itself just keep kind know last least let like likely little long look lot made make many may maybe
    me mean might mine more most much must my myself near need never next no nobody none nor not nothing now of
    off often ok okay on once one only onto or other others our ours out over own part perhaps please point
    possible quite rather really right s same say see seem several shall she should since so some somebody
    someone something sometimes soon still such sure t take tell than that that's the their them themselves then
    there there's these they thing things think this those though through to today together too toward towards
    truly try under until up upon us use very want was wasn't way we well were what what's whatever when where
    whether which while who whole whom whose why will with within without won't would wouldn't yes yet you you'd
    you'll you're you've your yours yourself share describe explain understand sort type""".split()
)
"""Words that carry no topic."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_stem_lock = Lock()
_stemmer: Any = None


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of one lower-case English word (Snowball)."""
    global _stemmer
    if word.isdigit():
        return word
    with _stem_lock:  # a Snowball stemmer keeps its word in itself
        if _stemmer is None:
            import snowballstemmer

            _stemmer = snowballstemmer.stemmer("english")
        return str(_stemmer.stemWord(word))


def _normalise(text: str) -> str:
    return text[:READ_LIMIT].lower().replace("’", "'").replace("‘", "'")


def words(text: str) -> list[str]:
    """Return the lower-case words of the first `READ_LIMIT` characters, in order."""
    return _WORD.findall(_normalise(text))


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry a topic."""
    # A user's replies are short and recur from episode to episode; long texts would only fill the cache.
    return _cached_content_stems(text) if len(text) <= 400 else _content_stems(text)


def _content_stems(text: str) -> frozenset[str]:
    return frozenset([stem(word) for word in words(text) if word not in FUNCTION_WORDS])


_cached_content_stems = lru_cache(maxsize=16_384)(_content_stems)
