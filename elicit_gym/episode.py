"""Episodes as data: what was said, what it earned, and what stopped an episode that could not be finished."""

import base64
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from elicit_gym.errors import FailureSource, Seat
from elicit_gym.strict_json import json_text, parse_json, typed
from elicit_gym.types import ChatHistory, JudgeReply, Message, Usage

__all__ = ["Episode", "EpisodeRecord", "Failure", "Transition", "Turn"]

MAX_JUDGED = 64_000_000
"""The most bytes to which what a judge wrote in one episode may unpack."""


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
        judged: what the judge wrote, by item; empty for judges that write nothing, and where it is left out.
    """

    action: str
    reply: str | None
    reward: float
    newly_satisfied: tuple[int, ...] = ()
    stuck: bool = False
    unscored: tuple[int, ...] = ()
    flags: tuple[str, ...] = ()
    usage: tuple[Usage, ...] = ()
    judged: tuple[JudgeReply, ...] = ()


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
        if any(turn.judged for turn in self.episode.turns):
            row["judged"] = _pack([turn.judged for turn in self.episode.turns])
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
            AttributeError, KeyError, TypeError: the row is not a record; a field of another type is named.
        """
        turns = typed(list, row["turns"], "turns")
        packed = row.get("judged")
        judged = _unpack(typed(str, packed, "judged")) if packed is not None else [()] * len(turns)
        if len(judged) != len(turns):
            raise TypeError(f"judged: expected what the judge wrote in {len(turns)} turns, got {len(judged)}")
        return cls(
            policy=typed(str, row["policy"], "policy"),
            env_id=typed(str, row["env_id"], "env_id"),
            scenario_id=typed(str, row["scenario_id"], "scenario_id"),
            repeat=typed(int, row["repeat"], "repeat"),
            seed=typed(int, row["seed"], "seed"),
            episode=Episode(
                opening_message=typed(str, row["opening_message"], "opening_message"),
                turns=tuple([_turn_from_row(turn, i, judged[i]) for i, turn in enumerate(turns)]),
                terminated=typed(bool, row["terminated"], "terminated"),
                truncated=typed(bool, row["truncated"], "truncated"),
                left=typed(bool, row["left"], "left"),
            ),
            failure=typed(Failure | None, row.get("failure"), "failure"),
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


def _pack(turns: Sequence[Sequence[JudgeReply]]) -> str:
    """Compress what a judge wrote, a whole episode at a time, since its replies resemble each other."""
    plain = [[[j.item, j.satisfied, list(j.replies), j.reason] for j in judged] for judged in turns]
    packed = zlib.compress(json_text(plain).encode("ascii"), 9)
    return base64.b85encode(packed).decode("ascii")


def _unpack(packed: str) -> list[tuple[JudgeReply, ...]]:
    try:
        unpacking = zlib.decompressobj()
        text = unpacking.decompress(base64.b85decode(packed), MAX_JUDGED)
        if unpacking.unconsumed_tail:
            raise ValueError(f"it unpacks to more than {MAX_JUDGED:,} bytes")
        if not unpacking.eof:
            raise ValueError("it is cut off")
        plain = parse_json(text.decode("ascii"))
        return [
            tuple(
                JudgeReply(
                    item=typed(int, item, "item"),
                    satisfied=None if satisfied is None else typed(bool, satisfied, "satisfied"),
                    replies=_all_of(str, replies, "replies"),
                    reason=None if reason is None else typed(str, reason, "reason"),
                )
                for item, satisfied, replies, reason in judged
            )
            for judged in typed(list, plain, "judged")
        ]
    except (TypeError, ValueError, zlib.error) as error:
        raise TypeError(f"judged: what the judge wrote cannot be unpacked: {error}") from None


def _turn_from_row(row: Mapping[str, Any], index: int, judged: tuple[JudgeReply, ...]) -> Turn:
    try:
        return Turn(
            action=_text(row["action"], "action"),
            reply=None if row["reply"] is None else _text(row["reply"], "reply"),
            reward=row["reward"] if type(row["reward"]) is float else typed(float, row["reward"], "reward"),
            newly_satisfied=_all_of(int, row.get("newly_satisfied"), "newly_satisfied"),
            stuck=typed(bool, row.get("stuck", False), "stuck"),
            unscored=_all_of(int, row.get("unscored"), "unscored"),
            flags=_all_of(str, row.get("flags"), "flags"),
            usage=tuple([_usage(spent) for spent in row.get("usage", ())]),
            judged=judged,
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise TypeError(f"turns[{index}]: {error}") from error


def _text(value: Any, name: str) -> str:
    return value if type(value) is str else str(typed(str, value, name))


def _all_of(kind: type[Any], values: Any, name: str) -> tuple[Any, ...]:
    """Do what `typed` does for a tuple, fast: files of a million turns are read."""
    if values is None:
        return ()
    for value in typed(list, values, name):
        typed(kind, value, name)
    return tuple(values)


def _usage(row: Any) -> Usage:
    seat, model, calls, input_tokens, output_tokens, cost_usd = typed(list, row, "usage")
    return Usage(
        seat=typed(str, seat, "usage"),
        model=typed(str, model, "usage"),
        calls=typed(int, calls, "usage"),
        input_tokens=typed(int, input_tokens, "usage"),
        output_tokens=typed(int, output_tokens, "usage"),
        cost_usd=None if cost_usd is None else typed(float, cost_usd, "usage"),
    )
