"""What a careful interviewer can ask and advise whatever the subject, and which of it calls for what was heard.

Each question and piece of advice has cues: words of subjects that it fits. Words are compared by the package's static
vectors, so that a cue is met by what means nearly the same. `benchmarks/fit_adaptive.py` writes how much each question
is worth whatever the subject, measured on the train split.
"""

import json
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_gym.understanding.plain_text import words_of
from elicit_gym.understanding.vectors import DIMENSIONS, word_vectors
from elicit_gym.understanding.word_table import content_words

__all__ = ["Bank", "BankName", "Entry", "bank"]

BankName = Literal["questions", "advice"]

CUE_WEIGHT = 0.5
"""What a perfectly met cue is worth; fitted by cross-validation on the train split."""
CUES_THAT_COUNT = 2


class Entry(NamedTuple):
    """A sentence that fits any user.

    Attributes:
        text: the sentence.
        cues: words of subjects that call for it; its own topic words are cues too.
        worth: how often it earns something, whatever the subject.
    """

    text: str
    cues: tuple[str, ...]
    worth: float


class Bank:
    """Sentences, and how near what was heard is to the cues of each.

    Args:
        entries: the sentences.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self.entries = tuple(entries)
        vectors = word_vectors()
        words = [dict.fromkeys([*e.cues, *content_words(words_of(e.text.lower()))]) for e in self.entries]
        self._cues = np.zeros((len(words), max(map(len, words)), DIMENSIONS), dtype=np.float32)
        for i, cues in enumerate(words):
            for j, word in enumerate(cues):
                self._cues[i, j] = vectors.vector(word)
        self.nearest = lru_cache(maxsize=1_024)(self._nearest)
        self._worth = np.array([entry.worth for entry in self.entries], dtype=np.float32)

    def ranked(self, heard: Iterable[str], least: float = 0.0) -> list[str]:
        """Return the sentences, the ones that what was heard calls for first.

        Args:
            heard: messages of the user's.
            least: how well the cues must be met, from 0 to 1.
        """
        met = self._met(heard)
        score = self._worth + CUE_WEIGHT * met**2
        return [self.entries[i].text for i in np.argsort(-score, kind="stable") if met[i] >= least]

    def _met(self, heard: Iterable[str]) -> NDArray[np.float32]:
        nearest = [self.nearest(message) for message in dict.fromkeys(heard)]
        best = np.maximum.reduce(
            [found for found in nearest if found is not None] or [np.zeros_like(self._cues[..., 0])]
        )
        best = np.sort(best, axis=1)[:, -CUES_THAT_COUNT:]
        met: NDArray[np.float32] = np.clip(best.mean(axis=1), 0.0, 1.0)
        return met

    def _nearest(self, message: str) -> NDArray[np.float32] | None:
        """Return how near the nearest word of a message is to each cue; None for a message without topic words."""
        words = content_words(words_of(message.lower()))
        if not words:
            return None
        spoken = np.stack([word_vectors().vector(word) for word in words])
        nearest: NDArray[np.float32] = (self._cues @ spoken.T).max(axis=2)
        return nearest


@cache
def bank(name: BankName) -> Bank:
    """Load a bank that comes with the package."""
    text = (files("elicit_gym.agents.baselines") / f"{name}.json").read_text(encoding="utf-8")
    rows = json.loads(text)
    return Bank([Entry(row["text"], tuple(row["cues"]), row.get("worth", 0.0)) for row in rows])
