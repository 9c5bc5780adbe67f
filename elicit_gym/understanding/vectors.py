"""Static word vectors: the meaning of a word as 64 numbers, looked up and never computed.

`vectors.npz` is distilled from all-MiniLM-L6-v2 by `benchmarks/distil_word_vectors.py`, stored as int8. The weighted
mean of a sentence's words imitates what the model makes of the sentence.

References:
    all-MiniLM-L6-v2 (Apache 2.0), https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2. Tulkens and van
    Dongen, "Model2Vec" (2024): static vectors by one pass over the vocabulary, principal components, Zipf weights.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files
from math import sqrt

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIMENSIONS", "WordVectors", "pieces_of", "word_vectors"]

DIMENSIONS = 64

_LONGEST_PIECE = 18
_NUM_UNKNOWN = 4_096


class WordVectors:
    """Vectors and weights of words, also of those that the vocabulary lacks.

    Args:
        tokens: words, and word pieces that begin with ``##``, the most frequent first.
        vectors: shape (V, 64), rows of length 1.
        weights: shape (V,), how much each says in a sentence.
    """

    def __init__(self, tokens: Sequence[str], vectors: NDArray[np.float32], weights: NDArray[np.float32]) -> None:
        count = len(tokens)
        self._row = {token: i for i, token in enumerate(tokens)}
        # Unknown words get rows of their own behind the others; when these are full, the oldest are overwritten.
        self._vectors = np.concatenate([vectors, np.zeros((_NUM_UNKNOWN, DIMENSIONS), np.float32)])
        self._weighted = self._vectors * np.concatenate([weights, np.ones(_NUM_UNKNOWN, np.float32)])[:, None]
        self._weights: list[float] = [*weights.tolist(), *([1.0] * _NUM_UNKNOWN)]
        self._num_known = count
        self._unknown: dict[str, int] = {}

    def __contains__(self, word: str) -> bool:
        return word in self._row

    def frequent_words(self, count: int) -> tuple[str, ...]:
        """Return whole words of two letters or more, the most frequent first."""
        return tuple([token for token in self._row if token.isalpha() and len(token) > 1][:count])

    def row(self, word: str) -> int:
        """Return the row of a lower-case word."""
        found = self._row.get(word)
        return found if found is not None else self._row_of_unknown(word)

    def vector(self, word: str) -> NDArray[np.float32]:
        """Return the word's vector, of length 1 (zeros where even its pieces are unknown). Shape (64,)."""
        return np.array(self._vectors[self.row(word)], dtype=np.float32)

    def weight(self, word: str) -> float:
        """Return how much a word says; some 0 for function words, some 1 for rare ones."""
        found = self._row.get(word)
        return self._weights[found] if found is not None else 1.0

    def sentence(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the weighted mean of the words' vectors, of length 1 (zeros where no word is known).

        Returns:
            Shape (64,).
        """
        if not words:
            return np.zeros(DIMENSIONS, dtype=np.float32)
        total: NDArray[np.float32] = np.add.reduce(self._weighted[[self.row(word) for word in words]], axis=0)
        norm = sqrt(float(total @ total))
        if norm > 0:
            total /= np.float32(norm)
        return total

    def _row_of_unknown(self, word: str) -> int:
        if word.isdigit():
            return self._row["number"]
        row = self._unknown.get(word)
        if row is not None:
            return row
        if len(self._unknown) >= _NUM_UNKNOWN:
            self._unknown.clear()
        row = self._num_known + len(self._unknown)
        pieces = pieces_of(word, self._row)
        total = self._vectors[pieces].sum(axis=0) if pieces else np.zeros(DIMENSIONS, np.float32)
        self._vectors[row] = self._weighted[row] = total / max(float(np.linalg.norm(total)), 1e-6)
        self._unknown[word] = row
        return row


def pieces_of(word: str, rows: Mapping[str, int]) -> list[int]:
    """Return the row of a word, or the rows of its pieces, the longest first, as the model's tokenizer splits.

    Args:
        word: in lower case.
        rows: from word, or piece behind ``##``, to row.
    """
    found: list[int] = []
    start = 0
    while start < len(word):
        for end in range(min(len(word), start + _LONGEST_PIECE), start, -1):
            row = rows.get(word[start:end] if start == 0 else "##" + word[start:end])
            if row is not None:
                found.append(row)
                start = end
                break
        else:
            return []
    return found


@cache
def word_vectors() -> WordVectors:
    """Load the vectors that come with the package; once per process."""
    with (files("elicit_gym.understanding") / "vectors.npz").open("rb") as file, np.load(file) as stored:
        tokens = bytes(stored["tokens"]).decode("utf-8").split("\n")
        vectors = stored["vectors"].astype(np.float32)
        weights = stored["weights"].astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return WordVectors(tokens, vectors, weights)
