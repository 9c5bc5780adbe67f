"""The policy protocols: from a chat history to an utterance, and what a policy may be able to do beside that.

A policy says more of itself by having one of these methods or attributes; nothing has to be inherited.
`elicit_gym.testing.check_policy` checks them. `elicit_gym.parts` has those that user simulators and judges share.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from elicit_gym.types import ChatHistory, Scenario, Usage

__all__ = [
    "BatchPolicy",
    "CountingPolicy",
    "LogProb",
    "NetworkBoundPolicy",
    "Policy",
    "PolicyLike",
    "PrivilegedPolicy",
    "ScenarioPolicy",
    "ScoringPolicy",
    "SeededBatchPolicy",
    "SpendingPolicy",
    "StochasticPolicy",
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


@runtime_checkable
class ScenarioPolicy(PrivilegedPolicy, Protocol):
    """A privileged policy that is made for each scenario."""

    def for_scenario(self, scenario: Scenario) -> Policy:
        """Return a policy for episodes of this scenario."""
        ...


@runtime_checkable
class SpendingPolicy(Policy, Protocol):
    """A policy that calls models and says what that cost."""

    def take_usage(self) -> tuple[tuple[Usage, ...], tuple[str, ...]]:
        """Return what was spent since the last call of this method, and flags for what had to be repaired."""
        ...


@runtime_checkable
class NetworkBoundPolicy(Policy, Protocol):
    """A policy that mostly waits for a network: its conversations go their own pace, in threads."""

    network_bound: Literal[True]


@dataclass(frozen=True, slots=True)
class LogProb:
    """The log probability of an action.

    Attributes:
        total: natural logarithm, summed over the action's tokens.
        num_tokens: how many; the end token is not among them unless it was asked for.
    """

    total: float
    num_tokens: int


@runtime_checkable
class ScoringPolicy(Policy, Protocol):
    """A policy that can say how probable an utterance is to it: it gets a perplexity in `evaluate-yield`."""

    def log_prob_batch(self, histories: Sequence[ChatHistory], actions: Sequence[str]) -> list[LogProb]:
        """Return the log probability of each action after its history, shape (n,)."""
        ...


@runtime_checkable
class StochasticPolicy(Policy, Protocol):
    """A policy that knows how probable its own actions are: what off-policy evaluation weighs episodes with."""

    def action_log_probs(self, histories: Sequence[ChatHistory], actions: Sequence[str]) -> list[float]:
        """Return the natural logarithm of the probability that `act` says exactly this action after its history.

        All that the action depends on counts: the sampling temperature, and that the utterance ends where it does.
        An action that is never said has ``-inf``. Shape (n,).

        Raises:
            SettingError: the policy does not sample as it is set.
        """
        ...


@runtime_checkable
class CountingPolicy(Policy, Protocol):
    """A policy that can say how much it reads before it answers."""

    def count_prompt_tokens(self, histories: Sequence[ChatHistory]) -> list[int]:
        """Return the number of tokens for each history, prompt and template included."""
        ...


PolicyLike: TypeAlias = Policy | Callable[[], Policy]
"""A policy, or something that makes one. With several workers each has its own: made, or deep-copied."""


def is_privileged(policy: object) -> bool:
    """Say whether a policy is marked as knowing the hidden context."""
    return isinstance(policy, PrivilegedPolicy) and bool(policy.privileged)
