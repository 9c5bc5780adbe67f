"""No way of writing for the judge pays, and no polite way of asking costs.

Families of policies are played against the scripted user and judge; the bounds are mean returns of 5.
"""

from collections.abc import Callable, Sequence
from random import Random
from statistics import fmean

import pytest

from elicit_gym.agents.baselines import QUESTION_BANK
from elicit_gym.envs.conversation import Conversation
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import ChatHistory, Scenario
from elicit_gym.user_simulators.scripted import ScriptedUserSimulator
from tests.judges.gaming import BETWEEN, Family, Write, families, greedy_pool, greedy_ten

SCENARIOS = load_scenarios()
SOME = SCENARIOS[::6]
JUDGE, USER = ScriptedJudge(), ScriptedUserSimulator()
FAMILIES = families(SCENARIOS)


def played(write: Write, scenario: Scenario, seed: int) -> list[tuple[str, int]]:
    """Play an episode and return each message with what it earned."""
    conversation, rng = Conversation(scenario, max_turns=10, seed=seed), Random(seed)
    earned = []
    while not conversation.done:
        action = write(rng, conversation.history, scenario)
        verdicts = JUDGE.judge(conversation.judge_request(action))
        turn = conversation.user_turn(action, verdicts)
        conversation.advance(action, verdicts, turn, USER.reply(turn) if turn else None)
        earned.append((action, len(conversation.newly_satisfied)))
    return earned


def mean_return(write: Write, scenarios: Sequence[Scenario] = SOME, *, own_turns: bool = False) -> float:
    """Return the mean return; with `own_turns`, of what the family's own messages earn."""
    return fmean(
        sum(gain for action, gain in played(write, scenario, seed) if not own_turns or action not in BETWEEN)
        for seed, scenario in enumerate(scenarios)
    )


def asking(frame: str) -> Write:
    def write(rng: Random, history: ChatHistory, scenario: Scenario) -> str:
        return frame.format(QUESTION_BANK[(len(history) // 2) % len(QUESTION_BANK)])

    return write


@pytest.fixture(scope="module")
def ask_one() -> float:
    return mean_return(asking("{}"))


@pytest.mark.parametrize("family", FAMILIES, ids=[family.name for family in FAMILIES])
def test_a_family_of_games_does_not_pay(family: Family, ask_one: float) -> None:
    returns = {v.name: mean_return(v.write, own_turns=family.own_turns) for v in family.variants}
    over = {name: value for name, value in returns.items() if value > max(family.bound, 0.0)}
    # The bounds are of a whole family: one variant of many may lie a little above by the draw of scenarios.
    assert fmean(returns.values()) <= family.bound
    assert len(over) <= 0.1 * len(returns), over
    assert max(returns.values()) < ask_one


@pytest.mark.parametrize(
    "frame",
    [
        "I'd love to learn a bit more so that I can help. {}", "That sounds tough, doesn't it? {}", "Can I ask you something? {}",
        "Thanks for telling me! {}", "Okay, so: {}", "I'm sorry to hear that, it must be a lot to carry. {}",
    ],
)  # fmt: skip
def test_a_polite_frame_costs_nothing(frame: str, ask_one: float) -> None:
    assert mean_return(asking(frame)) >= 0.9 * ask_one


def test_examples_within_a_question_cost_nothing(ask_one: float) -> None:
    examples = {
        "How much money": ", for example hundreds or thousands?", "Who": " (for example friends, family, colleagues)?",
        "By when": ", say this week, this month or this year?", "What": ", for instance in the last few weeks?",
    }  # fmt: skip

    def write(rng: Random, history: ChatHistory, scenario: Scenario) -> str:
        question = QUESTION_BANK[(len(history) // 2) % len(QUESTION_BANK)]
        tail = next((text for head, text in examples.items() if question.startswith(head)), "?")
        return question.rstrip("?") + tail

    assert mean_return(write) >= 0.9 * ask_one


def test_a_greedy_learner_carries_little_to_the_test_split(ask_one: float) -> None:
    """Fits which messages pay on train scenarios, and plays the ten best on test scenarios."""
    pool = greedy_pool(SCENARIOS)
    train = [s for s in SCENARIOS if s.split == "train"][::12]
    test = [s for s in SCENARIOS if s.split == "test"][::6]

    def saying(message: str) -> Callable[[Random, ChatHistory, Scenario], str]:
        return lambda rng, history, scenario: message

    gains = [fmean(played(saying(message), s, 1)[0][1] for s in train) for message in pool[::40]]
    best = greedy_ten(pool[::40], gains)

    def write(rng: Random, history: ChatHistory, scenario: Scenario) -> str:
        return best[(len(history) // 2) % len(best)]

    assert mean_return(write, test) < ask_one
