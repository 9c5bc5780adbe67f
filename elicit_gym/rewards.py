"""Rewards by name: functions of what one step did to the checklist."""

from dataclasses import dataclass
from math import isfinite
from typing import Any, Protocol, runtime_checkable

from elicit_gym.errors import RewardFailure, boundary

__all__ = [
    "REWARDING", "ChecklistGain", "ChecklistGainPerTurnCost", "FinalChecklist", "Reward", "RewardStep", "finite_reward",
]  # fmt: skip

REWARDING = "Rewarding a step"


@dataclass(frozen=True, kw_only=True, slots=True)
class RewardStep:
    """What a reward may look at.

    Attributes:
        num_newly_satisfied: the number of items that this step satisfied.
        num_satisfied: the number of items satisfied so far, this step included.
        turn: the turn, counted from 1.
        last: whether the episode ends with this step.
    """

    num_newly_satisfied: int
    num_satisfied: int
    turn: int
    last: bool


@runtime_checkable
class Reward(Protocol):
    """A reward: from a step to a number."""

    def __call__(self, step: RewardStep) -> float:
        """Return the reward of this step."""
        ...


@dataclass(frozen=True)
class ChecklistGain:
    """The number of items newly satisfied in this step; the return is the published ``total_reward``, 0 to 5.

    References:
        InfoQuest, Section 3.3: progress on the checklist is the reward.
    """

    def __call__(self, step: RewardStep) -> float:
        """Return the gain of this step."""
        return float(step.num_newly_satisfied)


@dataclass(frozen=True)
class FinalChecklist:
    """Zero until the last step, which earns the number of satisfied items: the same return, paid at the end."""

    def __call__(self, step: RewardStep) -> float:
        """Return the number of satisfied items at the last step and 0 before."""
        return float(step.num_satisfied) if step.last else 0.0


@dataclass(frozen=True)
class ChecklistGainPerTurnCost:
    """The gain of this step less a price per turn, so that asking more than necessary costs something.

    Args:
        cost: the price of a turn, in checklist items.
    """

    cost: float = 0.1

    def __call__(self, step: RewardStep) -> float:
        """Return the gain less the cost."""
        return step.num_newly_satisfied - self.cost


def finite_reward(value: Any) -> float:
    """Return a reward as a number.

    Raises:
        RewardFailure: it is not a finite one.
    """
    with boundary("reward", REWARDING):
        number = float(value)
        if isfinite(number):
            return number
    raise RewardFailure(
        f"{REWARDING}: expected a finite number, got {number}. Correct the reward, or the wrapper that changes it."
    )
