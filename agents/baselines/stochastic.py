"""Baselines that draw their questions with known probabilities, for off-policy evaluation."""

import math
from collections.abc import Sequence
from random import Random

from elicit_gym.agents.baselines.simple import QUESTION_BANK
from elicit_gym.errors import SettingError
from elicit_gym.types import ChatHistory

__all__ = ["SoftmaxQuestions"]


class SoftmaxQuestions:
    """Draws a question of a bank; those further down and those that were asked already are less probable.

    Its probability is proportional to ``exp(-slope * place - repeat_penalty * times asked)``. With both at 0 every
    question is equally probable; the larger they are, the nearer the policy is to `AskOne`. What was asked is read from
    the history alone.

    Args:
        slope: how much less probable each question is than the one before it, in log probability.
        repeat_penalty: how much less probable a question is for each time it was asked before, in log probability.
        questions: the bank.
        name: the policy's name in reports.

    Raises:
        SettingError: the bank is empty, or a question is in it twice.
    """

    def __init__(
        self,
        slope: float = 0.2,
        repeat_penalty: float = 2.0,
        questions: Sequence[str] = QUESTION_BANK,
        name: str = "softmax",
    ) -> None:
        if not questions or len(set(questions)) < len(questions):
            raise SettingError(
                f"Making {name!r}: expected a bank of different questions, got {len(questions)} of which "
                f"{len(set(questions))} differ. Correct the bank."
            )
        self.name = name
        self.questions = tuple(questions)
        self._slope, self._repeat_penalty = slope, repeat_penalty
        self._random = Random(0)

    def reset(self, seed: int) -> None:
        """Start a new episode."""
        self._random = Random(seed)

    def act(self, history: ChatHistory) -> str:
        """Return one question."""
        weights = [math.exp(log_prob) for log_prob in self._log_probs(history)]
        return self._random.choices(self.questions, weights)[0]

    def action_log_probs(self, histories: Sequence[ChatHistory], actions: Sequence[str]) -> list[float]:
        """Return the log probability of each action after its history; ``-inf`` for what is not in the bank."""
        places = {question: place for place, question in enumerate(self.questions)}
        return [
            self._log_probs(history)[places[action]] if action in places else -math.inf
            for history, action in zip(histories, actions, strict=True)
        ]

    def _log_probs(self, history: ChatHistory) -> list[float]:
        said = [message.content for message in history if message.role == "assistant"]
        scores = [
            -self._slope * place - self._repeat_penalty * said.count(question)
            for place, question in enumerate(self.questions)
        ]
        top = max(scores)
        total = top + math.log(sum(math.exp(score - top) for score in scores))
        return [score - total for score in scores]
