"""What a run would spend, by policy, seat and model."""

from collections.abc import Sequence

from elicit_gym.envs.conversation import Conversation
from elicit_gym.errors import SettingError
from elicit_gym.judges.llm import LLMJudge, hidden_context
from elicit_gym.llm.budget import Budget
from elicit_gym.llm.litellm_transport import price_usd
from elicit_gym.llm.prices import SEATS, Prices
from elicit_gym.llm.types import PricedModel
from elicit_gym.parts import ModelPart, model_name
from elicit_gym.policy import Policy
from elicit_gym.rollout.usage import UsageRow
from elicit_gym.types import JudgeRequest, Message, Scenario, UserReply, UserTurn, Verdict
from elicit_gym.user_simulators.llm import LLMUserSimulator

__all__ = ["check_prices", "estimate_usage"]

CHARACTERS_A_TOKEN = 4.0
ASSUMED_ACTION = "x" * 600
ASSUMED_REPLY = "x" * 90
ASSUMED_JUDGE_OUTPUT_TOKENS = 120
PLAYED_TURNS = 10

Row = tuple[str, str, int, int, int]
"""Seat, model, calls, input tokens, output tokens."""


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
    prices: Prices | None = None,
) -> list[UsageRow]:
    """Estimate what a run would spend on full-length episodes in which nothing is ever satisfied.

    No episode is longer and no judge is asked more often, but messages may be longer than is assumed here, and what is
    refused is asked for again: it is an estimate and no bound.

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
        prices: those that the user gives; a model's own list is asked for all others.

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
    seats: dict[str, object] = {"user_simulator": user_simulator, "judge": judge}
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
                    cost_usd=_price(seat, seats.get(seat, policy), prices, tokens),
                )
            )
    return rows


def _price(seat: str, part: object, prices: Prices | None, tokens: tuple[int, int]) -> float | None:
    """Return what tokens cost that a part's model takes and writes, None where the price is unknown."""
    own = prices.find(seat, model_name(part) or "") if prices is not None else None
    if own is not None:
        return own.of(*tokens)
    model = part.model if isinstance(part, ModelPart) else None
    return model.price_usd(*tokens) if isinstance(model, PricedModel) else price_usd(model_name(part) or "", *tokens)


def check_prices(
    budget: Budget,
    prices: Prices,
    policies: Sequence[Policy],
    *,
    user_simulator: object = None,
    judge: object = None,
) -> None:
    """Refuse a budget in dollars that nobody can keep, before the first call.

    Args:
        budget: of the run.
        prices: those that the user gives.
        policies: of the run.
        user_simulator: likewise.
        judge: likewise.

    Raises:
        SettingError: a seat holds a model whose price is unknown; names the seat, and what to do.
    """
    if budget.usd is None:
        return
    seats: list[tuple[str, object]] = [("policy", policy) for policy in policies]
    seats += [("user_simulator", user_simulator), ("judge", judge)]
    unknown: dict[str, str] = {}
    for seat, part in seats:
        priced = isinstance(part, ModelPart) and isinstance(part.model, PricedModel)
        if priced and _price(seat, part, prices, (1000, 1000)) is None:
            unknown.setdefault(next(word for word, name in SEATS.items() if name == seat), model_name(part) or "")
    if unknown:
        named = " and ".join(f"the {seat}'s model {model!r}" for seat, model in unknown.items())
        options = " ".join(f"--price {seat}=IN/OUT" for seat in unknown)
        raise SettingError(
            f"Keeping to a budget of ${budget.usd:g}: expected known prices, got none for {named}. Give them in US "
            f"dollars per million tokens ({options}; 0/0 for a server of your own), or limit the tokens instead "
            "(--budget-tokens)."
        )


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
