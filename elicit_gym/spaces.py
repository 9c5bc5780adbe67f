"""Spaces for utterances and chat histories.

`gymnasium.spaces.Text` rejects ordinary prose (it wants a charset) and samples noise; these accept what people write.
Both have `__eq__` and `__repr__`, which vector environments need to see that all their environments agree.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from gymnasium.spaces import Space

from elicit_gym.types import ChatHistory, Message

__all__ = ["ChatHistorySpace", "Utterance"]

_SAMPLE_WORDS = (
    """what when where who how why do you need have want the a your time money place people plan could tell me
    more about it first then maybe because and or with for to in on"""
).split()


class Utterance(Space[str]):
    """Any string with at least one character that is not white space."""

    def __init__(self, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(dtype=str, seed=seed)

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> str:
        """Return three to twelve common words; neither mask nor probability is supported.

        Raises:
            ValueError: a mask or a probability was given.
        """
        if mask is not None or probability is not None:
            raise ValueError("Sampling an Utterance: expected no mask and no probability, got one. Leave it out.")
        count = int(self.np_random.integers(3, 13))
        return " ".join(_SAMPLE_WORDS[i] for i in self.np_random.integers(len(_SAMPLE_WORDS), size=count))

    def contains(self, x: Any) -> bool:
        """Say whether `x` is a string that is not blank."""
        return isinstance(x, str) and bool(x) and not x.isspace()

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no numeric form."""
        return False

    def to_jsonable(self, sample_n: Iterable[str]) -> list[str]:
        """Convert a batch of samples to JSON types."""
        return list(sample_n)

    def from_jsonable(self, sample_n: list[Any]) -> list[str]:
        """Invert `to_jsonable`."""
        return [str(sample) for sample in sample_n]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Utterance)

    def __hash__(self) -> int:
        return hash(Utterance)

    def __repr__(self) -> str:
        return "Utterance()"


class ChatHistorySpace(Space[ChatHistory]):
    """A tuple of messages that opens with the user and alternates between user and assistant.

    Args:
        max_messages: the length of the longest history.
        seed: the seed for sampling.
    """

    def __init__(self, max_messages: int, seed: int | np.random.Generator | None = None) -> None:
        super().__init__(dtype=object, seed=seed)
        self.max_messages = max_messages
        self._utterance = Utterance()

    def sample(self, mask: Any | None = None, probability: Any | None = None) -> ChatHistory:
        """Return a history of 1 to `max_messages` sampled messages; neither mask nor probability is supported."""
        self._utterance.seed(int(self.np_random.integers(2**31)))
        count = int(self.np_random.integers(1, self.max_messages + 1))
        return tuple(
            Message(role="assistant" if i % 2 else "user", content=self._utterance.sample(mask, probability))
            for i in range(count)
        )

    def contains(self, x: Any) -> bool:
        """Say whether `x` is such a history."""
        return (
            isinstance(x, tuple)
            and 1 <= len(x) <= self.max_messages
            and all(
                isinstance(message, Message)
                and message.role == ("assistant" if i % 2 else "user")
                and isinstance(message.content, str)
                for i, message in enumerate(x)
            )
        )

    @property
    def is_np_flattenable(self) -> bool:
        """Text has no numeric form."""
        return False

    def to_jsonable(self, sample_n: Iterable[ChatHistory]) -> list[list[dict[str, str]]]:
        """Convert a batch of histories to JSON types."""
        return [[{"role": m.role, "content": m.content} for m in history] for history in sample_n]

    def from_jsonable(self, sample_n: list[Any]) -> list[ChatHistory]:
        """Invert `to_jsonable`."""
        return [tuple(Message(role=m["role"], content=m["content"]) for m in history) for history in sample_n]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChatHistorySpace) and other.max_messages == self.max_messages

    def __hash__(self) -> int:
        return hash((ChatHistorySpace, self.max_messages))

    def __repr__(self) -> str:
        return f"ChatHistorySpace(max_messages={self.max_messages})"
