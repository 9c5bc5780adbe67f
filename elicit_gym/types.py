"""The package's vocabulary as types: message, history, scenario, verdict, usage.

All are frozen and keyword-only, so that they can be shared between threads, hashed, and sent to other processes.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

__all__ = [
    "NUM_CONSTRAINTS",
    "NUM_ITEMS",
    "ChatHistory",
    "ChecklistItem",
    "Fact",
    "FactId",
    "ItemKind",
    "JudgeRequest",
    "Message",
    "Role",
    "Scenario",
    "Usage",
    "UserReply",
    "UserTurn",
    "Verdict",
]

Role = Literal["system", "user", "assistant"]
ItemKind = Literal["ask", "advice"]
FactId: TypeAlias = str

NUM_CONSTRAINTS = 5
NUM_ITEMS = 5


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One utterance and the role of its speaker."""

    role: Role
    content: str


ChatHistory: TypeAlias = tuple[Message, ...]
"""What an agent sees: the conversation so far, oldest first. The first message is the user's opening message."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One thing the user knows and the agent does not.

    Attributes:
        id: ``goal``, ``obstacle`` or ``constraint_1`` to ``constraint_5``.
        statement: the fact in the scenario file's words.
        disclosure: the one spoken sentence with which the user gives it away.
        cues: which questions ask for this fact, beside the cues of the checklist items that depend on it.
    """

    id: FactId
    statement: str
    disclosure: str
    cues: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChecklistItem:
    """One yes/no question of the checklist, and what a judge without a language model needs to answer it.

    Attributes:
        question: the question in the checklist's words.
        kind: ``ask`` (the agent has to ask for it) or ``advice`` (the agent has to address it).
        fact: the fact that it depends on.
        topic: a noun phrase that points to it without giving anything away; the user's hints are built from it.
        cues: alternatives; one is met when all its words occur (``a|b`` means either; words are compared by stem).
    """

    question: str
    kind: ItemKind
    fact: FactId
    topic: str
    cues: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A user with a hidden goal, obstacle and five constraints, and the checklist to judge the agent by.

    The InfoQuest paper (Section 3.1) calls it a setting, with its persona and traits; `opening_message` is the paper's
    seed message. Two scenarios of different personas share each opening message.
    """

    id: str
    opening_message: str
    persona: str
    traits: tuple[str, ...]
    description: str
    goal: str
    obstacle: str
    constraints: tuple[str, ...]
    solution: str
    checklist: tuple[ChecklistItem, ...]
    facts: tuple[Fact, ...]
    split: str | None = None

    def __hash__(self) -> int:
        # Equality still compares every field; hashing all of them at every cache lookup would cost more than a step.
        return hash((self.id, self.opening_message))

    def fact(self, fact_id: FactId) -> Fact:
        """Return the fact with this id."""
        return next(fact for fact in self.facts if fact.id == fact_id)


@dataclass(frozen=True, kw_only=True, slots=True)
class Usage:
    """What one seat spent on one model.

    Attributes:
        seat: ``policy``, ``user_simulator`` or ``judge``.
        cost_usd: the cost; None if the model's price is unknown.
    """

    seat: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A judge's answer for one checklist item.

    Attributes:
        satisfied: the answer; None if the item could not be scored, which is never a silent "no".
        reason: why, in the judge's words; for an unscored item, what went wrong.
        raw: the raw reply behind it, if there is one.
        flags: what had to be done to get it; calls that answer several items have them on the first.
        usage: what it cost; calls that answer several items have it on the first.
    """

    satisfied: bool | None
    reason: str | None = None
    raw: str | None = None
    flags: tuple[str, ...] = ()
    usage: tuple[Usage, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeRequest:
    """All that a judge may look at: the hidden context and the most recent user and assistant messages.

    Attributes:
        pending: the indexes of the pending items in `scenario.checklist`, in ascending order; verdicts have this order.
        disclosed: the ids of the facts that the user has given away so far.
        seed: the episode's seed, for judges that sample.
    """

    scenario: Scenario
    pending: tuple[int, ...]
    user_message: str
    assistant_message: str
    disclosed: frozenset[FactId]
    seed: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class UserTurn:
    """All that a user simulator may look at when it is its turn.

    Attributes:
        history: the history up to and including the agent's latest message.
        turn: the number of messages that the agent has sent, the latest included.
        satisfied: the state of the checklist, the paper's "game progress".
        newly_satisfied: the indexes of the items that the latest message satisfied.
        stuck: whether at least two turns in a row brought no progress.
        disclosed: the ids of the facts given away so far.
        seed: the episode's seed; everything random must derive from it and from `turn`.
    """

    scenario: Scenario
    history: ChatHistory
    turn: int
    satisfied: tuple[bool, ...]
    newly_satisfied: tuple[int, ...]
    stuck: bool
    disclosed: frozenset[FactId]
    seed: int


@dataclass(frozen=True, kw_only=True, slots=True)
class UserReply:
    """What the user says.

    Attributes:
        text: the message.
        flags: what had to be done to get it (for example ``retried:role_swap``), for the report.
        usage: what it cost.
    """

    text: str
    flags: tuple[str, ...] = ()
    usage: tuple[Usage, ...] = ()
