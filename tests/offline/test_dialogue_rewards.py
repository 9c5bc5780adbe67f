"""Rewards and returns."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.errors import SettingError
from elicit_gym.offline.dialogue_rewards import (
    DIALOGUE_REWARDS,
    DialogueReward,
    FactualNovelty,
    NewContentWords,
    ReplyLength,
)
from elicit_gym.offline.entity_reader import EntityReader
from elicit_gym.offline.returns import returns_to_go


class FakeReader(EntityReader):
    """Takes capitalised words for entities."""

    def __init__(self) -> None:
        self.model = "fake"

    def entities(self, texts: list[str]) -> list[frozenset[str]]:  # type: ignore[override]
        return [frozenset(w.lower() for w in text.split() if w[:1].isupper()) for text in texts]


def test_novelty_counts_what_nobody_mentioned() -> None:
    reward = FactualNovelty(reader=FakeReader())
    worth = reward([
        ("elicitor", "were you in Paris"), ("respondent", "in Paris and Rome with Anna"),
        ("respondent", "and Anna saw Oslo"), ("elicitor", "and Bern"), ("respondent", "not Bern"),
    ])  # fmt: skip
    assert worth == [0, 2, 1, 0, 0]


def test_novelty_with_a_real_model() -> None:
    reward = FactualNovelty()
    worth = reward([
        ("elicitor", "When did you move to Stockholm?"),
        ("respondent", "I left Stockholm for Kalmar in October 1973, with three goats."),
        ("elicitor", "Why?"),
        ("respondent", "Because Kalmar was cheaper."),
    ])  # fmt: skip
    assert worth[0] == worth[2] == worth[3] == 0
    assert worth[1] == 2  # Kalmar and the date; three is CARDINAL, Stockholm was the elicitor's


def test_entities_are_read_once_and_kept(tmp_path: Path) -> None:
    texts = ["Anna went to Oslo.", "Anna went to Oslo.", "Peter stayed in Bern in 1990."]
    first = EntityReader(cache=tmp_path / "e.sqlite")
    found = first.entities(texts)
    assert first.num_read == 2
    assert found[0] == found[1]
    assert all(
        (":" in entity and entity.split(":", 1)[1].islower()) or entity[-1].isdigit() for e in found for entity in e
    )
    second = EntityReader(cache=tmp_path / "e.sqlite")
    assert second.entities(texts) == found
    assert second.num_read == 0
    third = EntityReader(cache=tmp_path / "e.sqlite")
    third.warm([*texts, "Greta is from Malmö."])
    assert third.num_read == 1


def test_models_that_are_not_there() -> None:
    with pytest.raises(SettingError, match="expected an installed pipeline"):
        EntityReader("en_no_such_model").entities(["x"])


def test_two_more_rewards() -> None:
    talk = [("elicitor", "Do you bake bread?"), ("respondent", "I bake dark bread."), ("respondent", "Dark bread.")]
    assert NewContentWords()(talk) == [0, 1, 0]  # type: ignore[arg-type]
    assert ReplyLength()(talk) == [0, 4, 2]  # type: ignore[arg-type]


@pytest.mark.parametrize("name", DIALOGUE_REWARDS.names())
def test_contract(name: str) -> None:
    reward = DIALOGUE_REWARDS.make(name)
    assert isinstance(reward, DialogueReward)
    talk = [("elicitor", "Who?"), ("respondent", "Anna from Oslo."), ("elicitor", "And?"), ("respondent", "")]
    worth = reward(talk)  # type: ignore[arg-type]
    assert len(worth) == 4
    assert worth[0] == worth[2] == 0
    assert worth == reward(talk)  # type: ignore[arg-type]
    assert reward([]) == []


@given(st.lists(st.floats(-10, 10), max_size=30), st.floats(0, 1))
def test_returns_to_go(rewards: list[float], gamma: float) -> None:
    returns = returns_to_go(rewards, gamma)
    assert len(returns) == len(rewards)
    for t in range(len(rewards)):
        by_hand = sum(gamma**k * rewards[t + k] for k in range(len(rewards) - t))
        assert returns[t] == pytest.approx(by_hand, abs=1e-9)
