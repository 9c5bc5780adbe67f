"""Progression against known answers and against the public package."""

import numpy as np
import pytest
from elicitation.metrics.progression import progression_score

from elicit_gym.offline import OfflineDataset, load_corpus
from elicit_gym.offline.dialogue_rewards import ReplyLength
from elicit_gym.offline.evaluation.metrics import load_encoder, progression_of_vectors
from tests.minilm import MINILM
from tests.offline.samples import FOLDER, needs_sample


def test_progression_by_hand() -> None:
    vectors = np.array([[1.0, 0], [0, 1.0], [1.0, 0], [1.0, 1.0]])
    # t=2: distances 1 (to 1) and 0 (to 0); t=3: 1-1/sqrt2 to both. Weights 0.5 and 0.25.
    expected = ((0.5 * 1 + 0.25 * 0) / 0.75 + (1 - 2**-0.5)) / 2
    assert progression_of_vectors(vectors, k=2, gamma=0.5) == pytest.approx(expected)
    assert progression_of_vectors(vectors[:2], k=2) is None


def test_the_symmetric_special_case() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(9, 6))
    forwards = progression_of_vectors(vectors, k=1, gamma=1.0)
    assert forwards == pytest.approx(progression_of_vectors(vectors[::-1], k=1, gamma=1.0))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert forwards == pytest.approx(float(np.mean(1 - (unit[1:] * unit[:-1]).sum(1))))
    assert progression_of_vectors(vectors, k=3, gamma=0.5) != pytest.approx(
        progression_of_vectors(vectors[::-1], k=3, gamma=0.5)
    )


@needs_sample
def test_progression_agrees_with_the_public_package() -> None:
    encoder = load_encoder(MINILM)
    dataset = OfflineDataset.from_dialogues(load_corpus(path=FOLDER).filter(split="dev"), ReplyLength())
    checked = 0
    for window in list(dataset.windows())[::9]:
        said = [m.content for m in window.messages if m.role != "system"]
        ours = progression_of_vectors(encoder(said), k=5, gamma=0.5)
        assert ours == pytest.approx(progression_score(encoder(said), k=5, gamma=0.5), abs=1e-4)
        checked += 1
    assert checked >= 10
    # Where the definitions differ: too short a conversation is no 0.
    assert progression_score(encoder(["a", "b"]), k=5, gamma=0.5) == 0.0
    assert progression_of_vectors(encoder(["a", "b"]), k=5) is None
