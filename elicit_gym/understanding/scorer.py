"""From features to confidence: logistic regressions, fitted once by `benchmarks/fit_understanding.py`."""

import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Scorer", "scorers"]

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class Scorer:
    """A logistic regression on raw features.

    Attributes:
        features: their names, in order.
        weights: shape (F,), the standardisation folded in.
        bias: likewise.
        threshold: least confidence that counts as a yes.
    """

    features: tuple[str, ...]
    weights: Floats
    bias: np.float32
    threshold: float

    def __call__(self, rows: Floats) -> Floats:
        """Return a confidence from 0 to 1 for each row.

        Args:
            rows: shape (N, F).

        Returns:
            Shape (N,).
        """
        confidences: Floats = 1.0 / (1.0 + np.exp(-(rows @ self.weights + self.bias)))
        return confidences


def scorer_from(stored: dict[str, Any]) -> Scorer:
    """Build a scorer from what the file stores of it."""
    return Scorer(
        features=tuple(stored["features"]),
        weights=np.array(stored["weights"], dtype=np.float32),
        bias=np.float32(stored["bias"]),
        threshold=float(stored["threshold"]),
    )


@cache
def scorers() -> dict[str, Scorer]:
    """Load the fitted scorers.

    Returns:
        ``fact`` and ``advice``; the same behind ``derived_`` for scenarios without examples, and behind ``embedding_``
        for a sentence-transformers model in place of the word vectors.
    """
    text = (files("elicit_gym.understanding") / "scorers.json").read_text(encoding="utf-8")
    return {name: scorer_from(stored) for name, stored in json.loads(text).items()}
