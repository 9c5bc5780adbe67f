"""A scripted interviewer who listens."""

import re
from collections.abc import Iterator, Sequence

from elicit_gym.agents.baselines.bank import bank
from elicit_gym.agents.baselines.rules import FOLLOW_UPS, PROBLEM, REQUEST, TOLD, Rule
from elicit_gym.types import ChatHistory

__all__ = ["Adaptive"]

LAST_QUESTION = "Is there anything else that I should know?"
ADVICE_AT_A_TIME = 1
CALLED_FOR = 0.6
"""How well its cues must be met for a piece of advice."""
QUESTIONS_AT_A_TIME = 2
"""The user answers the first and a judge hears both; who asks for more is asked back."""

_NOTHING_TO_SAY = re.compile(
    r"\b(?:(?:nothing|not much) (?:special|worth|comes|that matters|to (?:say|tell))|no (?:special|particular)|"
    r"not that i know|that's what i said|i've just told|i couldn't|how do you mean|i don't (?:follow|understand)|"
    r"lost me)"
)
_REPEATS = re.compile(r"\b(?:as i said|like i told you|i mentioned (?:it|that)|again,|already (?:said|told))")


class Adaptive:
    """Asks what it does not know yet, follows up what the user says, and advises once it knows enough.

    It first asks what the request is about and what the problem is, in other words if the user had nothing to say to
    that. From then on it follows up what the user has just mentioned (a certificate: how could you get it? a sister:
    what does she say about it?), and beside that asks the questions of a bank whose cues are nearest to the words that
    it has heard; what the user has said unasked is not asked. When something that it was told calls for a piece of
    advice, that goes in front of the questions. It says nothing twice, keeps nothing between calls, and knows nothing
    but the history.
    """

    name = "adaptive"

    def reset(self, seed: int) -> None:
        """Start a new episode."""

    def act(self, history: ChatHistory) -> str:
        """Return two questions, with a piece of advice in front where one fits."""
        heard = [message.content.lower().replace("’", "'") for message in history if message.role == "user"]
        said = [message.content for message in history if message.role == "assistant"]
        questions: list[str] = []
        for question in _questions(heard, said):
            if question not in questions and not _was_said(question, said):
                questions.append(question)
            if len(questions) == QUESTIONS_AT_A_TIME:
                break
        advice = _advice(heard[1:], said) if _was_said(PROBLEM.question, said) else []
        return " ".join([*advice, *(questions or [LAST_QUESTION])])


def _questions(heard: Sequence[str], said: Sequence[str]) -> Iterator[str]:
    """Yield what there is to ask, the most urgent first."""
    yield REQUEST.question
    if said and _NOTHING_TO_SAY.search(heard[-1]):
        yield from (topic.again for topic in (REQUEST, PROBLEM) if said[-1].startswith(topic.question))
    if said:
        yield PROBLEM.question
    if not _REPEATS.search(heard[-1]):
        yield from _matching(FOLLOW_UPS, heard[-1:], said)
    everything = "\n".join(heard)
    for question in bank("questions").ranked(heard):
        if question not in TOLD or not TOLD[question].search(everything):
            yield question


def _advice(told: Sequence[str], said: Sequence[str]) -> list[str]:
    """Return what has not been said of the advice that the user's answers call for."""
    fitting = bank("advice").ranked(told, least=CALLED_FOR)
    return [text for text in fitting if not _was_said(text, said)][:ADVICE_AT_A_TIME]


def _matching(rules: Sequence[Rule], heard: Sequence[str], said: Sequence[str]) -> Iterator[str]:
    """Yield what the rules have to say to these messages, the latest first, as far as it has not been said."""
    for message in reversed(heard):
        for rule in rules:
            found = rule.heard.search(message)
            if found:
                text = rule.say.format(found[1] if found.re.groups else "")
                if not _was_said(text, said):
                    yield text


def _was_said(text: str, said: Sequence[str]) -> bool:
    return any(text in message for message in said)
