"""Contract checks for people who plug in a policy, a user simulator or a judge of their own.

Each check raises `AssertionError` with what was expected and what was found; put them into your own tests. The optional
contracts (`elicit_gym.parts`, `elicit_gym.policy`, `elicit_gym.judges.base`) are checked where a part has them.
"""

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict

from elicit_gym.envs.conversation import Conversation
from elicit_gym.errors import FatalModelError, SettingError
from elicit_gym.judges.base import BatchJudge, Judge, ScenarioCheckingJudge
from elicit_gym.parts import CheckablePart, DescribedPart, ModelPart, NamedModel, PromptedPart, describe
from elicit_gym.policy import (
    BatchPolicy,
    CountingPolicy,
    NetworkBoundPolicy,
    Policy,
    PrivilegedPolicy,
    ScenarioPolicy,
    ScoringPolicy,
    SpendingPolicy,
    StochasticPolicy,
)
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.strict_json import json_text
from elicit_gym.types import ChatHistory, Description, Message, Usage, UserReply, Verdict
from elicit_gym.user_simulators.base import BatchUserSimulator, UserSimulator

__all__ = ["check_judge", "check_policy", "check_user_simulator"]

_MESSAGES = ("What would you like to achieve?", "Here are some tips:\n- plan ahead", "Who helps you? And when?")
_NO = Verdict(satisfied=False)


def _conversations() -> list[Conversation]:
    turns = 1 + len(_MESSAGES)
    return [Conversation(scenario, max_turns=turns, seed=7) for scenario in load_scenarios()[:3]]


def _check_part(part: object) -> None:
    """Check the optional contracts that policies, user simulators and judges share."""
    if isinstance(part, CheckablePart):
        try:
            part.check()
        except FatalModelError as error:
            if not str(error).strip():
                raise AssertionError("expected check() to raise a sentence, got an empty one") from error
    if isinstance(part, PromptedPart):
        for prompt in part.prompts:
            assert isinstance(prompt.name, str) and prompt.name, f"expected prompts with names, got {prompt.name!r}"
            assert len(prompt.sha256) == 64, f"expected the sha256 of {prompt.name!r}, got {prompt.sha256!r}"
    if isinstance(part, ModelPart) and isinstance(part, CheckablePart):
        # A part with a check calls its model over a network: reports and estimates need the model's name.
        assert isinstance(part.model, NamedModel) and part.model.name, f"expected a model's name, got {part.model!r}"
    if isinstance(part, DescribedPart):
        assert isinstance(part.describe(), Description), f"expected a Description, got {part.describe()!r}"
    told = describe(part)
    json_text(asdict(told))
    assert describe(part).identity() == told.identity(), "expected the same description twice, got others"


def check_policy(policy: Policy, *, deterministic: bool = True) -> None:
    """Check the contract of a policy.

    Args:
        policy: with or without `act_batch`, and the other optional contracts of `elicit_gym.policy`.
        deterministic: whether the same seed and histories must give the same utterances.
    """
    assert isinstance(policy, Policy), f"expected name, reset(seed) and act(history), got {type(policy).__name__}"
    assert isinstance(policy.name, str) and policy.name, f"expected a name, got {policy.name!r}"
    _check_part(policy)
    said = []
    for _ in range(2):
        for conversation in _conversations():
            player = policy.for_scenario(conversation.scenario) if isinstance(policy, ScenarioPolicy) else policy
            player.reset(3)
            history = conversation.history
            for _ in range(3):
                action = player.act(history)
                assert isinstance(action, str) and action.strip(), f"expected a non-empty string, got {action!r}"
                said.append(action)
                answer = Message(role="user", content="It is about time.")
                history = (*history, Message(role="assistant", content=action), answer)
    if deterministic:
        half = len(said) // 2
        assert said[:half] == said[half:], "expected the same utterances for the same seed and histories, got others"
    histories = [conversation.history for conversation in _conversations()]
    if isinstance(policy, BatchPolicy):
        actions = policy.act_batch(histories)
        assert len(actions) == len(histories), f"expected {len(histories)} utterances, got {len(actions)}"
        assert all(isinstance(a, str) and a.strip() for a in actions), f"expected non-empty strings, got {actions!r}"
    _check_abilities(policy, histories)


