"""Whether some words say yes, say no, or neither; and what a verdict is as a found piece of a reply."""

import re
import unicodedata
from dataclasses import dataclass

__all__ = ["Statement", "answer_of", "is_sentence_verdict", "plain", "words_of"]

# Zero-width characters, joiners and direction marks can hide a word from a reader or a pattern.
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\u00ad\ufe0e\ufe0f]")
_FOLDED = {code: unicodedata.normalize("NFKC", chr(code)) for code in range(0xFF00, 0xFFF0)} | {ord("。"): "."}
_MARKDOWN = re.compile(r"[*_`#]+")
_WORD = re.compile(r"[^\W_]+")
_EDGES = " \t\r\n\"'“”‘’„«»`*_[](){}<>|.!,;。·•-–—"
_TICKS = re.compile(r"[✅✔☑✓👍]")
_CROSSES = re.compile(r"[❌✖✗✘👎🚫]")

_YES = frozenset({"yes", "true", "met", "y", "satisfied", "passed"})
_NO = frozenset({"no", "false", "not met", "unmet", "n", "not satisfied", "failed"})
_SUBJECT = r"(?:the |this |that )?(?:assistant(?:'s|’s)? )?(?:answer|message|response|reply|question|assistant|it)"
_CRITERION = r"(?:the |this )?(?:criterion|condition|requirement)"
_MEETS = re.compile(
    rf"(?:(?:therefore|thus|hence|so|overall|in conclusion|in summary|consequently),? )?"
    rf"(?:{_CRITERION} (?P<isnt>is|was|has been|is not|isn't|isn’t|was not|wasn't) "
    r"(?:fully |explicitly )?(?:met|satisfied|fulfilled)"
    rf"|(?:{_SUBJECT} )?(?P<doesnt>meets?|satisf(?:y|ies)|does not meet|doesn't meet|doesn’t meet|does not satisfy|"
    rf"doesn't satisfy|fails to meet) {_CRITERION})(?: in full)?",
    re.IGNORECASE,
)
_FIRST_WORD = re.compile(
    r"(yes|no|true|false|met|not met)\s*(?:[.,;!(\[|]|\s[-–—]|[-–—]\s|\n)\s*(.*)", re.I | re.DOTALL
)
_HEDGED = re.compile(
    r"(?i:\b(?:but|however|although|though|partial\w*|partly|in part|rather|in a way|sort of|kind of|somewhat|almost|"
    r"maybe|perhaps|wait|actually|hmm|instead|probabl[ey]|possibl[ey]|unclear|unsure|not sure|depends|sorry|can't|"
    r"cannot|can’t|could be|might|if)\b)|\bI\b"
)
_YES_WORD = re.compile(r"\b(?:yes|true)\b", re.IGNORECASE)
_NO_WORD = re.compile(r"\b(?:no|false)\b(?! (?:question|doubt|word|matter|other))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """A verdict found in a reply.

    Attributes:
        at: where it ends.
        number: the criterion that it names; None if it names none.
        answer: None if it says neither yes nor no.
        text: its own words.
        marked: whether it bears the mark that only the judge knows.
        adjoins: whether no words stand between it and the next statement.
    """

    at: int
    number: int | None
    answer: bool | None
    text: str
    marked: bool = False
    adjoins: bool = False


def plain(text: str) -> str:
    """Return a text without invisible characters, full-width forms and carriage returns."""
    return _INVISIBLE.sub("", text.translate(_FOLDED)).replace("\r\n", "\n").replace("\r", "\n")


def words_of(text: str) -> list[str]:
    """Return a text's words in lower case, whatever is between them."""
    return _WORD.findall(plain(text).lower())


def answer_of(text: str) -> bool | None:
    """Return what some words say by themselves: yes, no, or (None) neither of the two."""
    ticked, crossed = bool(_TICKS.search(text)), bool(_CROSSES.search(text))
    bare = _MARKDOWN.sub("", "".join(c for c in plain(text) if not _is_picture(c))).strip(_EDGES)
    said = _said(bare) if bare else (True if ticked else False if crossed else None) if ticked != crossed else None
    return None if (said is True and crossed) or (said is False and ticked) else said


def is_sentence_verdict(text: str) -> bool:
    """Say whether a sentence does nothing but state whether the criterion is met."""
    return _MEETS.fullmatch(" ".join(_MARKDOWN.sub("", plain(text)).strip(_EDGES).split())) is not None


def _said(bare: str) -> bool | None:
    low = " ".join(bare.lower().split())
    if low in _YES or low in _NO:
        return low in _YES
    sentence = _MEETS.fullmatch(low)
    if sentence:
        verb = sentence["isnt"] or sentence["doesnt"]
        return re.search(r"not|n't|n’t|fails", verb) is None
    first = _FIRST_WORD.fullmatch(bare)
    if first is None:
        return None
    yes = first[1].lower() in _YES
    rest = first[2]
    if _HEDGED.search(rest) or (_NO_WORD if yes else _YES_WORD).search(rest):
        return None
    said = [found for part in re.split(r"[.;\n]", rest) if (found := _MEETS.fullmatch(part.strip(_EDGES)))]
    return None if any((re.search(r"not|n't|fails", f["isnt"] or f["doesnt"]) is None) != yes for f in said) else yes


def _is_picture(character: str) -> bool:
    """Say whether a character is an emoji, an arrow or one of their modifiers."""
    return unicodedata.category(character) in ("So", "Sk", "Cn", "Cs") and character not in "`^"
