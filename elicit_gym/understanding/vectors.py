"""Static word vectors: the meaning of a word as 64 numbers, looked up and never computed.

`vectors.npz` is distilled from all-MiniLM-L6-v2 by `benchmarks/distil_word_vectors.py`: every whole word and word piece
of its vocabulary goes through the model once, the results are reduced to 64 dimensions by principal components and
stored as int8. A word's weight is the logarithm of its rank in that vocabulary, which is sorted by frequency.

References:
    all-MiniLM-L6-v2 (Apache 2.0), https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2. Tulkens and van
    Dongen, "Model2Vec" (2024): static vectors by one pass over the vocabulary, principal components, Zipf weights.
"""

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

__all__ = ["DIMENSIONS", "WordVectors", "word_vectors"]

DIMENSIONS = 64

_LONGEST_PIECE = 18


class WordVectors:
    """Vectors and weights of words, also of those that the vocabulary lacks.

    Args:
        tokens: words, and word pieces that begin with ``##``, the most frequent first.
        vectors: shape (V, 64), rows of length 1.
    """

    def __init__(self, tokens: Sequence[str], vectors: NDArray[np.float32]) -> None:
        self._row = {token: i for i, token in enumerate(tokens)}
        self._vectors = vectors
        self._weights = np.log(2.0 + np.arange(len(tokens), dtype=np.float32)) / np.float32(np.log(2.0 + len(tokens)))
        self._weights **= 2
        self.vector = lru_cache(maxsize=65_536)(self._vector)

    def __contains__(self, word: str) -> bool:
        return word in self._row

    def _vector(self, word: str) -> tuple[NDArray[np.float32], float]:
        """Return a lower-case word's vector (length 1) and its weight (0 to 1, rarer is heavier)."""
        row = self._row.get(word)
        if row is not None:
            return self._vectors[row], float(self._weights[row])
        rows = self._pieces(word)
        if not rows:
            return np.zeros(DIMENSIONS, dtype=np.float32), 1.0
        total = self._vectors[rows].sum(axis=0)
        return total / max(float(np.linalg.norm(total)), 1e-6), 1.0

    def _pieces(self, word: str) -> list[int]:
        """Split an unknown word as the model's tokenizer does: the longest known piece first."""
        rows: list[int] = []
        start = 0
        while start < len(word):
            for end in range(min(len(word), start + _LONGEST_PIECE), start, -1):
                row = self._row.get(word[start:end] if start == 0 else "##" + word[start:end])
                if row is not None:
                    rows.append(row)
                    start = end
                    break
            else:
                return []
        return rows

    def sentence(self, words: Sequence[str]) -> NDArray[np.float32]:
        """Return the weighted mean of the words' vectors, of length 1 (zeros where no word is known).

        Returns:
            Shape (64,).
        """
        total = np.zeros(DIMENSIONS, dtype=np.float32)
        for word in words:
            vector, weight = self.vector(word)
            total += weight * vector
        norm = float(np.sqrt(total @ total))
        return total / norm if norm > 0 else total


@cache
def word_vectors() -> WordVectors:
    """Load the vectors that come with the package; once a process."""
    with (files("elicit_gym.understanding") / "vectors.npz").open("rb") as file, np.load(file) as stored:
        tokens = bytes(stored["tokens"]).decode("utf-8").split("\n")
        vectors = stored["vectors"].astype(np.float32)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-6)
    return WordVectors(tokens, vectors)
