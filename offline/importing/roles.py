"""Who asks and who answers: given, said by the file, said by the name, or guessed from the questions."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from elicit_gym.offline.importing.names import name_key
from elicit_gym.offline.importing.role_words import role_by_name
from elicit_gym.offline.importing.source import UNKNOWN_SPEAKER, Conversation
from elicit_gym.offline.schema import DialogueRole
from elicit_gym.understanding.clauses import questions_in

__all__ = ["SpeakerReview", "choose_roles"]

_READ = 6_000
_QUESTION_MARKS = str.maketrans("؟՞\u037e", "???")
_ENDS = re.compile(r"[.!?。\n]+")


@dataclass(frozen=True, kw_only=True, slots=True)
class SpeakerReview:
    """A speaker and what was guessed, to be looked at.

    Attributes:
        questions: share of the sentences that ask.
        source: where the role comes from.
    """

    dialogue_id: str
    speaker: str
    turns: int
    words: int
    questions: float
    role: DialogueRole
    source: str


def _share_of_questions(texts: Sequence[str]) -> float:
    """Return how many of the sentences ask: long answers hold a question here and there, too."""
    asks = sentences = 0
    for text in texts:
        plain = unicodedata.normalize("NFKC", text[:_READ].translate(_QUESTION_MARKS))[:_READ]
        # Where a language puts its questions in the middle of a sentence, the marks count.
        asks += max(len(questions_in(plain)), plain.count("?"))
        sentences += max(1, sum(bool(sentence.strip()) for sentence in _ENDS.split(plain)))
    return min(1.0, asks / sentences)


def choose_roles(
    conversation: Conversation, names: Mapping[str, str], given: Mapping[str, str], dialogue_id: str
) -> tuple[dict[str, DialogueRole], list[SpeakerReview]]:
    """Choose the role of every speaker.

    Args:
        conversation: its segments have speakers, or None for an unknown one.
        names: the name by key.
        given: role by key, from the user.
        dialogue_id: for the review.

    Returns:
        The role by key of the name, and a row for each speaker.
    """
    said: dict[str, list[str]] = {}
    by_file: dict[str, DialogueRole] = dict(conversation.named_roles)
    for segment in conversation.segments:
        key = name_key(segment.speaker or UNKNOWN_SPEAKER)
        said.setdefault(key, []).append(segment.text)
        if segment.role is not None:
            by_file.setdefault(key, segment.role)
    share = {key: _share_of_questions(texts) for key, texts in said.items()}
    roles: dict[str, DialogueRole] = {}
    source: dict[str, str] = {}
    for key in said:
        named = role_by_name(names[key], [names[other] for other in said])
        if key in given:
            roles[key], source[key] = cast(DialogueRole, given[key]), "given"
        elif key in by_file:
            roles[key], source[key] = by_file[key], "the file says so"
        elif named is not None:
            roles[key], source[key] = named, "guessed by name"
    _guess(said, share, roles, source)
    reviews = [
        SpeakerReview(
            dialogue_id=dialogue_id,
            speaker=names[key],
            turns=len(texts),
            words=sum(len(text.split()) for text in texts),
            questions=share[key],
            role=roles[key],
            source=source[key],
        )
        for key, texts in said.items()
    ]
    return roles, reviews


def _guess(
    said: Mapping[str, list[str]], share: Mapping[str, float], roles: dict[str, DialogueRole], source: dict[str, str]
) -> None:
    rest = [key for key in said if key not in roles]
    if "elicitor" not in roles.values() and rest:
        # An unknown speaker is several people, perhaps: it elicits only if nobody else is there.
        named = [key for key in rest if key != UNKNOWN_SPEAKER] or rest
        asks_most = max(named, key=lambda key: share[key])
        roles[asks_most] = "elicitor"
        source[asks_most] = (
            "guessed: asks the largest share of questions" if share[asks_most] else "guessed: nobody asks, speaks first"
        )
        others = sorted((key for key in named if key != asks_most), key=lambda key: share[key], reverse=True)
        for key in others[:-1]:  # somebody answers
            if share[key] >= 0.3 * share[asks_most] > 0:
                roles[key], source[key] = "elicitor", "guessed: asks many questions, too"
    for key in rest:
        if key not in roles:
            roles[key], source[key] = "respondent", "guessed: asks less"
