"""The state of one InfoQuest episode, and the order in which a step changes it.

A step is: agent speaks, judge judges what is pending, user replies (unless the episode is done). The environment, its
vectorised form and re-judging all drive this one class, so that they cannot differ.
"""

from elicit_gym.scenarios.cues import compile_scenario
from elicit_gym.types import ChatHistory, FactId, JudgeRequest, Message, Scenario, UserReply, UserTurn, Verdict

__all__ = ["STUCK_AFTER", "Conversation"]

STUCK_AFTER = 2
"""Turns in a row without progress after which the agent counts as stuck (InfoQuest, Section 3.2)."""


class Conversation:
    """One episode under way.

    Attributes:
        history: all messages; the last is the user's while the episode goes on, and the agent's once it is done.
        satisfied: one flag for each checklist item.
        turn: the number of messages that the agent has sent.
        stuck: whether the agent has made no progress for two turns.
        disclosed: ids of the facts that the user has given away.
        terminated: whether every item is satisfied.
        truncated: whether the last turn was played before that happened.
        unscored: indexes of the items that the judge could not score in the latest step.
    """

    __slots__ = (
        "_idle_turns", "_newly", "disclosed", "history", "max_turns", "satisfied", "scenario", "seed", "terminated",
        "truncated", "turn", "unscored",
    )  # fmt: skip

    def __init__(self, scenario: Scenario, *, max_turns: int, seed: int) -> None:
        self.scenario = scenario
        self.max_turns = max_turns
        self.seed = seed
        self.history: ChatHistory = (Message(role="user", content=scenario.opening_message),)
        self.satisfied: tuple[bool, ...] = (False,) * len(scenario.checklist)
        self.turn = 0
        self.disclosed: frozenset[FactId] = frozenset()
        self.terminated = False
        self.truncated = False
        self.unscored: tuple[int, ...] = ()
        self._idle_turns = 0
        self._newly: tuple[int, ...] = ()

    @property
    def stuck(self) -> bool:
        """Whether at least the last two turns brought no progress."""
        return self._idle_turns >= STUCK_AFTER

    @property
    def over(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated

    @property
    def newly_satisfied(self) -> tuple[int, ...]:
        """Indexes of the items that the latest message satisfied."""
        return self._newly

    def judge_request(self, action: str) -> JudgeRequest:
        """Return what the judge has to decide if the agent says `action`, without changing anything."""
        return JudgeRequest(
            scenario=self.scenario,
            pending=tuple([i for i, done in enumerate(self.satisfied) if not done]),
            user_message=self.history[-1].content,
            assistant_message=action,
            disclosed=self.disclosed,
            seed=self.seed,
        )

    def user_turn(self, action: str, verdicts: tuple[Verdict, ...]) -> UserTurn | None:
        """Return what the user has to answer, or None if this action ends the episode, without changing anything."""
        satisfied, newly, idle = self._judged(verdicts)
        if all(satisfied) or self.turn + 1 >= self.max_turns:
            return None
        return UserTurn(
            scenario=self.scenario,
            history=(*self.history, Message(role="assistant", content=action)),
            turn=self.turn + 1,
            satisfied=satisfied,
            newly_satisfied=newly,
            stuck=idle >= STUCK_AFTER,
            disclosed=self.disclosed,
            seed=self.seed,
        )

    def advance(
        self, action: str, verdicts: tuple[Verdict, ...], turn: UserTurn | None, reply: UserReply | None
    ) -> None:
        """Make the step. Only here does the state change, once judge and user have both succeeded."""
        pending = (i for i, done in enumerate(self.satisfied) if not done)
        self.unscored = tuple([i for i, verdict in zip(pending, verdicts, strict=True) if verdict.satisfied is None])
        self.turn += 1
        if turn is None or reply is None:
            self.satisfied, self._newly, self._idle_turns = self._judged(verdicts)
            self.history = (*self.history, Message(role="assistant", content=action))
            self.terminated = all(self.satisfied)
            self.truncated = not self.terminated
        else:
            self.satisfied, self._newly = turn.satisfied, turn.newly_satisfied
            self._idle_turns = 0 if self._newly else self._idle_turns + 1
            self.history = (*turn.history, Message(role="user", content=reply.text))
            self.disclosed |= compile_scenario(self.scenario).disclosed_in(reply.text)

    def _judged(self, verdicts: tuple[Verdict, ...]) -> tuple[tuple[bool, ...], tuple[int, ...], int]:
        pending = [i for i, done in enumerate(self.satisfied) if not done]
        newly = tuple([i for i, verdict in zip(pending, verdicts, strict=True) if verdict.satisfied])
        if not newly:
            return self.satisfied, (), self._idle_turns + 1
        return tuple([done or i in newly for i, done in enumerate(self.satisfied)]), newly, 0
