"""Contract checks for people who plug in a policy, a user simulator or a judge of their own.

Each check raises `AssertionError` with what was expected and what was found; put them into your own tests.
"""

from elicit_gym.envs.conversation import Conversation
from elicit_gym.judges.base import BatchJudge, Judge
from elicit_gym.policy import BatchPolicy, Policy, PrivilegedPolicy
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import Message, Verdict
from elicit_gym.user_simulators.base import BatchUserSimulator, UserSimulator

__all__ = ["check_judge", "check_policy", "check_user_simulator"]

_MESSAGES = ("What would you like to achieve?", "Here are some tips:\n- plan ahead", "Who helps you? And when?")
_NO = Verdict(satisfied=False)


def _conversations() -> list[Conversation]:
    return [Conversation(scenario, max_turns=10, seed=7) for scenario in load_scenarios()[:3]]


def check_policy(policy: Policy, *, deterministic: bool = True) -> None:
    """Check the contract of a policy.

    Args:
        policy: the policy, with or without `act_batch`.
        deterministic: whether the same seed and histories must give the same utterances.
    """
    assert isinstance(policy, Policy), f"expected name, reset(seed) and act(history), got {type(policy).__name__}"
    assert isinstance(policy.name, str) and policy.name, f"expected a name, got {policy.name!r}"
    said = []
    for _ in range(2):
        for conversation in _conversations():
            player = policy.for_scenario(conversation.scenario) if isinstance(policy, PrivilegedPolicy) else policy
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
    if isinstance(policy, BatchPolicy):
        histories = [conversation.history for conversation in _conversations()]
        actions = policy.act_batch(histories)
        assert len(actions) == len(histories), f"expected {len(histories)} utterances, got {len(actions)}"
        assert all(isinstance(a, str) and a.strip() for a in actions), f"expected non-empty strings, got {actions!r}"


def check_user_simulator(simulator: UserSimulator, *, deterministic: bool = True) -> None:
    """Check the contract of a user simulator: a non-empty reply, the same for the same turn, batched or not.

    Args:
        simulator: the user simulator, with or without `reply_batch`.
        deterministic: whether the same turn must give the same reply.
    """
    assert isinstance(simulator, UserSimulator), f"expected name and reply(turn), got {type(simulator).__name__}"
    assert isinstance(simulator.name, str) and simulator.name, f"expected a name, got {simulator.name!r}"
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
        if deterministic:
            assert [r.text for r in batch] == [r.text for r in replies], (
                "expected the same replies in a batch, got others"
            )


def check_judge(judge: Judge, *, deterministic: bool = True) -> None:
    """Check the contract of a judge: one verdict per pending item, in order, the same batched or not.

    Args:
        judge: the judge, with or without `judge_batch`.
        deterministic: whether the same request must give the same verdicts.
    """
    assert isinstance(judge, Judge), f"expected name and judge(request), got {type(judge).__name__}"
    assert isinstance(judge.name, str) and judge.name, f"expected a name, got {judge.name!r}"
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
