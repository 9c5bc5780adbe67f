"""The fitted scorers fit the features of the code."""

import numpy as np
import pytest

from elicit_gym.understanding.features import ADVICE_FEATURES, FACT_FEATURES
from elicit_gym.understanding.scorer import Scorer, scorers

NAMES = {
    prefix + kind for prefix in ("", "derived_", "embedding_", "embedding_derived_") for kind in ("fact", "advice")
}


def test_every_scorer_is_there_with_the_codes_own_features() -> None:
    assert set(scorers()) == NAMES
    for name, scorer in scorers().items():
        assert scorer.features == (FACT_FEATURES if name.endswith("fact") else ADVICE_FEATURES)
        assert scorer.weights.shape == (len(scorer.features),)
        assert 0.1 < scorer.threshold < 0.9


def test_a_scorer_is_a_logistic_regression() -> None:
    scorer = Scorer(("a", "b"), np.array([1.0, -1.0], np.float32), np.float32(0.5), 0.5)
    rows = np.array([[0.0, 0.5], [2.0, 0.0]], np.float32)
    assert scorer(rows) == pytest.approx([0.5, 1 / (1 + np.exp(-2.5))])
