"""The user simulator protocol."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from elicit_gym.types import UserReply, UserTurn

__all__ = ["BatchUserSimulator", "UserSimulator", "reply_all"]


@runtime_checkable
class UserSimulator(Protocol):
    """Plays the user of a scenario.

    A simulator keeps nothing between calls: all that it may know is in the `UserTurn`, so that one simulator serves
    many conversations, threads and resumed runs. It says at most one fact per message, and only one that was asked
    for.
    """

    name: str

    def reply(self, turn: UserTurn) -> UserReply:
        """Return the user's next message."""
        ...


@runtime_checkable
class BatchUserSimulator(UserSimulator, Protocol):
    """A simulator that answers many conversations in one go."""

    def reply_batch(self, turns: Sequence[UserTurn]) -> list[UserReply]:
        """Return one reply for each turn, in order."""
        ...


def reply_all(simulator: UserSimulator, turns: Sequence[UserTurn]) -> list[UserReply]:
    """Answer all turns, in one batch where the simulator can."""
    if isinstance(simulator, BatchUserSimulator):
        return simulator.reply_batch(turns)
    return [simulator.reply(turn) for turn in turns]
