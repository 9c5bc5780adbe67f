"""What a suggestion says to do and what it says not to do: "don't drill, put it on wheels" is one of each.

By the form of English sentences alone; nothing here knows a scenario. Judge and user read advice through it, with
static vectors and with a sentence encoder alike.
"""

import re
from dataclasses import replace

from elicit_gym.understanding.clauses import Clause, split_clauses
from elicit_gym.understanding.patterns import NEGATION, either
from elicit_gym.understanding.plain_text import words_of

__all__ = ["MAX_PARTS", "advises_against", "only_forbids", "parts_of"]

MAX_PARTS = 6
MIN_WORDS = 3
"""A part of fewer words suggests nothing by itself."""

_FILLERS = "(?:whatever you do,? |please |just |but |and |so |or |honestly,? |no,? |well,? |really |then )*"
_SPEAKER = "(?:i|we)(?:'d| would| do|'m| am|'re| are)?(?: (?:really|strongly|certainly|definitely|personally|rather))*"
_AWAY = "(?:stay|keep|steer)(?: well)? (?:away|clear)|keep (?:my|your|our) hands off|refrain"
_FROM_THE_START = re.compile(
    "^"
    + _FILLERS
    + either(
        rf"(?:never|don't|do not|avoid|{_AWAY})",
        rf"{_SPEAKER} (?:advise|warn|recommend|argue|decide|caution)(?: you)? (?:against|not to)",
        rf"{_SPEAKER} (?:wouldn't|would not|won't|shan't|never|not)(?! (?:mind|hesitate|object)\b)",
        "(?:i|we) (?:don't|do not|can't|cannot|couldn't|would not|wouldn't|won't) (?:recommend|advise|suggest|see)",
        rf"{_SPEAKER} (?:be )?(?:against|no fan of|not in favour of|opposed to)",
        rf"{_SPEAKER} (?:avoid|{_AWAY}|skip|drop|discourage)",
        "you (?:shouldn't|mustn't|oughtn't|had better not)",
        "you(?:'d better| had better| should| must| ought)(?: really)? (?:not|never)",
        "(?:there's|there is|i see|it's|it is) (?:no|little) (?:point|sense|use|need|reason|good)",
        "it(?:'s| is|'d be| would be) (?:a |an )?"
        "(?:mistake|waste|shame|bad idea|wrong|foolish|unwise|pointless|useless)",
        "leave .{1,60} alone$",
    )
    + r"\b"
)  # fmt: skip
_IN_THE_PREDICATE = re.compile(
    r"\b"
    + either(
        rf"(?:is|are|was|were|'s)(?: something| exactly| precisely| just)?(?: what| a thing)?(?: that)? "
        rf"(?:i|we)(?:'d| would) (?:avoid|{_AWAY}|skip|drop|never|not)",
        r"(?:isn't|is not|aren't|are not|wouldn't be|would not be)"
        r"(?: something| anything| what| the thing| a good idea| an option)\b(?! for)",
        "(?:is|would be|are) the last thing (?:i|we|you)(?:'d| would| should)",
        "(?:is|are|would be|'d be) (?:a |an |quite |simply )?(?:mistake|waste of|bad idea|wrong|pointless|useless|"
        "out of the question|no good|off the table)",
    )
    + r"\b"
)
_WHATEVER = re.compile("(?:whatever|no matter what) (?:you|it) (?:do|takes)")
_NEXT = re.compile(r",\s*(?:so|but|and|then|instead|rather|just|better)?\s+|;\s*|\s+(?:but|instead)\s+")


def advises_against(text: str) -> bool:
    """Say whether a suggestion, in lower case, says what not to do."""
    return _FROM_THE_START.match(text) is not None or _IN_THE_PREDICATE.search(text) is not None


def parts_of(clause: Clause, most: int = MAX_PARTS) -> tuple[tuple[Clause, bool], ...]:
    """Return the parts of a suggestion, and of each whether it advises against what it names.

    A suggestion is one part, unless it begins with what not to do, or with what is not so, and goes on with another
    matter: then each of the two is read by itself.

    Args:
        clause: of a message.
        most: no more parts than this.
    """
    text = clause.text
    if clause.form != "statement":
        return ((clause, False),)
    for found in _NEXT.finditer(text) if most > 1 else ():
        first, rest = text[: found.start()], text[found.end() :]
        if len(words_of(first)) < 2 or len(words_of(rest)) < MIN_WORDS or _WHATEVER.fullmatch(first):
            continue
        against = advises_against(first)
        if against or NEGATION.search(first):
            head = _part(clause, first)
            return ((head, against), *parts_of(_part(clause, rest), most - 1))
        break
    return ((clause, advises_against(text)),)


def only_forbids(sentence: str) -> bool:
    """Say whether a suggestion says what not to do and nothing else."""
    parts = [part for clause in split_clauses(sentence) for part in parts_of(clause)]
    return bool(parts) and all(against for _, against in parts)


def _part(clause: Clause, text: str) -> Clause:
    return replace(clause, text=text, words=words_of(text), negated=bool(NEGATION.search(text)))
