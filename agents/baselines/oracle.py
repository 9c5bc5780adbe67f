"""The upper bound: a policy that knows the scenario."""

from typing import Literal

from elicit_gym.errors import PolicyFailure
from elicit_gym.types import ChatHistory, Scenario
from elicit_gym.understanding.acts import reader_of

__all__ = ["Oracle"]


class Oracle:
    """Knows the scenario and sends one targeted message for each pending item: the upper bound.

    Args:
        scenario: the hidden context. None only for the object that `for_scenario` is called on.
    """

    name = "oracle"
    privileged: Literal[True] = True

    def __init__(self, scenario: Scenario | None = None) -> None:
        self._scenario = scenario
        self._plan: list[str] = []

    def for_scenario(self, scenario: Scenario) -> "Oracle":
        """Return the oracle of this scenario."""
        return Oracle(scenario)

    def reset(self, seed: int) -> None:
        """Start a new episode and plan it: what must be known first, then each item's question or advice."""
        if self._scenario is None:
            raise PolicyFailure("Starting an episode of 'oracle': expected its scenario, got none. Use for_scenario().")
        self._plan = _plan_of(self._scenario)

    def act(self, history: ChatHistory) -> str:
        """Return the next message of the plan."""
        return self._plan[min(len(history) // 2, len(self._plan) - 1)]


def _plan_of(scenario: Scenario) -> list[str]:
    plan: list[str] = []
    known: set[str] = set()

    def find_out(fact: str) -> None:
        if fact not in known:
            known.add(fact)
            plan.append(_question_for(scenario, fact))

    asks = [item for item in scenario.checklist if item.kind == "ask"]
    for item in sorted(asks, key=lambda item: item.after is not None):
        if item.after is not None:
            find_out(item.after)
        find_out(item.facts[0])
    for item in scenario.checklist:
        if item.kind == "advice":
            if known.isdisjoint(item.facts):
                find_out(item.facts[0])
            plan.append(item.suggestions[0] if item.suggestions else f"I would suggest {item.topic}.")
    return plan


def _question_for(scenario: Scenario, fact: str) -> str:
    """Return an example that is read as a question for this fact, alone."""
    reader = reader_of(scenario)
    questions = scenario.fact(fact).questions or (f"What can you tell me about this: {scenario.fact(fact).statement}?",)

    def clarity(question: str) -> float:
        first = next(iter(reader.understand(question, "", frozenset()).questions), None)
        return first.facts[0][1] if first is not None and first.facts and first.facts[0][0] == fact else 0.0

    return max(questions, key=clarity)
