"""Check whether a model's reply is one that the user could give, and repair it if it is not."""

import re
from collections.abc import Callable
from typing import Literal, TypeAlias

from elicit_gym.types import FactId, UserTurn
from elicit_gym.understanding.acts import reader_of
from elicit_gym.understanding.telling import chance_asked, telling_of
from elicit_gym.user_simulators import conduct

__all__ = ["BEARABLE", "PROBLEMS", "Problem", "mend_reply", "problem_of_reply", "strip_label"]

MAX_WORDS = 60
MAX_LETTERS = 4_000
"""Nothing longer is read at all."""
MAX_SENTENCES = 2
MAX_PIECES = 4
"""Sentences as somebody may cut them who writes all in lower case."""

Problem: TypeAlias = Literal[
    "empty", "state_leak", "checklist_leak", "rule_leak", "both_sides", "structured", "language", "role_swap", "echo",
    "repeated", "too_long", "several_facts", "unasked_fact",
]  # fmt: skip

SURELY_TOLD = 0.4
MAYBE_ASKED = 0.1
"""A fact may be told if there is this chance that a question goes for it: an answer is held to less than a credit."""

PROBLEMS: dict[Problem, str] = {
    "empty": "it said nothing",
    "state_leak": "you repeated the state of the game, which the user cannot see",
    "checklist_leak": "you told the user what to ask for",
    "rule_leak": "you spoke of the rules by which you play",
    "both_sides": "you wrote the user's lines as well as your own",
    "structured": "it was not plain speech: no lists, headings, labels, tags or JSON",
    "language": "it was not in English",
    "role_swap": "you spoke as the one who helps, but you are the one who needs help",
    "echo": "you handed the user's own words back",
    "repeated": "you had said the same before",
    "too_long": "it was far longer than one short sentence",
    "several_facts": "you gave away more than one piece of information",
    "unasked_fact": "you gave away something that the user did not ask for",
}
"""What can be wrong with a reply, and the words in which the model is told; the first that applies is told."""

BEARABLE: frozenset[Problem] = frozenset({"repeated", "unasked_fact"})
"""What a user may do in the end, flagged, where asking again has not helped: the conversation still makes sense."""

_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=[\"'“‘(]*[^\W\d_a-z])")
_PIECE_END = re.compile(r"[.!?…]+[\"'”’)]*\s+(?=[\"'“‘(]*[^\W\d_])|\n+")
_LABEL = re.compile(
    r"^\s*\**(?:user|me|persona|answer|reply|response|human)\**\s*:\s*\**\s*(?=\S)(?![^\n]*\n)", re.IGNORECASE
)


def sentences_of(text: str) -> list[str]:
    """Split a reply into sentences; emoji and trailing words stay with the last."""
    return [part for line in text.strip().splitlines() for part in _SENTENCE_END.split(line.strip()) if part]


def problem_of_reply(text: str, turn: UserTurn) -> Problem | None:
    """Return what is wrong with a reply, or None if it is sound.

    Args:
        text: without thoughts, see `elicit_gym.llm.content`.
        turn: that it answers.
    """
    if len(text) > MAX_LETTERS:
        return "too_long"
    bare = conduct.without_manner(text, turn.scenario.traits)
    message = turn.history[-1].content
    tests: tuple[tuple[Problem, Callable[[], bool]], ...] = (
        ("empty", lambda: conduct.is_degenerate(text) and len(text.split()) <= MAX_WORDS),
        ("state_leak", lambda: conduct.shows_state(text)),
        ("checklist_leak", lambda: conduct.names_checklist(bare, turn.scenario)),
        ("rule_leak", lambda: conduct.leaks_rules(bare)),
        ("both_sides", lambda: conduct.plays_both_sides(text)),
        ("structured", lambda: conduct.is_structured(text)),
        ("language", lambda: conduct.is_foreign(bare)),
        ("role_swap", lambda: conduct.speaks_as_helper(bare)),
        ("echo", lambda: conduct.echoes(bare, message)),
        ("repeated", lambda: conduct.repeats_itself(bare, _former(turn))),
        ("too_long", lambda: _runs_on(text)),
    )
    found = next((problem for problem, holds in tests if holds()), None)
    return found or _problem_of_facts(bare, message, turn)


def _runs_on(text: str) -> bool:
    pieces = [part for part in _PIECE_END.split(text.strip()) if part.strip()]
    return len(text.split()) > MAX_WORDS or len(sentences_of(text)) > MAX_SENTENCES or len(pieces) > MAX_PIECES


def _problem_of_facts(text: str, message: str, turn: UserTurn) -> Problem | None:
    told = telling_of(turn.scenario).strengths(text)
    # A derived fact's disclosures are made from its statement, which `Telling` reads better.
    known = frozenset() if turn.scenario.derived else reader_of(turn.scenario).disclosed_in(text)
    if len(known) > 1 or len(told) > 1:
        return "several_facts"
    surely = known | {fact for fact, strength in told.items() if strength >= SURELY_TOLD}
    if not surely or "request" in surely or surely <= turn.disclosed:
        return None
    return None if _may_tell(surely, message, turn) else "unasked_fact"


def _may_tell(facts: frozenset[FactId], message: str, turn: UserTurn) -> bool:
    """Say whether the agent has asked for one of these facts, in its latest message or the one before."""
    heard = reader_of(turn.scenario).understand(message, turn.history[-2].content, turn.disclosed)
    if any(act.facts for act in heard.questions):
        return True
    lately = [message, *(m.content for m in turn.history[-3:-2])]
    chances = [chance_asked(turn.scenario, said) for said in lately]
    return any(chance.get(fact, 0.0) >= MAYBE_ASKED for chance in chances for fact in facts)


def _former(turn: UserTurn) -> list[str]:
    """Return what the user has said before, as far as saying it again would be odd: the agent did not ask again."""
    asked_before = [m.content for m in turn.history[:-1] if m.role == "assistant"]
    if turn.history[-1].content in asked_before:
        return []
    said = [m.content for m in turn.history if m.role == "user"]
    return [conduct.without_manner(text, turn.scenario.traits) for text in said]


def mend_reply(text: str, turn: UserTurn) -> str | None:
    """Return the first sentence that is sound by itself, or None if there is none."""
    for sentence in sentences_of(_LABEL.sub("", text)):
        if problem_of_reply(sentence, turn) is None:
            return sentence
    return None


def strip_label(text: str) -> str:
    """Remove a speaker's name that some models put before what they say, and quotation marks around all of it."""
    text = _LABEL.sub("", text).strip()
    if len(text) > 1 and text[0] in '"“' and text[-1] in '"”' and text.count('"') in (0, 2):
        text = text[1:-1].strip()
    return text
