"""Baselines that do not listen: advice at once, five questions at a time, one at a time, one at random."""

import math
from collections.abc import Sequence
from random import Random

from elicit_gym.types import ChatHistory

__all__ = ["QUESTION_BANK", "AskMany", "AskOne", "Naive", "RandomQuestions"]

QUESTION_BANK = (
    "What is this about?",
    "What is the main problem at the moment?",
    "What would you like to achieve?",
    "Is there a deadline?",
    "Are there any rules or permissions that you have to respect?",
    "How much money can you spend on it?",
    "Which hours of the day do you have for it?",
    "Who could help you with it?",
    "Who else is involved?",
    "What equipment or material do you already have?",
)
"""Ten good general questions that fit any user, in the order in which one would ask them."""

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
    """Answers at once with long, general, bulleted advice and never asks: the failure that the paper found most often.

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
    """Puts five questions of the bank into every message, each time starting two further on.

    The user answers the first of them, and only that can be credited: half of the bank never comes first.
    """

    name = "ask-many"

    def reset(self, seed: int) -> None:
        """Start a new episode."""

    def act(self, history: ChatHistory) -> str:
        """Return five questions."""
        start = 2 * (len(history) // 2)
        return " ".join(QUESTION_BANK[(start + i) % len(QUESTION_BANK)] for i in range(5))


class AskOne:
    """Asks the questions of the bank one at a time, in order."""

    name = "ask-one"

    def reset(self, seed: int) -> None:
        """Start a new episode."""

    def act(self, history: ChatHistory) -> str:
        """Return one question."""
        return QUESTION_BANK[(len(history) // 2) % len(QUESTION_BANK)]


class RandomQuestions:
    """Asks a question of the bank, drawn anew at every turn, whatever was asked before."""

    name = "random"

    def reset(self, seed: int) -> None:
        """Start a new episode."""
        self._random = Random(seed)

    def act(self, history: ChatHistory) -> str:
        """Return one question."""
        return self._random.choice(QUESTION_BANK)

    def action_log_probs(self, histories: Sequence[ChatHistory], actions: Sequence[str]) -> list[float]:
        """Return the log probability of each action, which is the same for every question of the bank."""
        drawn = -math.log(len(QUESTION_BANK))
        return [drawn if action in QUESTION_BANK else -math.inf for _, action in zip(histories, actions, strict=True)]
