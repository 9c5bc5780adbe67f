"""The state of one InfoQuest episode, and the order in which a step changes it.

A step is: agent speaks, judge judges what is pending, user replies (unless the episode ends with what the agent said).
Whoever steps conversations does it by `elicit_gym.envs.stepping`, which drives this one class.
"""

from elicit_gym.types import ChatHistory, FactId, JudgeRequest, Message, Scenario, UserReply, UserTurn, Verdict
from elicit_gym.understanding.acts import reader_of

__all__ = ["STUCK_AFTER", "Conversation"]

STUCK_AFTER = 2
"""Turns in a row without progress after which the agent counts as stuck (InfoQuest, Section 3.2)."""


class Conversation:
    """One episode under way.

    Attributes:
        history: all messages; the last is the user's while the episode goes on, and when the user has left; else the
            agent's.
        satisfied: one flag for each checklist item.
        pending: indexes of the items that are not satisfied.
        turn: messages that the agent has sent.
        idle_turns: turns in a row without progress.
        disclosed: ids of the facts that the user has given away.
        terminated: every item is satisfied, or the user has left.
        truncated: the last turn was made, and neither is the case.
        left: the user has left before everything was satisfied.
        newly_satisfied: indexes of the items that the latest message satisfied.
        unscored: indexes of the items that the judge could not score in the latest step.
    """

    __slots__ = (
        "_reader", "disclosed", "history", "idle_turns", "left", "max_turns", "newly_satisfied", "pending", "satisfied",
        "scenario", "seed", "terminated", "truncated", "turn", "unscored",
    )  # fmt: skip

    def __init__(self, scenario: Scenario, *, max_turns: int, seed: int) -> None:
        self.scenario = scenario
        self.max_turns = max_turns
        self.seed = seed
        self.history: ChatHistory = (Message(role="user", content=scenario.opening_message),)
        self.satisfied: tuple[bool, ...] = (False,) * len(scenario.checklist)
        self.pending: tuple[int, ...] = tuple(range(len(scenario.checklist)))
        self.turn = 0
        self.idle_turns = 0
        self.disclosed: frozenset[FactId] = frozenset()
        self.terminated = False
        self.truncated = False
        self.left = False
        self.newly_satisfied: tuple[int, ...] = ()
        self.unscored: tuple[int, ...] = ()
        self._reader = reader_of(scenario)

    @property
    def stuck(self) -> bool:
        """Whether the last two turns or more brought no progress."""
        return self.idle_turns >= STUCK_AFTER

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated

    @property
    def success(self) -> bool:
        """Whether every item is satisfied."""
        return not self.pending

    def judge_request(self, action: str) -> JudgeRequest:
        """Return what the judge has to decide if the agent says `action`, without changing anything."""
        return JudgeRequest(
            scenario=self.scenario,
            pending=self.pending,
            user_message=self.history[-1].content,
            assistant_message=action,
            disclosed=self.disclosed,
            seed=self.seed,
        )

    def user_turn(self, action: str, verdicts: tuple[Verdict, ...]) -> UserTurn | None:
        """Return what the user has to answer, None if the episode ends with this action; changes nothing."""
        satisfied, newly, idle = self._judged(verdicts)
        if self.turn + 1 >= self.max_turns or len(newly) == len(self.pending):
            return None
        return UserTurn(
            scenario=self.scenario,
            history=_with(self.history, Message(role="assistant", content=action)),
            turn=self.turn + 1,
            satisfied=satisfied,
            newly_satisfied=newly,
            stuck=idle >= STUCK_AFTER,
            idle_turns=idle,
            disclosed=self.disclosed,
            seed=self.seed,
        )

    def newly_satisfied_by(self, verdicts: tuple[Verdict, ...]) -> tuple[int, ...]:
        """Return the indexes of the items that these verdicts satisfy; changes nothing."""
        return self._judged(verdicts)[1]

    def advance(
        self, action: str, verdicts: tuple[Verdict, ...], turn: UserTurn | None, reply: UserReply | None
    ) -> None:
        """Make the step: only here does the state change, after judge and user have both succeeded.

        Args:
            action: what the agent said.
            verdicts: on what was pending.
            turn: as `user_turn` gave it.
            reply: the answer to it. None ends the episode, also where there is a turn to answer: a recording that stops
                here is cut off.
        """
        unscored: tuple[int, ...] = ()
        for verdict in verdicts:
            if verdict.satisfied is None:
                answers = zip(self.pending, verdicts, strict=True)
                unscored = tuple([i for i, answer in answers if answer.satisfied is None])
                break
        if turn is None or reply is None:
            self.satisfied, self.newly_satisfied, self.idle_turns = self._judged(verdicts)
            self.history = _with(self.history, Message(role="assistant", content=action))
            self.terminated = all(self.satisfied)
            self.truncated = not self.terminated
        else:
            self.satisfied, self.newly_satisfied, self.idle_turns = (
                turn.satisfied,
                turn.newly_satisfied,
                turn.idle_turns,
            )
            self.history = _with(turn.history, Message(role="user", content=reply.text))
            self.disclosed |= self._reader.disclosed_in(reply.text)
            self.left = self.terminated = reply.leaves
        self.turn += 1
        self.unscored = unscored
        if self.newly_satisfied:
            self.pending = tuple([i for i in self.pending if not self.satisfied[i]])

    def _judged(self, verdicts: tuple[Verdict, ...]) -> tuple[tuple[bool, ...], tuple[int, ...], int]:
        if len(verdicts) != len(self.pending):
            raise ValueError(f"{len(verdicts)} verdicts on {len(self.pending)} pending items")
        for verdict in verdicts:
            if verdict.satisfied:
                break
        else:
            return self.satisfied, (), self.idle_turns + 1
        newly = tuple([i for i, verdict in zip(self.pending, verdicts, strict=True) if verdict.satisfied])
        return tuple([yes or i in newly for i, yes in enumerate(self.satisfied)]), newly, 0


def _with(history: ChatHistory, message: Message) -> ChatHistory:
    return history + (message,)  # noqa: RUF005 - copies once where unpacking copies twice: long histories show it
