"""Scripted baselines, from the paper's main failure to a privileged upper bound.

The expected order of their returns, naive < ask-many < ask-one < adaptive < oracle, is itself a test of the
environment: it holds only if asking pays, one question at a time pays more, and listening pays most.
"""

import re
from collections.abc import Callable
from random import Random
from typing import Literal

from elicit_gym.errors import PolicyFailure
from elicit_gym.policy import Policy
from elicit_gym.text import content_stems
from elicit_gym.types import ChatHistory, Scenario

__all__ = ["BASELINES", "Adaptive", "AskMany", "AskOne", "Naive", "Oracle", "RandomQuestions"]

QUESTION_BANK = (
    "What exactly would you like to have at the end of this?",
    "What has been getting in your way so far?",
    "How much money can you spend on it?",
    "By when does it need to be finished?",
    "How much time can you give to it each week?",
    "Who else is involved and could help you?",
    "Which place or location is this about?",
    "What equipment or material do you already have?",
    "How much experience do you have with this?",
    "Are there any rules or permissions that you have to respect?",
)
"""Good general questions that fit any user."""

_OPENINGS = (
    "It is completely understandable to feel that way. Here are some ideas that many people find useful:",
    "Great point! There are several strategies to consider:",
    "Thanks for sharing. Here are some further tips that might be of use:",
    "I hear you. Let us look at a few proven approaches:",
)
_TIPS = (
    "**Set clear goals**: Write down what success looks like and break it into small steps.",
    "**Make a plan**: A simple overview of tasks keeps you from feeling overwhelmed.",
    "**Prioritise**: Focus on what has the greatest effect and leave the rest for later.",
    "**Ask around**: Friends, colleagues and online communities often have good ideas.",
    "**Do some research**: Books, articles and videos cover almost every subject.",
    "**Start small**: Try something on a small scale before you commit to it.",
    "**Be patient**: Change takes time, so do not be too hard on yourself.",
    "**Stay flexible**: Be ready to adjust your approach as you learn more.",
    "**Keep a record**: Notes help you to see what works and what does not.",
    "**Reflect regularly**: Look back now and then, and celebrate every success.",
    "**Look after yourself**: Breaks and sleep make everything easier.",
    "**Consider professional advice**: A specialist may see what you overlook.",
)


class Naive:
    """Answers at once with long, general, bulleted advice and never asks, which is the paper's most frequent failure.

    References:
        InfoQuest, Section 4, "Qualitative Analysis", and Appendix C.3.
    """

    name = "naive"

    def reset(self, seed: int) -> None:
        """Start a new episode."""
        self._random = Random(seed)

    def act(self, history: ChatHistory) -> str:
        """Return seven tips."""
        turn = len(history) // 2
        tips = self._random.sample(_TIPS, 7)
        listed = "\n".join(f"{i}. {tip}" for i, tip in enumerate(tips, 1))
        return f"{_OPENINGS[turn % len(_OPENINGS)]}\n\n{listed}\n\nYou have got this, and every small step counts!"


class AskMany:
    """Puts five questions of the bank into each message, starting one question further each time."""

    name = "ask-many"

    def reset(self, seed: int) -> None:
        """Start a new episode."""

    def act(self, history: ChatHistory) -> str:
        """Return five questions."""
        start = 5 * (len(history) // 2)
        bank = QUESTION_BANK
        return " ".join(bank[(start + i) % len(bank)] for i in range(5))


class AskOne:
    """Asks the questions of the bank one at a time, in order."""

    name = "ask-one"

    def reset(self, seed: int) -> None:
        """Start a new episode."""

    def act(self, history: ChatHistory) -> str:
        """Return one question."""
        return QUESTION_BANK[(len(history) // 2) % len(QUESTION_BANK)]


class RandomQuestions:
    """Asks the questions of the bank one at a time, in an order drawn for each episode."""

    name = "random"

    def reset(self, seed: int) -> None:
        """Start a new episode."""
        self._order = Random(seed).sample(range(len(QUESTION_BANK)), len(QUESTION_BANK))

    def act(self, history: ChatHistory) -> str:
        """Return one question."""
        return QUESTION_BANK[self._order[(len(history) // 2) % len(self._order)]]


class Adaptive:
    """Asks about what the user has just brought up, and falls back to the bank when nothing new came up.

    What the user brings up is a noun phrase after a preposition such as "about"; a phrase already followed is not
    followed again. It is still a script that reads words and not meaning.
    """

    name = "adaptive"

    _PHRASE = re.compile(r"\b(?:about|regarding|concerning|abuot)\s+([^.!?…,]+)", re.IGNORECASE)

    def reset(self, seed: int) -> None:
        """Start a new episode."""
        self._followed: set[frozenset[str]] = set()
        self._next = 0

    def act(self, history: ChatHistory) -> str:
        """Return one question."""
        found = self._PHRASE.search(history[-1].content) if len(history) > 1 else None
        if found:
            phrase = found[1].strip()
            stems = content_stems(phrase)
            if stems and stems not in self._followed:
                self._followed.add(stems)
                return f"Could you tell me more about {phrase}?"
        question = QUESTION_BANK[self._next % len(QUESTION_BANK)]
        self._next += 1
        return question


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
        """Start a new episode and plan it: one targeted question per item, and advice as soon as its fact is known."""
        if self._scenario is None:
            raise PolicyFailure("Starting an episode of 'oracle': expected its scenario, got none. Use for_scenario().")
        asks = [item for item in self._scenario.checklist if item.kind == "ask"]
        questions = [f"Could you tell me about {item.topic}?" for item in asks]
        first, last = [], []
        for item in self._scenario.checklist:
            if item.kind == "advice":
                advice = f"From what you have told me, I would suggest {item.topic}."
                if item.fact in {ask.fact for ask in asks}:
                    last.append(advice)
                else:
                    # Its fact needs its own question; the advice then goes along with the next question.
                    first.append(self._question_for(item.fact))
                    questions[0:1] = [f"{advice} {questions[0]}"] if questions else [advice]
        self._plan = first + questions + last

    def act(self, history: ChatHistory) -> str:
        """Return the next message of the plan."""
        turn = len(history) // 2
        return self._plan[min(turn, len(self._plan) - 1)]

    def _question_for(self, fact_id: str) -> str:
        assert self._scenario is not None
        if fact_id == "obstacle":
            return "What has been the main problem so far?"
        if fact_id == "goal":
            return "What do you want to achieve?"
        return f"What can you tell me about this: {self._scenario.fact(fact_id).statement}?"


BASELINES: dict[str, Callable[[], Policy]] = {
    policy.name: policy for policy in (Adaptive, AskMany, AskOne, Naive, Oracle, RandomQuestions)
}
"""Every baseline by name."""
