"""Features: one row for each fact or advice item, whatever the clause."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_gym.understanding.clauses import Clause, split_clauses
from elicit_gym.understanding.features import (
    ADVICE_FEATURES,
    FACT_FEATURES,
    AdviceTable,
    FactTable,
)
from elicit_gym.understanding.word_table import content_words

FACTS = FactTable(
    [["How much money can you spend?", "What is your budget?"], ["When is the wedding?"], []],
    [["small savings"], ["the wedding is in May"], ["the oven is old"]],
)
ADVICE = AdviceTable(
    [["Put everything on wheels.", "Use a trolley."]], [["Screw shelves into the wall."]], [["movable furniture"]]
)


def clause(text: str) -> Clause:
    return split_clauses(text)[0]


def named(rows: np.ndarray, names: tuple[str, ...], name: str) -> list[float]:
    return [float(value) for value in rows[:, names.index(name)]]


def test_an_example_matches_its_own_fact_best() -> None:
    rows = FACTS.features(clause("What is your budget?"))
    assert rows.shape == (3, len(FACT_FEATURES))
    for name in ("max_similarity", "coverage", "overlap"):
        values = named(rows, FACT_FEATURES, name)
        assert values[0] == max(values)
        assert values[0] == pytest.approx(1.0, abs=1e-3)


def test_typing_errors_and_inflections_still_match() -> None:
    right = named(FACTS.features(clause("When is the wedding?")), FACT_FEATURES, "coverage")
    near = named(FACTS.features(clause("When are the weddingss?")), FACT_FEATURES, "coverage")
    assert near[1] > 0.7 * right[1]


def test_a_fact_without_examples_is_compared_with_what_it_says() -> None:
    rows = FACTS.features(clause("Is the oven old?"))
    assert named(rows, FACT_FEATURES, "similarity_to_statement")[2] == max(
        named(rows, FACT_FEATURES, "similarity_to_statement")
    )


def test_advice_and_its_contrary() -> None:
    good = ADVICE.features(clause("Put it all on wheels."))
    bad = ADVICE.features(clause("Screw the shelves into your wall."))
    assert good.shape == (1, len(ADVICE_FEATURES))
    assert named(good, ADVICE_FEATURES, "difference")[0] > 0 > named(bad, ADVICE_FEATURES, "difference")[0]
    negated = ADVICE.features(clause("Don't put it on wheels."))
    assert named(negated, ADVICE_FEATURES, "agrees_with_good") == [-1.0]


def test_content_words() -> None:
    assert content_words("how much money do you have for the 3 kitchens kitchens".split()) == ["money", "kitchens"]


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80))
def test_any_clause_gives_finite_features(text: str) -> None:
    for found in split_clauses(text):
        if found.words:
            assert np.isfinite(FACTS.features(found)).all()
            assert np.isfinite(ADVICE.features(found)).all()
