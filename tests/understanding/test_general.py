"""General questions reach what every user has, in every scenario and register."""

from collections.abc import Mapping

import pytest

from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import Scenario
from elicit_gym.understanding.acts import understand
from elicit_gym.understanding.clauses import split_clauses
from elicit_gym.understanding.general import GeneralMatter, examples, general_fact
from tests.understanding.general_questions import HELD_OUT

SCENARIOS = load_scenarios()


def reached(question: str, scenario: Scenario) -> str | None:
    """Return what a question goes for that is the first thing an agent says."""
    read = understand(question, scenario, user_message=scenario.opening_message)
    first = next(iter(read.questions), None)
    if first is not None:
        return first.facts[0][0] if first.kind == "ask" and first.facts else None
    more = next((act for act in read.acts if act.kind == "more"), None)
    return more.facts[0][0] if more else None


def share(questions: Mapping[GeneralMatter, tuple[str, ...]], matter: GeneralMatter, split: str) -> float:
    wanted = "request" if matter == "situation" else matter
    scenarios = [s for s in SCENARIOS if s.split == split]
    hits = sum(reached(question, s) == wanted for question in questions[matter] for s in scenarios)
    return hits / (len(scenarios) * len(questions[matter]))


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("matter", ["request", "goal", "obstacle", "tried", "situation"])
def test_general_questions_reach_their_fact(matter: GeneralMatter, split: str) -> None:
    assert len(examples()[matter]) >= 25
    assert share(examples(), matter, split) >= 0.95


@pytest.mark.parametrize("split", ["train", "test"])
@pytest.mark.parametrize("matter", ["request", "goal", "obstacle", "tried", "situation"])
def test_so_do_those_that_nobody_tuned_on(matter: GeneralMatter, split: str) -> None:
    assert share(HELD_OUT, matter, split) >= 0.55  # nobody mends these: 0.57 to 0.94, 0.82 over all five


@pytest.mark.parametrize(
    "question",
    [
        "What is the problem with the roof?", "Who has a problem with it?", "When did the trouble begin?",
        "Any health issues?", "Which fees worry you?", "What could go wrong?", "What size do you have in mind?",
        "Have you ever done anything like it before?", "What happened to the one before you?",
        "What must you do so that it does not stop?", "How do you reach it?", "What goal did they set for the team?",
    ],
)  # fmt: skip
def test_a_question_with_a_topic_of_its_own_is_no_general_one(question: str) -> None:
    assert [general_fact(clause, frozenset()) for clause in split_clauses(question)] == [None]


@pytest.mark.parametrize(
    "message",
    [
        "What is your goal, and why?", "What is your goal? And why?", "What have you tried, and how did it go?",
        "What have you tried? Did it help?", "Is there a deadline, and when?", "What is the problem, and since when?",
    ],
)  # fmt: skip
def test_a_bare_follow_up_is_no_question_of_its_own(message: str) -> None:
    assert len(understand(message, SCENARIOS[0]).questions) == 1
