"""The words of the package as types: message, history, scenario, verdict, usage, description.

All are frozen and keyword-only, so that they can be shared between threads, hashed, and sent to other processes.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

__all__ = [
    "NUM_CONSTRAINTS",
    "NUM_ITEMS",
    "ChatHistory",
    "ChecklistItem",
    "Description",
    "Fact",
    "FactId",
    "ItemKind",
    "JudgeReply",
    "JudgeRequest",
    "Manner",
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
Manner = Literal["open", "guarded", "wandering", "impatient"]
"""How a scripted user takes part: by the paper's rules, vague until asked again, with remarks, gone soon."""
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
        id: ``goal``, ``obstacle``, ``constraint_1`` to ``constraint_5``; in scenarios of full depth also ``request``
            (what the opening message is about), ``tried`` and more circumstances.
        statement: the fact as the scenario file words it.
        disclosures: the spoken sentences with which the user gives it away: a short one, and a fuller one for somebody
            who asks again.
        questions: examples of questions that ask for it; empty where a scenario's understanding is derived.
    """

    id: FactId
    statement: str
    disclosures: tuple[str, ...]
    questions: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class ChecklistItem:
    """One yes/no question of the checklist, and what a judge without a language model needs to answer it.

    Attributes:
        question: the question in the checklist's words.
        kind: ``ask`` (the agent has to ask for it) or ``advice`` (the agent has to address it).
        facts: the facts that it hangs on. An *ask* is met by a question that goes for one of them; an *advice* counts
            once the user has disclosed one.
        topic: a noun phrase that names what it is about.
        after: a fact that the user must have disclosed before, since the question makes sense only then.
        hints: indirect sentences of a user whose agent is stuck: a consequence or a feeling, in other words.
        suggestions: for an *advice*, examples that meet it.
        contrary: for an *advice*, examples on the same object that go against what the user needs.
    """

    question: str
    kind: ItemKind
    facts: tuple[FactId, ...]
    topic: str
    after: FactId | None = None
    hints: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    contrary: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Scenario:
    """A user with a hidden goal, obstacle and five constraints, and the checklist to judge the agent by.

    The InfoQuest paper (Section 3.1) calls it a setting, with its persona and traits; `opening_message` is the paper's
    seed message. Two scenarios of different personas share each opening message.

    Attributes:
        derived: whether facts and items have no examples, so that what a message means for them can only be derived
            from the scenario's own texts (the published set, and generated ones unless written in depth).
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
    derived: bool = False

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

    Raises:
        ValueError: the cost is not a finite number.
    """

    seat: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None

    def __post_init__(self) -> None:
        if self.cost_usd is not None and not math.isfinite(self.cost_usd):
            raise ValueError(f"Counting what {self.model!r} spent: expected a finite cost, got {self.cost_usd!r}.")


@dataclass(frozen=True, kw_only=True, slots=True)
class Verdict:
    """A judge's answer for one checklist item.

    Attributes:
        satisfied: the answer; None if the item could not be scored, which is never a silent "no".
        reason: why, in the judge's words; for an unscored item, what went wrong.
        raw: the raw reply behind it, if there is one.
        earlier: the raw replies before it, which could not be used.
        flags: what had to be done to get it; calls that answer several items have them on the first.
        usage: what it cost; calls that answer several items have it on the first.
    """

    satisfied: bool | None
    reason: str | None = None
    raw: str | None = None
    earlier: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    usage: tuple[Usage, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class JudgeReply:
    """What a judge wrote about one checklist item, so that its verdict can be audited.

    Attributes:
        item: the item's index.
        satisfied: the verdict; None for unscored.
        replies: the raw replies, the one that counts last; more than one where it was asked again.
        reason: the verdict's own, where it gives one.
    """

    item: int
    satisfied: bool | None
    replies: tuple[str, ...]
    reason: str | None = None


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
        newly_satisfied: indexes of the items that the latest message satisfied.
        stuck: two turns in a row without progress.
        idle_turns: turns in a row without progress.
        disclosed: ids of the facts given away so far.
        seed: of this episode; whatever is random must derive from it and from `turn`.
    """

    scenario: Scenario
    history: ChatHistory
    turn: int
    satisfied: tuple[bool, ...]
    newly_satisfied: tuple[int, ...]
    stuck: bool
    disclosed: frozenset[FactId]
    seed: int
    idle_turns: int = 0


@dataclass(frozen=True, kw_only=True, slots=True)
class UserReply:
    """What the user says.

    Attributes:
        text: the message.
        leaves: the user ends the conversation with it.
        flags: what had to be done to get it (for example ``retried:role_swap``), for the report.
        usage: what it cost.
    """

    text: str
    flags: tuple[str, ...] = ()
    usage: tuple[Usage, ...] = ()
    leaves: bool = False


@dataclass(frozen=True, kw_only=True)
class Description:
    """How a policy, a user simulator, a judge or a reward acts, in JSON types: one entry of a manifest.

    Attributes:
        name: how reports call it.
        kind: its class as ``module:Class``; text for the reader, never imported from a manifest.
        model: the model behind it, where there is one.
        sampling: how the model is sampled: temperature, longest answer and the like.
        weights_sha256: of the weights of a local model, adapter included. Where it is known, it identifies the model,
            and `model` is a remark.
        prompts: sha256 of each prompt, by name.
        settings: whatever else its records depend on.
        server: remark: where the model is served, without user, password and query.
    """

    name: str
    kind: str
    model: str | None = None
    sampling: Mapping[str, Any] = field(default_factory=dict)
    weights_sha256: str | None = None
    prompts: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    server: str | None = None

    def identity(self) -> dict[str, Any]:
        """Return what two runs have to share before their records may be mixed; remarks are left out."""
        known = self.weights_sha256 is not None
        return {
            "kind": self.kind,
            "model": None if known else self.model,
            "weights_sha256": self.weights_sha256,
            "sampling": dict(self.sampling),
            "prompts": dict(self.prompts),
            "settings": dict(self.settings),
        }
