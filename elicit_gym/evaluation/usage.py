"""What a run spent, by policy, seat and model; and what a run would spend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from elicit_gym.envs.conversation import Conversation
from elicit_gym.episode import EpisodeRecord
from elicit_gym.judges.llm import LLMJudge, hidden_context
from elicit_gym.parts import model_name
from elicit_gym.policy import Policy
from elicit_gym.types import JudgeRequest, Message, Scenario, UserReply, UserTurn, Verdict
from elicit_gym.user_simulators.llm import LLMUserSimulator

__all__ = ["UsageRow", "estimate_usage", "usage_table"]

CHARACTERS_A_TOKEN = 4.0
ASSUMED_ACTION = "x" * 600
ASSUMED_REPLY = "x" * 90
ASSUMED_JUDGE_OUTPUT_TOKENS = 120
PLAYED_TURNS = 10

Row = tuple[str, str, int, int, int]
"""Seat, model, calls, input tokens, output tokens."""


@dataclass(frozen=True, kw_only=True)
class UsageRow:
    """What one seat spent on one model for one policy.

    Attributes:
        cost_usd: None when a price is unknown; never 0 for that.
    """

    policy: str
    seat: str
    model: str
    calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def usage_table(records: Sequence[EpisodeRecord]) -> list[UsageRow]:
    """Add up what episodes spent, failed ones included; an answer from the cache counts as what it once cost."""
    sums: dict[tuple[str, str, str], list[Any]] = {}
    for record in records:
        for turn in record.episode.turns:
            for usage in turn.usage:
                entry = sums.setdefault((record.policy, usage.seat, usage.model), [0, 0, 0, 0.0])
                entry[0] += usage.calls
                entry[1] += usage.input_tokens
                entry[2] += usage.output_tokens
                entry[3] = None if entry[3] is None or usage.cost_usd is None else entry[3] + usage.cost_usd
    return [
        UsageRow(
            policy=policy, seat=seat, model=model, calls=calls, input_tokens=given, output_tokens=made, cost_usd=cost
        )
        for (policy, seat, model), (calls, given, made, cost) in sorted(sums.items())
    ]


def _tokens(messages: Sequence[Message]) -> int:
    return round(sum(len(m.content) for m in messages) / CHARACTERS_A_TOKEN) + 4 * len(messages)


def estimate_usage(
    scenarios: Sequence[Scenario],
    *,
    repeats: int,
    max_turns: int,
    user_simulator: object,
    judge: object,
    policies: Sequence[Policy],
    price: Callable[[str, int, int], float | None],
) -> list[UsageRow]:
    """Estimate what a run would spend at most: full-length episodes in which nothing is ever satisfied.

    Prompts are built as the run would build them, with four characters a token, messages of 600 characters by the
    agent and of 90 by the user, and 120 tokens of reasons by the judge. Of a part of one's own that holds a model
    (`elicit_gym.parts.ModelPart`) the prompts are not known: its calls are counted as one for each pending item or
    reply, with the scenario and the conversation as the prompt.

    Args:
        scenarios: those to be played.
        repeats: of each.
        max_turns: of an episode.
        user_simulator: the one of the environment; only calls of a model are counted.
        judge: likewise.
        policies: likewise.
        price: from model, input and output tokens to dollars, None for an unknown price.

    Returns:
        One row per policy, seat and model.
    """
    sample = scenarios[:: max(1, len(scenarios) // 20)]
    per_episode: dict[tuple[str, str], list[float]] = {}
    for scenario in sample:
        for key, values in _spent(scenario, max_turns, user_simulator, judge).items():
            entry = per_episode.setdefault(key, [0.0, 0.0, 0.0])
            for i, value in enumerate(values):
                entry[i] += value / len(sample)
    num = len(scenarios) * repeats
    rows = []
    for policy in policies:
        for (seat, model), (mean_calls, mean_given, mean_made) in per_episode.items():
            name = model_name(policy) if seat == "policy" else model
            if name is None:
                continue
            tokens = (round(num * mean_given), round(num * mean_made))
            rows.append(
                UsageRow(
                    policy=policy.name,
                    seat=seat,
                    model=name,
                    calls=round(num * mean_calls),
                    input_tokens=tokens[0],
                    output_tokens=tokens[1],
                    cost_usd=price(name, *tokens),
                )
            )
    return rows


def _spent(
    scenario: Scenario, max_turns: int, user_simulator: object, judge: object
) -> dict[tuple[str, str], list[float]]:
    """Return calls, input and output tokens of an episode, by seat and model.

    Every turn makes the prompts longer by the same: what an episode spends is a quadratic function of its length, and
    that of a long one follows from three short ones, exactly but for rounded tokens.
    """
    if max_turns <= 3 * PLAYED_TURNS:
        totals: dict[tuple[str, str], list[float]] = {}
        for seat, model, *values in _episode(scenario, max_turns, user_simulator, judge):
            entry = totals.setdefault((seat, model), [0.0, 0.0, 0.0])
            for i, value in enumerate(values):
                entry[i] += value
        return totals
    one, two, three = (_spent(scenario, k * PLAYED_TURNS, user_simulator, judge) for k in (1, 2, 3))
    steps = max_turns / PLAYED_TURNS - 1
    return {
        key: [
            a + steps * (b - a) + steps * (steps - 1) / 2 * (c - 2 * b + a)
            for a, b, c in zip(one[key], two[key], three[key], strict=True)
        ]
        for key in one
    }


def _episode(scenario: Scenario, max_turns: int, user_simulator: object, judge: object) -> list[Row]:
    conversation = Conversation(scenario, max_turns=max_turns, seed=0)
    no = (Verdict(satisfied=False),) * len(scenario.checklist)
    rows: list[Row] = []
    while not conversation.done:
        rows.append(("policy", "", 1, _tokens(conversation.history), round(len(ASSUMED_ACTION) / CHARACTERS_A_TOKEN)))
        row = _judge_row(judge, conversation.judge_request(ASSUMED_ACTION))
        rows += [row] if row else []
        turn = conversation.user_turn(ASSUMED_ACTION, no)
        row = _user_row(user_simulator, turn) if turn is not None else None
        rows += [row] if row else []
        conversation.advance(ASSUMED_ACTION, no, turn, UserReply(text=ASSUMED_REPLY) if turn else None)
    return rows


def _judge_row(judge: object, request: JudgeRequest) -> Row | None:
    model = model_name(judge)
    if model is None:
        return None
    if isinstance(judge, LLMJudge):
        chats = judge.chats(request)
        num, given = len(chats), sum(_tokens(chat.messages) for chat in chats)
    else:
        num = len(request.pending)
        text = f"{hidden_context(request.scenario)} {request.user_message} {request.assistant_message}"
        given = num * _tokens([Message(role="user", content=text)])
    return ("judge", model, num, given, num * ASSUMED_JUDGE_OUTPUT_TOKENS)


def _user_row(user_simulator: object, turn: UserTurn) -> Row | None:
    model = model_name(user_simulator)
    if model is None:
        return None
    system = Message(role="system", content=hidden_context(turn.scenario))
    messages = (
        user_simulator.messages(turn) if isinstance(user_simulator, LLMUserSimulator) else (system, *turn.history)
    )
    return ("user_simulator", model, 1, _tokens(messages), round(len(ASSUMED_REPLY) / CHARACTERS_A_TOKEN))
