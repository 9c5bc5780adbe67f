"""A message in plain lower-case letters: no markup, no look-alikes, no typing errors; and the words of it."""

import unicodedata

from elicit_gym.understanding import patterns as p
from elicit_gym.understanding.spelling import is_known, mended

__all__ = ["plain_text", "words_of"]


def plain_text(message: str) -> str | None:
    """Return a message in plain lower-case letters; None for another script."""
    text = message.replace("’", "'").replace("‘", "'").replace("“", '"').replace("”", '"').replace("…", "... ")
    if not text.isascii():
        text = unicodedata.normalize("NFKD", text)
        text = "".join([c for c in text if not unicodedata.combining(c) and unicodedata.category(c) != "Cf"])
        if _foreign_letters(text):
            return None
        text = text.translate(_LOOK_ALIKES)
    text = p.MARKUP.sub(" ", text.lower())
    if "(" in text or "[" in text:
        text = p.BRACKETS.sub(" ", text)
    return _mend(p.GAP.sub(" ", text))


def _mend(text: str) -> str:
    """Mend typing errors, unless so many words would change that this is another language."""
    words = p.LETTERS.findall(text)
    changed = {word: new for word in dict.fromkeys(words) if (new := mended(word)) != word}
    strange = sum(word not in changed and len(word) > 3 and not is_known(word) for word in words)
    if not changed or len(changed) + strange > max(2, 0.6 * len(words)):
        return text
    return p.LETTERS.sub(lambda found: changed.get(found[0], found[0]), text)


_LOOK_ALIKES = str.maketrans(
    "аеорсхуіјѕ" + "АВЕКМНОРСТХ" + "οανρτυκιΑΒΕΗΙΚΜΝΟΡΤΧ", "aeopcxyijs" + "ABEKMHOPCTX" + "oavptukiABEHIKMNOPTX"
)
"""Cyrillic and Greek letters that pass for Latin ones, for the few that a message of English may have."""


def _foreign_letters(text: str) -> bool:
    """Say whether more than a few letters are none of the English alphabet: another script, or look-alikes."""
    letters = sum(c.isalpha() for c in text)
    return sum(c.isalpha() and not c.isascii() for c in text) > max(2, 0.03 * letters)


_CONTRACTED = {"s": "is", "re": "are", "ve": "have", "ll": "will", "d": "would", "m": "am", "t": "not"}
_HOSTS = frozenset("i you he she it we they that this there here what who where when how why which let".split())


def words_of(text: str) -> tuple[str, ...]:
    """Return the words of a text with contractions written out and genitives dropped."""
    found: list[str] = p.WORD.findall(text)
    if "'" not in text:
        return tuple(found)
    words: list[str] = []
    for word in found:
        base, mark, rest = word.partition("'")
        if not mark:
            words.append(word)
        elif rest == "t" and base.endswith("n"):
            words += [_NEGATED.get(base, base[:-1]), "not"]
        elif rest in _CONTRACTED and (rest != "s" or base in _HOSTS):
            words += [base, _CONTRACTED[rest]]
        else:
            words.append(base)
    return tuple(words)


_NEGATED = {"can": "can", "won": "will", "shan": "shall"}
