"""The policy protocols: from a chat history to an utterance, and nothing else."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from elicit_gym.types import ChatHistory, Scenario, Usage

__all__ = [
    "BatchPolicy",
    "Policy",
    "PolicyLike",
    "PrivilegedPolicy",
    "SeededBatchPolicy",
    "SpendingPolicy",
    "is_privileged",
]


@runtime_checkable
class Policy(Protocol):
    """An agent's behaviour.

    Attributes:
        name: the policy's name in reports.
    """

    name: str

    def reset(self, seed: int) -> None:
        """Start a new episode; everything random in it must derive from `seed`."""
        ...

    def act(self, history: ChatHistory) -> str:
        """Return the next utterance. The last message of `history` is the user's."""
        ...


@runtime_checkable
class BatchPolicy(Policy, Protocol):
    """A policy that answers many histories in one call; it must not keep anything of an episode between calls."""

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        """Return one utterance for each history, in order."""
        ...


@runtime_checkable
class SeededBatchPolicy(BatchPolicy, Protocol):
    """A batch policy that samples: its answer depends on the history and the seed, and not on the rest of the batch."""

    def act_seeded(self, histories: Sequence[ChatHistory], seeds: Sequence[int]) -> list[str]:
        """Return one utterance for each history, in order, as if `reset` had been called with its seed."""
        ...


@runtime_checkable
class PrivilegedPolicy(Policy, Protocol):
    """A policy that knows the hidden context, for bounds and debugging; reports mark it."""

    privileged: Literal[True]

    def for_scenario(self, scenario: Scenario) -> Policy:
        """Return a policy for episodes of this scenario."""
        ...


PolicyLike: TypeAlias = Policy | Callable[[], Policy]
"""A policy, or something that makes one. With several workers each has its own: made, or deep-copied."""


@runtime_checkable
class SpendingPolicy(Policy, Protocol):
    """A policy that calls models and says what that cost."""

    def take_usage(self) -> tuple[tuple[Usage, ...], tuple[str, ...]]:
        """Return what was spent since the last call of this method, and flags for what had to be repaired."""
        ...


def is_privileged(policy: object) -> bool:
    """Say whether a policy is marked as knowing the hidden context."""
    return bool(getattr(policy, "privileged", False))
