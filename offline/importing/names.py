"""Speakers' names: which strings can be one, and which of them are one and the same."""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from enum import Enum
from functools import lru_cache

from elicit_gym.offline.importing.role_words import is_role_word
from elicit_gym.text import FUNCTION_WORDS

__all__ = ["NameKind", "classify", "merge_names", "name_key", "split_remark"]

MAX_LENGTH = 60
MAX_WORDS = 6


class NameKind(Enum):
    """How much a string looks like a speaker's name."""

    role = "a role such as Interviewer or Q, or a number such as Speaker 1"
    name = "a name"
    weak = "a name if it recurs"
    prose = "no name"


# What opens a line with a colon and is nobody: headings' fields, and how people begin a sentence.
_NOBODY = frozenset(
    """note notes nb ps remember example first second third fourth finally firstly secondly lastly next also warning
    important summary abstract conclusion result results reason question answer date place location time duration length
    title subject topic project theme file filename recording recorded recording's tape cassette side track session part
    transcript transcription transcriber transcribed language languages participants participant's attendees present
    source version copyright id url http https email phone interview interviews introduction background chapter section
    page figure table step tip hint update edit correction fact problem solution caution legend key keywords tags
    re fwd cc subject: status type format encoding kind style audio video media url link links date: exhibit appendix
    datum ort thema plats tid ämne fecha lugar tema lieu sujet""".split()
)
_NOBODY_EVER = _NOBODY - {"question", "answer"}
_SAYING = frozenset(
    """said says say saying asked asks asking told tells tell thought thinks think replied replies answered answers went
    goes was were is are am be been has have had like followed following reads read goes added shouted cried wrote
    means mean meant""".split()
)
_OPENS_A_CLAUSE = frozenset(
    """i he she they we you it my his her their our your this that these those what who whose when where why how if but
    so because then there and or not in on at for with as to""".split()
)
_ALSO_NAMES = frozenset("will may said long little best still more see few young art".split())
_OF_NAMES = frozenset(
    "the and of de da di do dos das del della la le van von der den af av bin al el ibn y e & /".split()
)
_TITLES = frozenset(
    "mr mrs ms miss dr prof st sr jr rev hon sgt lt col gen capt det sen rep gov pres m mme mlle herr frau".split()
)
_NUMBERED = re.compile(
    r"(?:speaker|spk|spkr|sprecher|sprecherin|talare|locuteur|locutor|hablante|orador|voice|person|participant|subject|"
    r"channel|ch|说话人|發言人|发言人|讲话人|話者|화자|דובר|спикер|говорящий|unknown speaker)"
    r"(?:[ _#-]*\d{1,3}|[ _#-][a-z])"
    r"|(?:unknown )?speaker|participant|unknown|unidentified|male|female|man|woman"
)
_DIGITS = re.compile(r"[A-Za-z]{0,3}[ _#-]?\d{1,3}")
_REMARK = re.compile(r"^(.+?)\s*[(（\[]([^()（）\[\]]{1,60})[)）\]]$")
_REMARK_FIRST = re.compile(r"^[(（\[]([^()（）\[\]]{1,60})[)）\]]\s*(\w.*)$")


def name_key(name: str) -> str:
    """Return what names share that differ in case, in direction marks, in spacing or in Unicode form only."""
    return _cached_key(name) if len(name) <= 2 * MAX_LENGTH else _key(name)


def _key(name: str) -> str:
    folded = unicodedata.normalize("NFKC", name)
    folded = "".join(c for c in folded if unicodedata.category(c) != "Cf").casefold()
    return " ".join(unicodedata.normalize("NFKC", folded).split())


_cached_key = lru_cache(maxsize=4096)(_key)


def split_remark(name: str) -> tuple[str, str]:
    """Split ``BO (laughing)`` and ``BO?`` into the name and the remark; the remark is "" where there is none."""
    found = _REMARK.match(name) if len(name) <= 2 * MAX_LENGTH else None
    if found:
        return found[1], found[2]
    if first := _REMARK_FIRST.match(name[: 2 * MAX_LENGTH]):
        return first[2], first[1]
    return (name.rstrip(" ?"), "?") if name.endswith("?") else (name, "")


def classify(name: str) -> NameKind:
    """Say how much a label looks like a name. The label is a label's text: no colon, no time."""
    return _classify(name) if 0 < len(name) <= MAX_LENGTH else NameKind.prose


