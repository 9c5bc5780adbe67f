"""Check whether a model's reply is one that the user could give, and repair it if it is not."""

import re

from elicit_gym.types import UserTurn
from elicit_gym.understanding.acts import reader_of

__all__ = ["mend_reply", "problem_of_reply"]

MAX_WORDS = 60
MAX_SENTENCES = 2

_ROLE_SWAP = re.compile(
    r"\bas an? (?:ai|assistant|language model)\b|\bhow (?:can|may) i (?:help|assist)\b"
    r"|\bi(?:'m| am) (?:here|happy) to (?:help|assist)\b"
    r"|\blet me know if you (?:need|have)\b|^(?:assistant|user)\s*:",
    re.IGNORECASE,
)
_LEAK = re.compile(
    r"\b(?:guessing game|state of the game|game progress|rules? of the game|checklist|yes/no question|next open point|"
    r"piece of information|my persona|in character|the user (?:is|has|asked|did))\b|\[STATE|\{[a-z_]+\}",
    re.IGNORECASE,
)
_SENTENCE_END = re.compile(r"(?<=[.!?…])[\"'”’)]*\s+(?=[\"'“‘(]*[^\W\d_a-z])")
_LABEL = re.compile(r"^\s*\**(?:user|me|persona|answer|reply|response|human)\**\s*:\s*\**\s*", re.IGNORECASE)

PROBLEMS = {
    "empty": "it was empty",
    "role_swap": "you spoke as the one who helps, but you are the one who needs help",
    "rule_leak": "you spoke of the rules or the state of the game",
    "too_long": "it was far longer than one short sentence",
    "several_facts": "you gave away more than one piece of information",
}
"""What can be wrong with a reply, and the words in which the model is told."""


def sentences_of(text: str) -> list[str]:
    """Split a reply into sentences; emoji and trailing words stay with the last."""
    return [part for part in _SENTENCE_END.split(text.strip()) if part]


def problem_of_reply(text: str, turn: UserTurn) -> str | None:
    """Return what is wrong with a reply (a key of `PROBLEMS`), or None if it is sound."""
    if not text.strip():
        return "empty"
    if _ROLE_SWAP.search(text):
        return "role_swap"
    if _LEAK.search(text):
        return "rule_leak"
    if len(text.split()) > MAX_WORDS or len(sentences_of(text)) > MAX_SENTENCES:
        return "too_long"
    if len(reader_of(turn.scenario).disclosed_in(text)) > 1:
        return "several_facts"
    return None


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
