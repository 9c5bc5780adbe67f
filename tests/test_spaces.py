"""The spaces."""

import pickle

import pytest
from gymnasium.utils.env_checker import check_space_limit  # noqa: F401 - proves that the checker can be imported
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.spaces import ChatHistorySpace, Utterance
from elicit_gym.types import Message


@given(st.text())
def test_an_utterance_is_any_string_that_is_not_blank(text: str) -> None:
    assert Utterance().contains(text) == bool(text.strip())


@pytest.mark.parametrize("value", [None, 3, b"bytes", ["text"], ""])
def test_what_is_no_utterance(value: object) -> None:
    assert not Utterance().contains(value)


@given(st.integers(0, 2**31 - 1), st.integers(1, 20))
def test_samples_are_members_and_follow_the_seed(seed: int, longest: int) -> None:
    for space, twin in (
        (Utterance(seed), Utterance(seed)),
        (ChatHistorySpace(longest, seed), ChatHistorySpace(longest, seed)),
    ):
        sample = space.sample()
        assert space.contains(sample)
        assert sample == twin.sample()


@given(st.lists(st.text(), min_size=1, max_size=8))
def test_histories_survive_json(texts: list[str]) -> None:
    space = ChatHistorySpace(8)
    history = tuple(Message(role="assistant" if i % 2 else "user", content=t) for i, t in enumerate(texts))
    assert space.contains(history)
    assert space.from_jsonable(space.to_jsonable([history])) == [history]


def test_histories_that_are_none() -> None:
    space = ChatHistorySpace(2)
    user, agent = Message(role="user", content="a"), Message(role="assistant", content="b")
    assert not space.contains(())
    assert not space.contains([user])
    assert not space.contains((agent,))
    assert not space.contains((user, user))
    assert not space.contains((user, agent, user))


def test_equality_repr_and_pickle() -> None:
    assert Utterance() == Utterance(3)
    assert ChatHistorySpace(4) == ChatHistorySpace(4) != ChatHistorySpace(6)
    assert len({ChatHistorySpace(4), ChatHistorySpace(4), Utterance(), Utterance()}) == 2
    assert repr(ChatHistorySpace(4)) == "ChatHistorySpace(max_messages=4)"
    assert pickle.loads(pickle.dumps(ChatHistorySpace(4))) == ChatHistorySpace(4)
    with pytest.raises(ValueError, match="expected no mask"):
        Utterance().sample(mask=1)
