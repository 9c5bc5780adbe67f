"""Questions drawn with known probabilities."""

import math
from collections import Counter

import pytest

from elicit_gym.agents.baselines import QUESTION_BANK, RandomQuestions, SoftmaxQuestions
from elicit_gym.errors import SettingError
from elicit_gym.policy import StochasticPolicy
from elicit_gym.testing import check_policy
from elicit_gym.types import Message

FRESH = (Message(role="user", content="I need help."),)
ASKED = (*FRESH, Message(role="assistant", content=QUESTION_BANK[0]), Message(role="user", content="A party."))


@pytest.mark.parametrize("history", [FRESH, ASKED])
@pytest.mark.parametrize("policy", [RandomQuestions(), SoftmaxQuestions(), SoftmaxQuestions(0.5, 0.0)])
def test_what_it_says_is_what_it_does(policy: StochasticPolicy, history: tuple[Message, ...]) -> None:
    log_probs = policy.action_log_probs([history] * len(QUESTION_BANK), QUESTION_BANK)
    assert sum(map(math.exp, log_probs)) == pytest.approx(1.0)
    policy.reset(3)
    drawn = Counter(policy.act(history) for _ in range(20_000))
    for question, log_prob in zip(QUESTION_BANK, log_probs, strict=True):
        expected = math.exp(log_prob)
        assert drawn[question] / 20_000 == pytest.approx(expected, abs=4.5 * math.sqrt(expected / 20_000))
    assert policy.action_log_probs([history], ["Nice weather."]) == [-math.inf]


def test_what_was_asked_is_less_probable() -> None:
    policy = SoftmaxQuestions(slope=0.0, repeat_penalty=2.0)
    first, second = policy.action_log_probs([ASKED, ASKED], QUESTION_BANK[:2])
    assert second - first == pytest.approx(2.0)


def test_the_contract_and_a_bank_that_is_none() -> None:
    check_policy(SoftmaxQuestions())
    with pytest.raises(SettingError, match="got 2 of which 1 differ"):
        SoftmaxQuestions(questions=["a", "a"])


def test_a_policy_that_says_what_it_holds_for_impossible_is_found_out() -> None:
    class Liar(SoftmaxQuestions):
        def act(self, history: tuple[Message, ...]) -> str:
            return "Nice weather."

    with pytest.raises(AssertionError, match="expected its own action to be possible to it, got -inf"):
        check_policy(Liar())
