"""What a run spent, by policy, seat and model; and what a run would spend."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from elicit_gym.envs.conversation import Conversation
from elicit_gym.episode import EpisodeRecord
from elicit_gym.judges.llm import LLMJudge
from elicit_gym.llm.types import ChatRequest
from elicit_gym.types import Message, Scenario, UserReply, Verdict
from elicit_gym.user_simulators.llm import LLMUserSimulator

__all__ = ["UsageRow", "estimate_usage", "usage_table"]

CHARACTERS_A_TOKEN = 4.0
ASSUMED_ACTION = "x" * 600
ASSUMED_REPLY = "x" * 90
ASSUMED_JUDGE_OUTPUT_TOKENS = 120


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
    policy_models: dict[str, str],
    price: Callable[[str, int, int], float | None],
) -> list[UsageRow]:
    """Estimate what a run would spend at most: full-length episodes in which nothing is ever satisfied.

    Prompts are built as the run would build them, with four characters per token, messages of 600 characters by the
    agent and of 90 by the user, and 120 tokens of reasons by the judge.

    Args:
        scenarios: the scenarios to be played.
        repeats: the number of episodes per scenario.
        max_turns: the number of turns per episode.
        user_simulator: the environment's user simulator; its calls are counted if it is a model.
        judge: the environment's judge; its calls are counted if it is a model.
        policy_models: the model's name by policy name, for policies that are models.
        price: a function from model, input tokens and output tokens to dollars, or None if the price is unknown.

    Returns:
        One row per policy, seat and model.
    """
    sample = scenarios[:: max(1, len(scenarios) // 20)]
    per_episode: dict[tuple[str, str], list[float]] = {}
    for scenario in sample:
        for seat, model, calls, given, made in _episode(scenario, max_turns, user_simulator, judge):
            entry = per_episode.setdefault((seat, model), [0.0, 0.0, 0.0])
            for i, value in enumerate((calls, given, made)):
                entry[i] += value / len(sample)
    num = len(scenarios) * repeats
    rows = []
    for policy, policy_model in policy_models.items():
        for (seat, model), (mean_calls, mean_given, mean_made) in per_episode.items():
            if seat == "policy" and not policy_model:
                continue
            name = policy_model if seat == "policy" else model
            tokens = (round(num * mean_given), round(num * mean_made))
            rows.append(
                UsageRow(
                    policy=policy,
                    seat=seat,
                    model=name,
                    calls=round(num * mean_calls),
                    input_tokens=tokens[0],
                    output_tokens=tokens[1],
                    cost_usd=price(name, *tokens),
                )
            )
    return rows


def _episode(
    scenario: Scenario, max_turns: int, user_simulator: object, judge: object
) -> list[tuple[str, str, int, int, int]]:
    conversation = Conversation(scenario, max_turns=max_turns, seed=0)
    no = (Verdict(satisfied=False),) * len(scenario.checklist)
    rows = []
    while not conversation.over:
        rows.append(("policy", "", 1, _tokens(conversation.history), round(len(ASSUMED_ACTION) / CHARACTERS_A_TOKEN)))
        if isinstance(judge, LLMJudge):
            chats: list[ChatRequest] = judge.chats(conversation.judge_request(ASSUMED_ACTION))
            given = sum(_tokens(chat.messages) for chat in chats)
            rows.append(("judge", judge.model.name, len(chats), given, len(chats) * ASSUMED_JUDGE_OUTPUT_TOKENS))
        turn = conversation.user_turn(ASSUMED_ACTION, no)
        if turn is not None and isinstance(user_simulator, LLMUserSimulator):
            given = _tokens(user_simulator.messages(turn))
            rows.append(
                ("user_simulator", user_simulator.model.name, 1, given, round(len(ASSUMED_REPLY) / CHARACTERS_A_TOKEN))
            )
        conversation.advance(ASSUMED_ACTION, no, turn, UserReply(text=ASSUMED_REPLY) if turn else None)
    return rows
