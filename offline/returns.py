"""Returns-to-go."""

from collections.abc import Sequence

__all__ = ["returns_to_go"]


def returns_to_go(rewards: Sequence[float], gamma: float = 0.9) -> list[float]:
    """Return the discounted sum of what is still to come, each reward's own included.

    Args:
        rewards: the reward of each step, shape (T,).
        gamma: the discount.

    References:
        YIELD, Section 4.2: ``R^tg_t = sum_k gamma^k R_{t+k+1}``.
    """
    total = 0.0
    backwards = []
    for reward in reversed(rewards):
        total = reward + gamma * total
        backwards.append(total)
    return backwards[::-1]
