"""The user simulator protocol."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from elicit_gym.batches import answer_all
from elicit_gym.errors import EpisodeFailure, UserSimulatorFailure
from elicit_gym.types import UserReply, UserTurn

__all__ = ["REPLYING", "BatchUserSimulator", "UserSimulator", "checked_reply", "reply_all"]

REPLYING = "Replying as the user"


@runtime_checkable
class UserSimulator(Protocol):
    """Plays the user of a scenario.

    A simulator keeps nothing between calls: all that it may know is in the `UserTurn`, so that one simulator serves
    many conversations, threads and resumed runs. It says at most one fact a message, and only one it was asked for. It
    may end the conversation with what it says (`UserReply.leaves`).
    """

    name: str

    def reply(self, turn: UserTurn) -> UserReply:
        """Return the user's next message."""
        ...


@runtime_checkable
class BatchUserSimulator(UserSimulator, Protocol):
    """A simulator that answers many conversations in one go."""

    def reply_batch(self, turns: Sequence[UserTurn]) -> Sequence[UserReply | EpisodeFailure]:
        """Return what `reply` would for each turn, in order; a failure stands in the place of its own turn."""
        ...


def reply_all(simulator: UserSimulator, turns: Sequence[UserTurn]) -> list[UserReply | EpisodeFailure]:
    """Answer all turns, in one batch where the simulator can.

    Returns:
        The reply to each turn, in order; a failure, attributed, stands in the place of its own turn.

    Raises:
        FatalModelError: no call to a model can succeed.
    """
    # Protocols are slow to ask for: one turn needs no batch.
    batch = simulator.reply_batch if len(turns) > 1 and isinstance(simulator, BatchUserSimulator) else None
    replies = answer_all(turns, simulator.reply, batch, source="user_simulator", doing=REPLYING)
    checked: list[UserReply | EpisodeFailure] = []
    for reply in replies:
        try:
            checked.append(reply if isinstance(reply, EpisodeFailure) else checked_reply(simulator, reply))
        except UserSimulatorFailure as failure:
            checked.append(failure)
    return checked


def checked_reply(simulator: UserSimulator, reply: UserReply) -> UserReply:
    """Return the reply if it is one.

    Raises:
        UserSimulatorFailure: it is something else, or its text is blank.
    """
    if isinstance(reply, UserReply) and isinstance(reply.text, str) and reply.text and not reply.text.isspace():
        return reply
    raise UserSimulatorFailure(
        f"{REPLYING}: expected a reply with a text that is not blank, got {reply!r:.200} (user simulator "
        f"{simulator.name!r}). Say something."
    )