@lru_cache(maxsize=4096)
def _classify(name: str) -> NameKind:
    words = [word for word in re.split(r"[\s_]+", name) if word]
    if is_role_word(name) or _NUMBERED.fullmatch(name.casefold()):
        return NameKind.role
    if len(words) > MAX_WORDS or not any(c.isalnum() for c in name):
        return NameKind.prose
    if re.fullmatch(r"[^\W\d_]\d{0,2}", name) and name.upper() == name:
        return NameKind.name  # initials: I and B, P1
    if re.fullmatch(r"[^\W\d_]{2,4}", name) and name.isupper() and name.casefold() not in _NOBODY_EVER:
        return NameKind.name  # initials of two names and more, though they may spell a word: AL, BE
    if _DIGITS.fullmatch(name) or name.casefold() == "subject":
        return NameKind.weak
    bare = [word.strip(".,'’\"-()&/") for word in words]
    lower = [word.casefold() for word in bare]
    if lower[0] in _NOBODY_EVER or (len(words) > 1 and lower[0] in _NOBODY):
        return NameKind.prose
    if not _punctuation_of_a_name(name, words):
        return NameKind.prose
    return _by_words(name, bare, lower)


def _punctuation_of_a_name(name: str, words: list[str]) -> bool:
    if re.search(r"[!?;:=<>{}|\\\"“”„…。！？；，、*]", name) or name[0] in ".,-'/)":
        return False
    if any(c.isdigit() for word in words[:-1] for c in word) or any(len(re.findall(r"\d", word)) > 3 for word in words):
        return False
    for i, word in enumerate(words):
        # A full stop ends a title or an initial only; a comma stands once, after a family name or before a degree.
        if "." in word[:-1] and not re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]?\.?", word):
            return False
        is_short = len(word) <= 3 or word[:-1].casefold() in _TITLES
        if word.endswith(".") and not is_short:
            return False
        if "," in word and (not word.endswith(",") or i == len(words) - 1 or name.count(",") > 1):
            return False
    return True


def _by_words(name: str, bare: list[str], lower: list[str]) -> NameKind:
    cased = [word for word in bare if word and word[0].lower() != word[0].upper()]
    if not cased:  # a script without capitals: length alone tells prose from names
        return NameKind.name if len(name) <= 24 and len(bare) <= 4 else NameKind.prose
    # Initials and the particles of names tell nothing.
    inner = [word for word in lower if word not in _OF_NAMES and len(word) > 1]
    if not inner:
        return NameKind.prose
    clause = sum(word in FUNCTION_WORDS or word in _SAYING for word in inner)
    if name.upper() == name:  # capitals are how transcripts write speakers; a whole shouted clause is still none
        is_clause = lower[0] in _OPENS_A_CLAUSE or 2 * clause > len(inner)
        return NameKind.prose if len(lower) > 1 and is_clause else NameKind.name
    if all(word[0].isupper() for word in cased if word.casefold() not in _OF_NAMES) and cased[0][0].isupper():
        if len(lower) > 1:  # prose does not write its words so: Will Smith is no clause
            return NameKind.prose if lower[0] in _OPENS_A_CLAUSE else NameKind.name
        return NameKind.name if not clause else NameKind.weak if lower[0] in _ALSO_NAMES else NameKind.prose
    if clause or (len(lower) > 1 and cased[0][0].islower()):
        return NameKind.prose
    return NameKind.weak


def merge_names(names: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Find names that are one and the same.

    Args:
        names: of every segment that has one, in order.

    Returns:
        The name to use by key (the form that stands most often, the first of them), and a sentence for each merge.
    """
    forms: dict[str, Counter[str]] = {}
    for name in names:
        forms.setdefault(name_key(name), Counter())[name.strip()] += 1
    chosen = {key: max(counter, key=counter.__getitem__) for key, counter in forms.items()}
    return chosen, [_merge_sentence(chosen[key], counter) for key, counter in forms.items() if len(counter) > 1]


def _merge_sentence(name: str, counter: Mapping[str, int]) -> str:
    others = ", ".join(f"{_shown(other)} ({count})" for other, count in counter.items() if other != name)
    clean = {
        "".join(c for c in unicodedata.normalize("NFKC", form) if unicodedata.category(c) != "Cf") for form in counter
    }
    way = "case or spacing" if len(clean) > 1 else "direction marks or Unicode form"
    return f"one speaker: {_shown(name)} ({counter[name]}) and {others}, which differ in {way}"


def _shown(name: str) -> str:
    return "'" + "".join(f"\\u{ord(c):04x}" if unicodedata.category(c) == "Cf" else c for c in name) + "'"
