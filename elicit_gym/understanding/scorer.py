"""From features to confidence: a small fixed network, fitted once by `benchmarks/fit_understanding.py`."""

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
    """A network with one hidden layer, or none: ``sigmoid(tanh(x W1 + b1) W2 + b2)`` on standardised features.

    Attributes:
        features: their names, in order; a mismatch with the code is refused when the file is read.
        hidden: weights (F, H) and biases (H,) with the standardisation folded in; ``H = 0`` for a logistic regression.
        output: weights (H + F,) and bias; the features themselves go to the output too.
        threshold: least confidence that counts as a yes.
    """

    features: tuple[str, ...]
    hidden: tuple[Floats, Floats]
    output: tuple[Floats, float]
    threshold: float

    def __call__(self, rows: Floats) -> Floats:
        """Return a confidence from 0 to 1 for each row.

        Args:
            rows: shape (N, F).

        Returns:
            Shape (N,).
        """
        weights, biases = self.hidden
        last, bias = self.output
        count = weights.shape[1]
        score = np.tanh(rows @ weights + biases) @ last[:count] + rows @ last[count:] + np.float32(bias)
        return 1.0 / (1.0 + np.exp(-score))  # type: ignore[no-any-return]


def _scorer(stored: dict[str, Any]) -> Scorer:
    def array(key: str) -> Floats:
        return np.array(stored[key], dtype=np.float32)

    num = len(stored["features"])
    return Scorer(
        features=tuple(stored["features"]),
        hidden=(array("hidden_weights").reshape(num, -1), array("hidden_biases")),
        output=(array("output_weights"), float(stored["output_bias"])),
        threshold=float(stored["threshold"]),
    )


@cache
def scorers() -> dict[str, Scorer]:
    """Load the fitted scorers: ``fact`` and ``advice``, and both for scenarios without exemplars (``derived_...``)."""
    text = (files("elicit_gym.understanding") / "scorers.json").read_text(encoding="utf-8")
    return {name: _scorer(stored) for name, stored in json.loads(text).items()}
