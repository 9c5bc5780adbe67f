"""Turn a plain sentence into the persona's way of writing, by simple rules on the traits.

Rules keep the content words, so that what a sentence gives away does not depend on who says it.
"""

import re
from functools import lru_cache

from elicit_gym.understanding.heaps import is_function_word

__all__ = ["Voice", "behind", "voice_of"]

_CONTRACTIONS = {
    "can't": "cannot", "won't": "will not", "n't": " not", "i'm": "I am", "i've": "I have", "i'd": "I would",
    "i'll": "I will", "it's": "it is", "that's": "that is", "there's": "there is", "'re": " are", "you've": "you have",
}  # fmt: skip
_CONTRACTION = re.compile(
    r"\b(?:can't|won't|i'm|i've|i'd|i'll|it's|that's|there's|you've)\b|n't\b|'re\b", re.IGNORECASE
)
_TYPOS = {"the": "teh", "and": "adn", "really": "realy", "because": "becuase", "that": "taht", "about": "abuot"}
_TYPO = re.compile(r"\b(?:the|and|really|because|that|about)\b")
_ARTICLE = re.compile(r"\b(?:the|a|an) (?=\w)", re.IGNORECASE)
_QUOTED = re.compile(r"\"([^\"]+)\"")
_EMOJI = ("🙂", "😅", "🙏", "😬", "✨", "🤔")
_CHATTY = ("Well, let me see, ", "Oh, you know, ", "Right, so, ", "Ah, ", "Thing is, ", "Honestly, ", "So, ")


class Voice:
    """The writing style of one persona.

    Args:
        traits: the traits in the scenario's words. The known ones are: all lower case, exclamation marks, trails
            off, emoji, typos, drops articles, dashes, formal or full forms, chatty, and starts/ends with "…". Others
            have no effect.
    """

    def __init__(self, traits: tuple[str, ...]) -> None:
        text = "; ".join(traits).lower()
        self._lower = "lower case" in text or "lowercase" in text
        self._exclaim = "exclamation" in text
        self._trail = "trails off" in text or "ellips" in text
        self._emoji = "emoji" in text
        self._typos = "typo" in text
        self._no_articles = "drops articles" in text
        self._dashes = "dashes" in text
        self._formal = "formal" in text and "informal" not in text
        self._chatty = "chatty" in text and not self._formal
        self._opener = self._closer = ""
        for trait in traits:
            quoted = _QUOTED.search(trait)
            if quoted and "start" in trait.lower():
                self._opener = quoted[1]
            elif quoted and "end" in trait.lower():
                self._closer = quoted[1]

    def say(self, sentence: str, pick: int) -> str:
        """Say a sentence.

        Args:
            sentence: plain English that ends with a full stop, or another mark.
            pick: a number that chooses among openers and emoji; successive numbers give different ones.
        """
        body = sentence.rstrip()
        mark = body[-1] if body.endswith((".", "!", "?")) else "."
        body = body.rstrip(".!?")
        if self._formal:
            body = _CONTRACTION.sub(_expand, body)
        if self._no_articles:
            body = _ARTICLE.sub("", body)
            body = body[0].upper() + body[1:]
        if self._typos and pick % 2 == 0:
            body = _TYPO.sub(lambda found: _TYPOS[found[0]], body, count=1)
        if self._opener and pick % 2 == 0:
            body = behind(f"{self._opener} ", body)
        elif self._chatty and pick % 3 != 2:
            body = behind(_CHATTY[pick % len(_CHATTY)], body)
        if self._dashes:
            body = body.replace(", ", " - ", 1)
        if self._closer and pick % 2 == 1:
            body = f"{body}, {self._closer}"
        if mark == ".":
            mark = "!" if self._exclaim else "..." if self._trail and pick % 2 else "."
        text = body + mark
        if self._lower:
            text = text.lower()
        return f"{text} {_EMOJI[pick % len(_EMOJI)]}" if self._emoji else text


def _expand(found: re.Match[str]) -> str:
    full = _CONTRACTIONS[found[0].lower()]
    return full[0].upper() + full[1:] if found[0][0].isupper() else full


def behind(opener: str, sentence: str) -> str:
    """Put an opener in front of a sentence.

    A first word that may be a name, or is a noun anyway, keeps its capital and gets a colon in front, or a full stop
    in place of "but": nobody stumbles over "As I said: Japan is far" or "Well: Soups are my thing".

    Args:
        opener: with the space that ends it, and mostly a comma.
        sentence: begins with a capital.
    """
    first = sentence.split(" ", 1)[0]
    plain = first.rstrip(".,;:").lower().replace("’", "'")
    if plain.split("'")[0] == "i":
        return opener + sentence
    if plain in _SMALL or is_function_word(plain) or is_function_word(plain.partition("'")[0]):
        return opener + sentence[0].lower() + sentence[1:]
    if opener.endswith(", but "):
        return opener.removesuffix(", but ") + ". " + sentence
    return opener.rstrip(" ,") + ": " + sentence


_SMALL = frozenset(
    """two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty sixty seventy eighty ninety
    half mostly usually twice everybody everyone everywhere somewhere people folks neither whoever whenever late old new
    big tiny fresh past outside upstairs behind used put went come looking haven't don't nothing such maybe
    """.split()
)
"""First words that are not names, beside the function words."""


@lru_cache(maxsize=4_096)
def voice_of(traits: tuple[str, ...]) -> Voice:
    """Return the voice for these traits; a few thousand are cached."""
    return Voice(traits)
