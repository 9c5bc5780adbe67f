"""Episodes as data: what was said, what it earned, and what stopped an episode that could not be finished."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, cast

from elicit_gym.errors import FailureSource, Seat
from elicit_gym.types import ChatHistory, Message, Usage

__all__ = ["Episode", "EpisodeRecord", "Failure", "Transition", "Turn"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Transition:
    """One step in the form of reinforcement learning."""

    observation: ChatHistory
    action: str
    reward: float
    next_observation: ChatHistory
    terminated: bool
    truncated: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One step as it happened.

    Attributes:
        reply: the user's; None where nobody was asked, after the last action.
        newly_satisfied: indexes of checklist items.
        unscored: indexes of the items that the judge could not score.
        flags: what the user simulator had to repair.
    """

    action: str
    reply: str | None
    reward: float
    newly_satisfied: tuple[int, ...] = ()
    stuck: bool = False
    unscored: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()
    usage: tuple[Usage, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One conversation, whole or up to where it failed.

    Attributes:
        terminated: every checklist item is satisfied, or the user has left.
        truncated: it was cut off before that.
        left: the user has left.
    """

    opening_message: str
    turns: tuple[Turn, ...]
    terminated: bool
    truncated: bool
    left: bool = False

    @property
    def success(self) -> bool:
        """Whether every checklist item is satisfied."""
        return self.terminated and not self.left

    @property
    def history(self) -> ChatHistory:
        """All messages, oldest first."""
        messages = [Message(role="user", content=self.opening_message)]
        for turn in self.turns:
            messages.append(Message(role="assistant", content=turn.action))
            if turn.reply is not None:
                messages.append(Message(role="user", content=turn.reply))
        return tuple(messages)

    @property
    def total_reward(self) -> float:
        """The undiscounted return."""
        return sum(turn.reward for turn in self.turns)

    @property
    def satisfied(self) -> frozenset[int]:
        """The indexes of the checklist items that are satisfied."""
        return frozenset(i for turn in self.turns for i in turn.newly_satisfied)

    @property
    def doubtful(self) -> frozenset[int]:
        """The indexes of items that went unscored and were never satisfied: "no" at worst, "yes" at best."""
        return frozenset(i for turn in self.turns for i in turn.unscored) - self.satisfied

    def transitions(self) -> Iterator[Transition]:
        """Yield one transition for each turn; the last one carries the flags of the episode.

        Each observation is a copy of the history up to it: to hold all of them is quadratic in the turns.
        """
        messages = self.history
        for i, turn in enumerate(self.turns):
            last = i == len(self.turns) - 1
            yield Transition(
                observation=messages[: 2 * i + 1],
                action=turn.action,
                reward=turn.reward,
                next_observation=messages[: 2 * i + 3],
                terminated=last and self.terminated,
                truncated=last and self.truncated,
            )


@dataclass(frozen=True, kw_only=True, slots=True)
class Failure:
    """Why an episode could not be finished.

    Attributes:
        source: the part that caused it.
        message: what happened, without keys or tracebacks.
        turn: the turn that failed, counted from 1; 0 for the reset.
        seat: in which it happened; None where that is not known.
    """

    source: FailureSource
    message: str
    turn: int
    seat: Seat | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class EpisodeRecord:
    """An episode and where it comes from; one line of ``episodes.jsonl``.

    Attributes:
        policy: the policy's name.
        repeat: which repeat it is, counted from 0.
        seed: the environment's seed, derived from (base seed, scenario, repeat).
        failure: None for a finished episode. A failed one is missing from every mean, never 0.
    """

    policy: str
    env_id: str
    scenario_id: str
    repeat: int
    seed: int
    episode: Episode
    failure: Failure | None = None

    @property
    def unit(self) -> tuple[str, str, int]:
        """What identifies the record within a run: policy, scenario and repeat."""
        return (self.policy, self.scenario_id, self.repeat)

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        row: dict[str, Any] = {
            "policy": self.policy,
            "env_id": self.env_id,
            "scenario_id": self.scenario_id,
            "repeat": self.repeat,
            "seed": self.seed,
            "opening_message": self.episode.opening_message,
            "turns": [_turn_to_row(turn) for turn in self.episode.turns],
            "terminated": self.episode.terminated,
            "truncated": self.episode.truncated,
            "left": self.episode.left,
        }
        if self.failure is not None:
            row["failure"] = {
                "source": self.failure.source,
                "message": self.failure.message,
                "turn": self.failure.turn,
            }
            if self.failure.seat is not None:
                row["failure"]["seat"] = self.failure.seat
        return row

    @classmethod
    def from_row(cls, row: Mapping[str, Any]) -> "EpisodeRecord":
        """Invert `to_row`.

        Raises:
            KeyError, TypeError, ValueError: the row is not a record.
        """
        failure = row.get("failure")
        return cls(
            policy=row["policy"],
            env_id=row["env_id"],
            scenario_id=row["scenario_id"],
            repeat=int(row["repeat"]),
            seed=int(row["seed"]),
            episode=Episode(
                opening_message=row["opening_message"],
                turns=tuple(_turn_from_row(turn) for turn in row["turns"]),
                terminated=bool(row["terminated"]),
                truncated=bool(row["truncated"]),
                left=bool(row["left"]),
            ),
            failure=None
            if failure is None
            else Failure(
                source=cast(FailureSource, failure["source"]),
                message=failure["message"],
                turn=int(failure["turn"]),
                seat=cast(Seat | None, failure.get("seat")),
            ),
        )


def _turn_to_row(turn: Turn) -> dict[str, Any]:
    row: dict[str, Any] = {"action": turn.action, "reply": turn.reply, "reward": turn.reward}
    # What is empty in nearly every turn is left out, since files of a million turns are read more often than written.
    if turn.newly_satisfied:
        row["newly_satisfied"] = list(turn.newly_satisfied)
    if turn.stuck:
        row["stuck"] = True
    if turn.unscored:
        row["unscored"] = list(turn.unscored)
    if turn.flags:
        row["flags"] = list(turn.flags)
    if turn.usage:
        row["usage"] = [[u.seat, u.model, u.calls, u.input_tokens, u.output_tokens, u.cost_usd] for u in turn.usage]
    return row


def _turn_from_row(row: Mapping[str, Any]) -> Turn:
    return Turn(
        action=row["action"],
        reply=row["reply"],
        reward=float(row["reward"]),
        newly_satisfied=tuple(row.get("newly_satisfied", ())),
        stuck=bool(row.get("stuck", False)),
        unscored=tuple(row.get("unscored", ())),
        flags=tuple(row.get("flags", ())),
        usage=tuple(
            Usage(seat=s, model=m, calls=c, input_tokens=i, output_tokens=o, cost_usd=d)
            for s, m, c, i, o, d in row.get("usage", ())
        ),
    )
