"""The upper bound: a policy that knows the scenario."""

from itertools import zip_longest
from typing import Literal

from elicit_gym.errors import PolicyFailure
from elicit_gym.types import ChatHistory, Scenario
from elicit_gym.understanding.acts import reader_of

__all__ = ["Oracle"]


class Oracle:
    """Knows the scenario and sends one targeted message for each pending item: the upper bound.

    Its messages are the scenario's own examples, the clearest first; if the episode goes on after one for each item,
    the next clearest follow.

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
        """Start a new episode and plan it."""
        if self._scenario is None:
            raise PolicyFailure("Starting an episode of 'oracle': expected its scenario, got none. Use for_scenario().")
        self._plan = _plan_of(self._scenario)

    def act(self, history: ChatHistory) -> str:
        """Return the next message of the plan."""
        return self._plan[(len(history) // 2) % len(self._plan)]


def _plan_of(scenario: Scenario) -> list[str]:
    """Return the messages, best first: what must be known before, then each item's question or advice."""
    facts: list[str] = []
    checklist = scenario.checklist
    asks = [item for item in checklist if item.kind == "ask"]
    for item in sorted(asks, key=lambda item: item.after is not None):
        facts += [fact for fact in (item.after, item.facts[0]) if fact is not None]
    advice = [i for i, item in enumerate(checklist) if item.kind == "advice"]
    facts += [checklist[i].facts[0] for i in advice if not set(checklist[i].facts) & set(facts)]
    ranked = [_questions_for(scenario, fact) for fact in dict.fromkeys(facts)]
    ranked += [_suggestions_for(scenario, i) for i in advice]
    return [message for messages in zip_longest(*ranked) for message in messages if message is not None]


def _questions_for(scenario: Scenario, fact: str) -> list[str]:
    """Return the examples of questions for this fact, those that are surely read as such first."""
    reader = reader_of(scenario)
    questions = scenario.fact(fact).questions or (f"What can you tell me about this: {scenario.fact(fact).statement}?",)

    everything = frozenset(fact.id for fact in scenario.facts)

    def clarity(question: str) -> tuple[float, float]:
        # Clearest is what is no echo even when everything has been said, and no more than one question.
        read = reader.understand(question, scenario.opening_message, everything)
        first = next(iter(read.questions), None)
        if first is None or first.kind != "ask" or not first.facts or first.facts[0][0] != fact:
            return 0.0, 0.0
        return first.facts[0][1], -len(read.questions)

    return sorted(questions, key=clarity, reverse=True)


def _suggestions_for(scenario: Scenario, index: int) -> list[str]:
    """Return the examples of good advice for this item, those that are surely read as such first."""
    reader = reader_of(scenario)
    item = scenario.checklist[index]
    suggestions = item.suggestions or (f"I would suggest {item.topic}.",)

    def clarity(suggestion: str) -> float:
        acts = reader.understand(suggestion, "", frozenset(item.facts)).acts
        return max((sure for act in acts for i, sure in act.advice if i == index), default=0.0)

    return sorted(suggestions, key=clarity, reverse=True)
