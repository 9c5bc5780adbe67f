"""Mend what people mistype, word by word, before a message is read."""

from functools import cache, lru_cache

from elicit_gym.understanding.vectors import word_vectors

__all__ = ["is_known", "mended"]

_NUM_COMMON = 12_000
_NUM_SHORT = 2_500
_SHORT = 4
_ENDINGS = ("s", "es", "ed", "ing", "ly", "er", "est", "ness", "able", "less")
_CHAT = {
    "u": "you", "ur": "your", "r": "are", "ya": "you", "yer": "your", "wat": "what", "wut": "what", "wht": "what",
    "hav": "have", "hv": "have", "pls": "please", "plz": "please", "teh": "the", "hwo": "how", "woh": "who",
    "yuo": "you", "oyu": "you", "youre": "you are", "yuor": "your", "wehn": "when", "waht": "what", "cuz": "because",
    "bc": "because", "thx": "thanks", "dont": "do not", "cant": "can not", "wont": "will not", "isnt": "is not",
    "arent": "are not", "didnt": "did not", "doesnt": "does not", "havent": "have not", "hasnt": "has not",
    "im": "i am", "ive": "i have", "whats": "what is", "wheres": "where is", "hows": "how is", "whos": "who is",
    "thats": "that is",
    "theres": "there is", "tihs": "this", "taht": "that", "adn": "and", "fro": "for", "ot": "to", "si": "is",
    "gto": "got", "nto": "not", "alot": "a lot", "btw": "by the way", "smth": "something", "sth": "something",
    "abt": "about", "gonna": "going to", "wanna": "want to", "gotta": "got to", "dunno": "do not know",
}  # fmt: skip
"""What people type on purpose or by habit; as whole words these are hardly ever meant otherwise."""


@lru_cache(maxsize=65_536)
def mended(word: str) -> str:
    """Return a lower-case word as it was meant, perhaps as two; a known word, a number or a name stays."""
    chat = _CHAT.get(word)
    if chat is not None:
        return chat
    if len(word) < _SHORT - 1 or not word.isalpha() or is_known(word):
        return word
    return _nearest(word)


def is_known(word: str) -> bool:
    """Say whether a word, or what it is inflected from, is in the vocabulary."""
    vectors = word_vectors()
    if word in vectors:
        return True
    stems = [word.removesuffix(ending) for ending in _ENDINGS if word.endswith(ending)]
    return any(len(stem) > 2 and (stem in vectors or stem + "e" in vectors) for stem in stems)


def _nearest(word: str) -> str:
    """Return the most frequent word within one edit (a swap counts as one); the word itself where there is none."""
    from rapidfuzz import process
    from rapidfuzz.distance import OSA

    known = _common()[: _NUM_SHORT if len(word) <= _SHORT else _NUM_COMMON]
    found = process.extract(word, known, scorer=OSA.distance, score_cutoff=1, limit=8)
    found = [hit for hit in found if _is_slip(word, str(hit[0]))]
    # `extract` sorts by distance and then by place, which is by frequency; a changed first letter is rarer.
    return next((str(other) for other, _, _ in found if other[0] == word[0]), str(found[0][0]) if found else word)


def _is_slip(typed: str, meant: str) -> bool:
    """Say whether one is a slip of the other: not with a wrong letter from the other end of the keyboard.

    "Avian" is a rare word, and no way to mistype "asian".
    """
    wrong = [pair for pair in zip(typed, meant, strict=False) if pair[0] != pair[1]]
    if len(typed) != len(meant) or len(wrong) != 1:
        return True
    first, second = wrong[0]
    return second in _NEIGHBOURS.get(first, "") or (first in _VOWELS and second in _VOWELS)


_VOWELS = frozenset("aeiouy")
_KEYS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_NEIGHBOURS = {
    key: "".join(
        _KEYS[r][c]
        for r in range(max(0, row - 1), min(3, row + 2))
        for c in range(max(0, at - 1), min(len(_KEYS[r]), at + 2))
    )
    for row, keys in enumerate(_KEYS)
    for at, key in enumerate(keys)
}


@cache
def _common() -> tuple[str, ...]:
    return word_vectors().frequent_words(_NUM_COMMON)