def _check_abilities(policy: Policy, histories: Sequence[ChatHistory]) -> None:
    """Check what a policy can do beside acting."""
    if isinstance(policy, PrivilegedPolicy):
        assert isinstance(policy.privileged, bool), f"expected privileged to be a bool, got {policy.privileged!r}"
    if isinstance(policy, NetworkBoundPolicy):
        assert isinstance(policy.network_bound, bool), f"expected a bool, got network_bound={policy.network_bound!r}"
    if isinstance(policy, SpendingPolicy):
        usage, flags = policy.take_usage()
        assert all(isinstance(entry, Usage) for entry in usage), f"expected usage of models, got {usage!r}"
        assert all(isinstance(flag, str) for flag in flags), f"expected flags as text, got {flags!r}"
        assert policy.take_usage() == ((), ()), "expected usage to be taken once, got it again"
    if isinstance(policy, ScoringPolicy):
        scores = policy.log_prob_batch(histories, ["Why?"] * len(histories))
        assert len(scores) == len(histories), f"expected {len(histories)} log probabilities, got {len(scores)}"
        for score in scores:
            assert score.total <= 0 and score.num_tokens > 0, f"expected a log probability over tokens, got {score!r}"
    if isinstance(policy, StochasticPolicy):
        with suppress(SettingError):  # a policy that does not sample as it is set says so
            for history in histories:
                (log_prob,) = policy.action_log_probs([history], [policy.act(history)])
                assert -math.inf < log_prob <= 1e-6, f"expected its own action to be possible to it, got {log_prob!r}"
    if isinstance(policy, CountingPolicy):
        counts = policy.count_prompt_tokens(histories)
        assert len(counts) == len(histories) and all(count > 0 for count in counts), (
            f"expected {len(histories)} numbers of tokens, got {counts!r}"
        )


def check_user_simulator(simulator: UserSimulator, *, deterministic: bool = True) -> None:
    """Check the contract of a user simulator: a non-empty reply, the same for the same turn, batched or not.

    Args:
        simulator: with or without `reply_batch`, and the optional contracts of `elicit_gym.parts`.
        deterministic: whether the same turn must give the same reply.
    """
    assert isinstance(simulator, UserSimulator), f"expected name and reply(turn), got {type(simulator).__name__}"
    assert isinstance(simulator.name, str) and simulator.name, f"expected a name, got {simulator.name!r}"
    _check_part(simulator)
    turns = [
        turn
        for conversation in _conversations()
        for message in _MESSAGES
        if (turn := conversation.user_turn(message, (_NO,) * 5)) is not None
    ]
    replies = [simulator.reply(turn) for turn in turns]
    for reply in replies:
        assert isinstance(reply.text, str) and reply.text.strip(), f"expected a non-empty reply, got {reply.text!r}"
    if deterministic:
        again = [simulator.reply(turn) for turn in reversed(turns)]
        assert [r.text for r in reversed(again)] == [r.text for r in replies], (
            "expected the same reply for the same turn, whatever came before, got a different one"
        )
    if isinstance(simulator, BatchUserSimulator):
        batch = simulator.reply_batch(turns)
        assert len(batch) == len(turns), f"expected {len(turns)} replies, got {len(batch)}"
        texts = [reply.text for reply in batch if isinstance(reply, UserReply)]
        assert len(texts) == len(turns), f"expected {len(turns)} replies, got {batch!r}"
        if deterministic:
            assert texts == [r.text for r in replies], "expected the batch to say the same, got other"


def check_judge(judge: Judge, *, deterministic: bool = True) -> None:
    """Check the contract of a judge: one verdict per pending item, in order, the same batched or not.

    Args:
        judge: with or without `judge_batch` and `check_scenarios`, and the optional contracts of `elicit_gym.parts`.
        deterministic: whether the same request must give the same verdicts.
    """
    assert isinstance(judge, Judge), f"expected name and judge(request), got {type(judge).__name__}"
    assert isinstance(judge.name, str) and judge.name, f"expected a name, got {judge.name!r}"
    _check_part(judge)
    if isinstance(judge, ScenarioCheckingJudge):
        try:
            judge.check_scenarios(load_scenarios())
        except SettingError as error:
            raise AssertionError(f"expected the bundled scenarios to be judged, got: {error}") from error
    requests = [c.judge_request(message) for c in _conversations() for message in _MESSAGES]
    verdicts = [judge.judge(request) for request in requests]
    for request, found in zip(requests, verdicts, strict=True):
        assert len(found) == len(request.pending), f"expected {len(request.pending)} verdicts, got {len(found)}"
        for verdict in found:
            assert verdict.satisfied in (True, False, None), f"expected True, False or None, got {verdict.satisfied!r}"
            assert verdict.satisfied is not None or verdict.reason, "expected a reason for an unscored item, got none"
    if deterministic:
        assert [judge.judge(request) for request in requests] == verdicts, (
            "expected the same verdicts for the same request, got others"
        )
    if isinstance(judge, BatchJudge):
        batch = judge.judge_batch(requests)
        assert len(batch) == len(requests), f"expected {len(requests)} tuples of verdicts, got {len(batch)}"
        if deterministic:
            assert batch == verdicts, "expected the same verdicts in a batch, got different ones"
