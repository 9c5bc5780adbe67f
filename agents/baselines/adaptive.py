"""A scripted interviewer who listens."""

import re
from collections.abc import Collection, Iterator, Sequence
from functools import lru_cache
from itertools import islice

from elicit_gym.agents.baselines.bank import bank
from elicit_gym.agents.baselines.rules import FOLLOW_UPS, PROBLEM, REQUEST, TOLD
from elicit_gym.types import ChatHistory

__all__ = ["Adaptive"]

LAST_QUESTION = "Is there anything else that I should know?"
ADVICE_AT_A_TIME = 1
CALLED_FOR = 0.92
"""How well its cues must be met for a piece of advice: two of them have been said, nearly word for word."""
MESSAGES_REMEMBERED = 40
QUESTIONS_AT_A_TIME = 2
"""The user answers the first and a judge hears both; who asks for more is asked back."""

_NOTHING_TO_SAY = re.compile(
    r"\b(?:(?:nothing|not much) (?:special|worth|comes|that matters|to (?:say|tell))|no (?:special|particular)|"
    r"not that i know|that's what i said|i've just told|i couldn't|how do you mean|i don't (?:follow|understand)|"
    r"lost me)"
)
_SENTENCE_END = re.compile(r"(?<=[.?!])\s+")
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
        sentences = (_sentences(message.content) for message in history if message.role == "assistant")
        said = frozenset[str]().union(*sentences)
        opener = next(iter(_sentences(history[-2].content)), "") if len(history) > 1 else ""
        told = frozenset[str]().union(*map(_told, heard))
        heard = [*heard[:1], *heard[1:][-MESSAGES_REMEMBERED:]]
        known = said | told
        fresh = (question for question in _questions(heard, opener, said) if question not in known)
        questions = list(islice(dict.fromkeys(fresh), QUESTIONS_AT_A_TIME))
        advice = _advice(heard[1:], said) if PROBLEM.question in said else []
        return " ".join([*advice, *(questions or [LAST_QUESTION])])


def _questions(heard: Sequence[str], asked: str, said: Collection[str]) -> Iterator[str]:
    """Yield what there is to ask, the most urgent first.

    Args:
        heard: the user's messages.
        asked: the sentence that the user has answered.
        said: every sentence of the agent's.
    """
    yield REQUEST.question
    if said and _NOTHING_TO_SAY.search(heard[-1]):
        yield from (topic.again for topic in (REQUEST, PROBLEM) if asked == topic.question)
    if said:
        yield PROBLEM.question
    if not _REPEATS.search(heard[-1]):
        yield from _follow_ups(heard[-1])
    yield from bank("questions").ranked(heard)


def _advice(told: Sequence[str], said: Collection[str]) -> list[str]:
    """Return what has not been said of the advice that the user's answers call for."""
    fitting = bank("advice").ranked(told, least=CALLED_FOR)
    return [text for text in fitting if text not in said][:ADVICE_AT_A_TIME]


# A message is read once and not again in every turn after it, which in a long conversation would be all that is done.
@lru_cache(maxsize=16_384)
def _follow_ups(message: str) -> tuple[str, ...]:
    """Return what the rules have to ask about a message, in their order."""
    found = ((rule, rule.heard.search(message)) for rule in FOLLOW_UPS)
    return tuple(rule.say.format(match[1] if match.re.groups else "") for rule, match in found if match)


@lru_cache(maxsize=16_384)
def _told(message: str) -> frozenset[str]:
    """Return the questions that a message answers unasked."""
    return frozenset(question for question, words in TOLD.items() if words.search(message))


@lru_cache(maxsize=16_384)
def _sentences(message: str) -> tuple[str, ...]:
    return tuple(_SENTENCE_END.split(message))
