"""Progression, and the encoder behind it."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Encoder", "load_encoder", "progression_of_vectors"]

Encoder = Callable[[Sequence[str]], NDArray[np.float32]]
"""A function from n texts to vectors, shape (n, D)."""


def load_encoder(model: str = "sentence-transformers/all-MiniLM-L12-v2") -> Encoder:
    """Return a sentence-transformers encoder that encodes each distinct text once.

    Args:
        model: an id on the hub, or a folder; the paper's model by default.

    Raises:
        MissingExtraError: the extra ``metrics`` is not installed.
    """
    from elicit_gym.judges.embedding import load_sentence_transformer

    encoder = load_sentence_transformer(model)
    known: dict[str, NDArray[np.float32]] = {}

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            # The longest come first, so that batches need little padding.
            new.sort(key=len, reverse=True)
            clean = [text.encode("utf-8", "replace").decode("utf-8") for text in new]
            vectors = encoder.encode(clean, batch_size=32, show_progress_bar=False)
            known.update(zip(new, np.asarray(vectors, dtype=np.float32), strict=True))
        return np.stack([known[text] for text in texts])

    return encode


def progression_of_vectors(vectors: NDArray[Any], k: int = 5, gamma: float = 0.5) -> float | None:
    """Return the Progression of a conversation: the decayed mean cosine distance of each utterance to the k before it.

    Args:
        vectors: the vectors of the utterances, oldest first, shape (L, D).
        k: the number of utterances to look back.
        gamma: the decay; with k = 1 and gamma = 1 the measure is symmetric.

    Returns:
        A number in [0, 2]; None for a conversation of k utterances or fewer (the public package returns 0).

    References:
        YIELD, Equation 5; Section 6.5.2 for k = 5 and gamma = 0.5.
    """
    length = len(vectors)
    if length <= k:
        return None
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit = vectors / np.where(norms == 0, 1.0, norms)
    weights = gamma ** np.arange(1, k + 1)  # (k,)
    total = 0.0
    for t in range(k, length):
        similarity = unit[t - k : t][::-1] @ unit[t]  # (k,), nearest first
        total += float(weights @ (1.0 - similarity) / weights.sum())
    return total / (length - k)
