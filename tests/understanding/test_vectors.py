"""Word vectors: known, unknown, and in sentences."""

import numpy as np
import pytest

from elicit_gym.understanding.vectors import DIMENSIONS, pieces_of, word_vectors


def similarity(first: str, second: str) -> float:
    vectors = word_vectors()
    return float(vectors.sentence(first.split()) @ vectors.sentence(second.split()))


def test_near_sentences_are_nearer_than_far_ones() -> None:
    assert similarity("what is your budget", "how much money can you spend") > 0.5
    assert similarity("what is your budget", "which colour is the dog") < 0.4


@pytest.mark.parametrize("words", [["money"], ["how", "much"], ["unheardofword"], ["123456"]])
def test_sentences_have_length_one(words: list[str]) -> None:
    vector = word_vectors().sentence(words)
    assert vector.shape == (DIMENSIONS,)
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-4)


def test_nothing_is_zero_and_function_words_weigh_little() -> None:
    vectors = word_vectors()
    assert not vectors.sentence([]).any()
    assert vectors.weight("the") < vectors.weight("landlord")
    assert "the" in vectors.frequent_words(50)


def test_unknown_words_are_split_and_the_store_of_them_stays_bounded() -> None:
    vectors = word_vectors()
    rows = {"land": 0, "##lord": 1, "##s": 2}
    assert pieces_of("landlords", rows) == [0, 1, 2]
    assert pieces_of("xyz", rows) == []
    first = vectors.vector("handwringingly")
    for i in range(6_000):
        vectors.row("q" + "xz"[i % 2] + "".join(chr(97 + int(d)) for d in str(i)) + "zzq")
    assert np.array_equal(vectors.vector("handwringingly"), first)
