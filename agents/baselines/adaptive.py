"""A scripted interviewer who listens."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Literal

from elicit_gym.agents.baselines.rules import ADVICE, FOLLOW_UPS, PROBLEM, REQUEST, SUBJECTS, TOPICS, Rule
from elicit_gym.types import ChatHistory

__all__ = ["Adaptive"]

GENERAL_FIRST = 4
"""So many general questions are asked before those that the subject suggests."""

RuleKind = Literal["advice", "follow-ups", "subjects"]
_RULES: Mapping[RuleKind, Sequence[Rule]] = {"advice": ADVICE, "follow-ups": FOLLOW_UPS, "subjects": SUBJECTS}

LAST_QUESTION = "Is there anything else that I should know?"

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
    what does she say about it?). Where nothing calls for that, a question that fits the subject of the conversation
    and a general one take turns; what the user has said unasked is not asked. When something that it was told calls
    for a piece of advice, that goes in front of the question. It says nothing twice, keeps nothing between calls, and
    knows nothing but the history. Still scripted: it reads words, not meaning.
    """

    name = "adaptive"

    def reset(self, seed: int) -> None:
        """Start a new episode."""

    def act(self, history: ChatHistory) -> str:
        """Return one question, with a piece of advice in front where one fits."""
        heard = [message.content.lower().replace("’", "'") for message in history if message.role == "user"]
        said = [message.content for message in history if message.role == "assistant"]
        question = _question(heard, said)
        knows_enough = _was_said(PROBLEM.question, said)
        advice = next(_matching("advice", heard[1:], said), None) if knows_enough else None
        return f"{advice} {question}" if advice else question


def _question(heard: Sequence[str], said: Sequence[str]) -> str:
    if not said:
        return REQUEST.question
    for asked in (REQUEST, PROBLEM):
        if said[-1].endswith(asked.question) and _NOTHING_TO_SAY.search(heard[-1]):
            return asked.again
    if not _was_said(PROBLEM.question, said):
        return PROBLEM.question
    follow_up = next(_matching("follow-ups", heard[-1:], said), None)
    if follow_up and not _REPEATS.search(heard[-1]):
        return follow_up
    subject = next(_matching("subjects", heard, said), None)
    unasked = next(_open_topics(heard, said), None)
    # The matters that count with most people come before what only the subject suggests.
    first = sum(_was_said(topic.question, said) for topic in TOPICS) < GENERAL_FIRST or len(heard) % 2
    in_turn = (unasked, subject) if first else (subject, unasked)
    return next((question for question in in_turn if question), LAST_QUESTION)


def _open_topics(heard: Sequence[str], said: Sequence[str]) -> Iterator[str]:
    told: set[str] = set().union(*map(_told, dict.fromkeys(heard)))
    for topic in TOPICS:
        if topic.question not in told and not _was_said(topic.question, said):
            yield topic.question


def _matching(kind: RuleKind, heard: Sequence[str], said: Sequence[str]) -> Iterator[str]:
    """Yield what the rules have to say to these messages, the latest first, as far as it has not been said."""
    texts = (text for message in dict.fromkeys(reversed(heard)) for text in _answers(kind, message))
    for text in dict.fromkeys(texts):
        if not _was_said(text, said):
            yield text


# A message is read once and not again in every turn after it, which in a long conversation would be all that is done.
@lru_cache(maxsize=16_384)
def _answers(kind: RuleKind, message: str) -> tuple[str, ...]:
    """Return all that the rules of a kind have to say to a message, in their order."""
    found = ((rule, rule.heard.search(message)) for rule in _RULES[kind])
    return tuple(rule.say.format(match[1] if match.re.groups else "") for rule, match in found if match)


@lru_cache(maxsize=16_384)
def _told(message: str) -> frozenset[str]:
    """Return the questions of the topics that a message tells unasked."""
    return frozenset(topic.question for topic in TOPICS if topic.told and topic.told.search(message))


def _was_said(text: str, said: Sequence[str]) -> bool:
    return any(text in message for message in said)
