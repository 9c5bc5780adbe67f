"""The baselines, and the order that makes the environment mean something."""

from itertools import pairwise

import pytest

from elicit_gym import Comparison, compare
from elicit_gym.agents import load_policy
from elicit_gym.agents.baselines import Oracle
from elicit_gym.errors import PolicyFailure, SettingError, UnknownNameError
from elicit_gym.types import Message


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare([load_policy(name) for name in ("naive", "ask-many", "ask-one", "adaptive", "oracle")])


def test_the_order_holds_with_intervals_of_the_differences_apart_from_0(comparison: Comparison) -> None:
    names = [policy.policy for policy in comparison.policies]
    gaps = {(pair.first, pair.second): pair for pair in comparison.pairs}
    for worse, better in pairwise(names):
        pair = gaps[worse, better]
        assert pair.difference.high is not None
        assert pair.difference.high < 0
        assert pair.test.significant


def test_naive_stays_low(comparison: Comparison) -> None:
    value = comparison.policies[0].metrics["return"].value
    assert value is not None
    assert value < 0.5


def test_oracle_uncovers_everything_in_five_to_seven_turns(comparison: Comparison) -> None:
    episodes = [record.episode for record in comparison.records if record.policy == "oracle"]
    assert len(episodes) == 80
    assert all(episode.terminated and len(episode.turns) <= 7 for episode in episodes)
    assert sum(len(episode.turns) == 5 for episode in episodes) > 40


def test_oracle_needs_its_scenario() -> None:
    with pytest.raises(PolicyFailure, match="expected its scenario"):
        Oracle().reset(0)


def test_random_orders_differ_by_seed() -> None:
    policy = load_policy("random")
    history = (Message(role="user", content="Help me."),)
    first = []
    for seed in range(8):
        policy.reset(seed)
        first.append(policy.act(history))
    assert len(set(first)) > 2


def test_unknown_policies() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'ask-one'"):
        load_policy("ask-on")


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ("no_such_module:Policy", "ModuleNotFoundError"),
        ("elicit_gym.agents.baselines:Nobody", "AttributeError"),
        ("elicit_gym.types:Message", "TypeError"),
        ("elicit_gym.spaces:Utterance", "expected an object with name, reset"),
    ],
)
def test_policies_that_cannot_be_loaded(spec: str, problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        load_policy(spec)


def test_a_policy_of_ones_own() -> None:
    assert load_policy("elicit_gym.agents.baselines:AskOne").name == "ask-one"
