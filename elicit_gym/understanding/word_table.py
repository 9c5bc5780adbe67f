"""The words of a scenario, and how well any word matches each group of its texts."""

from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from elicit_gym.text import FUNCTION_WORDS, stem
from elicit_gym.understanding.vectors import DIMENSIONS, word_vectors

__all__ = ["WordTable", "content_words"]

Floats = NDArray[np.float32]

_MAX_CACHED_WORDS = 8_192
_TYPO_DICE = 0.45
_GENERIC = frozenset(
    """more bit little detail details situation specific specifically information info context background else currently
    current please maybe perhaps help understand know tell exactly actually usually generally roughly about there
    something anything thing things""".split()
)
"""Words that carry no topic in a question, beside the function words."""


def content_words(words: Iterable[str]) -> list[str]:
    """Return the words that carry a topic, each once, in order."""
    return [w for w in dict.fromkeys(words) if w not in FUNCTION_WORDS and w not in _GENERIC and not w.isdigit()]


def _trigrams(word: str) -> frozenset[str]:
    padded = f"^{word}$"
    return frozenset([padded[i : i + 3] for i in range(len(padded) - 2)])


class WordTable:
    """The content words of several groups of texts, and how well any word matches each group.

    Args:
        groups: the texts of each group, as words.
    """

    def __init__(self, groups: Sequence[Sequence[Sequence[str]]]) -> None:
        vectors = word_vectors()
        in_group: list[Counter[str]] = []
        spoken: dict[str, str] = {}
        for texts in groups:
            counts: Counter[str] = Counter()
            for text in texts:
                kept = content_words(text)
                counts.update({stem(word) for word in kept})
                for word in kept:
                    spoken.setdefault(stem(word), word)
            in_group.append(counts)
        total: Counter[str] = Counter()
        for counts in in_group:
            total.update(counts)
        entries: list[str] = []
        starts, shares = [], []
        for counts in in_group:
            starts.append(len(entries))
            for stemmed, count in counts.items() or [("", 0)]:
                entries.append(stemmed)
                shares.append(count / total[stemmed] * min(1.0, 0.4 + 0.3 * count) if count else 0.0)
        self._at: dict[str, list[int]] = {}
        for i, stemmed in enumerate(entries):
            self._at.setdefault(stemmed, []).append(i)
        self._starts = np.array(starts)
        self._shares = np.array(shares, dtype=np.float32)
        zeros = np.zeros(DIMENSIONS, np.float32)
        self._vectors = np.stack([vectors.vector(spoken[s]) if s else zeros for s in entries])
        self._grams = [(at, _trigrams(spoken[s])) for s, at in self._at.items() if len(spoken.get(s, "")) >= 4]
        self._cache: dict[str, Floats] = {}

    def match(self, word: str) -> Floats:
        """Return how well a word matches each group's nearest word (0 to 1), and how much it points to that group.

        Returns:
            Shape (2, num_groups).
        """
        found = self._cache.get(word)
        if found is None:
            if len(self._cache) >= _MAX_CACHED_WORDS:
                self._cache.clear()
            found = self._cache[word] = self._match(word)
        return found

    def _match(self, word: str) -> Floats:
        vectors = word_vectors()
        scores = np.clip(self._vectors @ vectors.vector(word), 0.0, 0.95)
        exact = self._at.get(stem(word))
        if exact:
            scores[exact] = 1.0
        elif word not in vectors and len(word) >= 4:
            grams = _trigrams(word)
            for at, others in self._grams:
                dice = 2 * len(grams & others) / (len(grams) + len(others))
                if dice > _TYPO_DICE:
                    scores[at] = np.maximum(scores[at], 0.55 + 0.45 * dice)
        pointed = scores**4 * self._shares
        return np.stack([np.maximum.reduceat(scores, self._starts), np.maximum.reduceat(pointed, self._starts)]).astype(
            np.float32
        )
