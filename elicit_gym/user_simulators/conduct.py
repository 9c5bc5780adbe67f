"""What a user never says, by its form and its manner: the party, the rules, the state of the game, another language.

Each check answers for one kind of misconduct and reads the reply, and the conversation where it needs to.
"""

import re
from collections.abc import Sequence

from elicit_gym.types import Scenario
from elicit_gym.understanding.echoes import share_copied
from elicit_gym.understanding.spelling import mended
from elicit_gym.understanding.telling import items_named
from elicit_gym.user_simulators import wordings

__all__ = [
    "echoes", "is_degenerate", "is_foreign", "is_structured", "leaks_rules", "names_checklist",
    "plays_both_sides", "repeats_itself", "shows_state", "speaks_as_helper", "without_manner",
]  # fmt: skip

COPIED = 0.8
"""Share of a reply's words that are somebody's former words in their order, from which on it is a copy."""
MIN_COPIED = 4
REPEATED = 0.9
MAX_FOREIGN_LETTERS = 0.3

_LETTER = re.compile(r"[^\W\d_]")
_SAYS = re.compile(r"[^\W_]")
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)*")
_LONG_WORD = re.compile(r"(?<!['\w])[A-Za-z]{4,}(?!['\w])")
_QUOTED = re.compile(r"\"([^\"]+)\"")
_LOOP = re.compile(r"(?<!\w)((?:[\w'’]+[\s,.!?…-]+){1,4}?)(?:\1){3,}", re.IGNORECASE)

_ANSWERED = re.compile(r"(?:\b(?:yes|no)\b\s*(?:$|[,;]|—|-))", re.IGNORECASE | re.MULTILINE)
_ASK = re.compile(r"\bask(?:ed|ing)?\b", re.IGNORECASE)


def without_manner(text: str, traits: Sequence[str]) -> str:
    """Return a reply without the words with which its persona begins or ends every message."""
    for trait in traits:
        for phrase in _QUOTED.findall(trait):
            text = re.sub(rf"\s*,?\s*{re.escape(phrase)}\s*", " ", text, flags=re.IGNORECASE)
    return text.strip(" ,-–—")


def is_degenerate(text: str) -> bool:
    """Say whether a reply has no word in it, or goes round in circles."""
    return not _SAYS.search(text) or _LOOP.search(text + " ") is not None


def speaks_as_helper(text: str) -> bool:
    """Say whether the one who needs help speaks as the one who helps: as a model, with an offer, with advice."""
    text = _spelt(text)
    if wordings.HELPER.search(text):
        return True
    return any(
        not wordings.ASKS_BACK.search(text[found.start() : found.end() + 20])
        for found in wordings.ADVISES.finditer(text)
    )


def leaks_rules(text: str) -> bool:
    """Say whether a reply speaks of what it may say."""
    return wordings.RULES.search(_spelt(text)) is not None


def _spelt(text: str) -> str:
    """Return a reply without the typos of a persona that makes them."""
    return _LONG_WORD.sub(lambda found: mended(found[0].lower()), text.replace("’", "'"))


def shows_state(text: str) -> bool:
    """Say whether a reply repeats the state of the game, or lists what is answered and what is not."""
    answered = wordings.CHECKLIST.search(text) is not None and _ANSWERED.search(text) is not None
    return answered or wordings.STATE.search(text) is not None


def names_checklist(text: str, scenario: Scenario) -> bool:
    """Say whether a reply tells what to ask for in the checklist's words."""
    if wordings.CHECKLIST.search(text):
        return True
    return _ASK.search(text) is not None and bool(items_named(scenario, text))


def plays_both_sides(text: str) -> bool:
    """Say whether a reply goes on with the other party's words."""
    return wordings.SPEAKERS.search(text) is not None


def is_structured(text: str) -> bool:
    """Say whether a reply is something else than prose: JSON, code, a list, a table, a heading, a tag."""
    return wordings.STRUCTURE.search(text) is not None


def is_foreign(text: str) -> bool:
    """Say whether a reply is in another script or another language."""
    letters = _LETTER.findall(text)
    if letters and sum(letter > "\u024f" for letter in letters) > MAX_FOREIGN_LETTERS * len(letters):
        return True
    said = _WORD.findall(text.lower().replace("’", "'"))
    english = sum(word in wordings.ENGLISH for word in said)
    foreign = max(sum(word in known for word in said) for known in wordings.FOREIGN)
    return foreign >= 2 and foreign > english


def echoes(text: str, message: str) -> bool:
    """Say whether a reply hands the other party's message back."""
    share, length = share_copied(text, message)
    return length >= MIN_COPIED and share >= COPIED


def repeats_itself(text: str, former: Sequence[str]) -> bool:
    """Say whether a reply is one of the user's former messages over again."""
    for other in former:
        there, length = share_copied(text, other)
        if length >= MIN_COPIED - 1 and min(there, share_copied(other, text)[0]) >= REPEATED:
            return True
    return False
