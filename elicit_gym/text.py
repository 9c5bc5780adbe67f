"""How the scripted parts read a message: its words, its stems, and the one question it asks first.

One `analyse` serves the user simulator and the judge, so that they cannot disagree on what was asked. It is linear in
the first `READ_LIMIT` characters and never reads beyond them, whatever an agent sends.
"""

import re
from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from threading import Lock
from typing import Any

__all__ = [
    "FUNCTION_WORDS",
    "Analysis",
    "analyse",
    "content_stems",
    "is_echo",
    "questions_in",
    "sentence_stems",
    "stem",
    "words",
]

READ_LIMIT = 6_000
MAX_WORDS_TO_LISTEN = 200
MAX_QUESTIONS = 5
MAX_CONTENT_WORDS = 14
MAX_SEPARATORS = 2

FUNCTION_WORDS = frozenset(
    """a about above across after again against all almost along already also although always am among an and
    another any anybody anyone anything are around as at away be because been before being below between both
    but by can cannot can't could did didn't do does doesn't doing don't done down during each either else
    enough even ever every everything exactly far few first for from further get getting give given go going got
    had has have haven't having he her here hers him his how however i i'd i'll i'm i've if in into is isn't it
    it's its itself just keep kind know last least let like likely little long look lot made make many may maybe
    me mean might mine more most much must my myself near need never next no nobody none nor not nothing now of
    off often ok okay on once one only onto or other others our ours out over own part perhaps please point
    possible quite rather really right s same say see seem several shall she should since so some somebody
    someone something sometimes soon still such sure t take tell than that that's the their them themselves then
    there there's these they thing things think this those though through to today together too toward towards
    truly try under until up upon us use very want was wasn't way we well were what what's whatever when where
    whether which while who whole whom whose why will with within without won't would wouldn't yes yet you you'd
    you'll you're you've your yours yourself share describe explain understand sort type""".split()
)
"""Words that carry no topic. Cues may still use them: `how much spend` is a cue."""

_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
_SENTENCE = re.compile(r"[^.!?\n]+[.!?]*")
_BULLETS = " \t>*•#-"
_OPENER = (
    r"^(?:(?:please|so|and|but|ok|okay|well|then|first|now|also|great|thanks|thank you|alright|hi|hello|hey)\b[, ]*)*"
)
_REQUEST = re.compile(
    _OPENER + r"(?:(?:can|could|would|will) you (?:please |also )?)?"
    r"(?:tell me|describe|explain|share\b|let me know (?!if)|walk me through|talk me through|help me understand|"
    r"say more|"
    r"i(?:'d| would)(?: really| also)? (?:like|love|need) to (?:know|hear|understand|learn)|i need to know|"
    r"i(?:'m| am) (?:curious|wondering)|i wonder)"
)
_INTERROGATIVE = (
    r"(?:what|when|where|who|whom|whose|why|how|which|do|does|did|is|are|was|were|can|could|will|would|should|have|"
    r"has|any)"
)
_SECOND_CLAUSE = re.compile(rf",?\s+(?:and|or|also|plus|but)\s+(?=(?:also\s+|if so,?\s+)?{_INTERROGATIVE}\b)")
_LEAD_IN = re.compile(r"^(?:given|since|because|considering|knowing|now that|seeing|as you|with that)\b[^,]*,\s*(?=\S)")
_META = re.compile(
    r"\b(?:did|does|do|has|is|was|should|can|will) (?:the|your|an|this) (?:assistant|agent|chatbot|model|ai)\b"
)
_META_NOUNS = frozenset(("assistant", "agent", "chatbot", "model", "ai"))
_SEPARATOR = re.compile(r"[,;/|]|\b(?:and|or)\b")

_stem_lock = Lock()
_stemmer: Any = None


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return the stem of one lower-case English word (Snowball)."""
    global _stemmer
    if word.isdigit():
        return word
    with _stem_lock:  # a Snowball stemmer keeps its word in itself
        if _stemmer is None:
            import snowballstemmer

            _stemmer = snowballstemmer.stemmer("english")
        return str(_stemmer.stemWord(word))


def _normalise(text: str) -> str:
    return text[:READ_LIMIT].lower().replace("’", "'").replace("‘", "'")


def words(text: str) -> list[str]:
    """Return the lower-case words of the first `READ_LIMIT` characters, in order."""
    return _WORD.findall(_normalise(text))


def content_stems(text: str) -> frozenset[str]:
    """Return the stems of the words that carry a topic."""
    # A user's replies are short and recur from episode to episode; long texts would only fill the cache.
    return _cached_content_stems(text) if len(text) <= 400 else _content_stems(text)


def _content_stems(text: str) -> frozenset[str]:
    return frozenset([stem(word) for word in words(text) if word not in FUNCTION_WORDS])


_cached_content_stems = lru_cache(maxsize=16_384)(_content_stems)


@lru_cache(maxsize=2_048)
def _word_set(text: str) -> frozenset[str]:
    return frozenset(words(text))


def sentence_stems(text: str) -> list[frozenset[str]]:
    """Return the stems of each sentence, function words included."""
    return [
        frozenset(stem(word) for word in _WORD.findall(sentence)) for sentence in _SENTENCE.findall(_normalise(text))
    ]


@dataclass(frozen=True, slots=True)
class Analysis:
    """What the scripted parts see in one message.

    Attributes:
        num_words: in the message, up to the reading limit.
        words: the distinct ones.
        too_long: more than 200 words, or more than the reading limit.
        num_questions: questions and requests in it.
        question: the first of them, cut to its first clause; "" where there is none.
        stems: stems of the question, function words included, each with its position.
        specific: whether the question is one question, addressed to the user: no list of keywords, no enumeration, no
            interrogation by more than five questions, no talk about "the assistant".
    """

    num_words: int
    words: frozenset[str]
    too_long: bool
    num_questions: int
    question: str
    stems: frozenset[str]
    specific: bool


_CACHE_SIZE = 4_096
_cache: OrderedDict[str, Analysis] = OrderedDict()


def analyse(message: str) -> Analysis:
    """Read a message; the latest few thousand short ones are remembered, since user and judge read the same one."""
    found = _cache.get(message)
    if found is None:
        found = _analyse(message)
        if len(message) <= READ_LIMIT:
            _cache[message] = found
            if len(_cache) > _CACHE_SIZE:
                with suppress(KeyError):  # another thread may have emptied it
                    _cache.popitem(last=False)
    return found


def _analyse(message: str) -> Analysis:
    text = _normalise(message)
    all_words = _WORD.findall(text)
    too_long = len(message) > READ_LIMIT or len(all_words) > MAX_WORDS_TO_LISTEN
    asked = _questions(text)
    num_questions = len(asked)
    question = _first_clause(asked[0]) if asked else ""
    question_words = all_words if len(question) == len(text) else _WORD.findall(question)
    return Analysis(
        num_words=len(all_words),
        words=frozenset(all_words),
        too_long=too_long,
        num_questions=num_questions,
        question=question,
        stems=frozenset([stem(word) for word in question_words]),
        specific=bool(question_words)
        and not too_long
        and num_questions <= MAX_QUESTIONS
        and _is_one_question(question, question_words),
    )


def _questions(text: str) -> list[str]:
    # A number that opens a list item ("2. What ...") ends in a full stop and so is a sentence of its own.
    bodies = [sentence.strip(_BULLETS) for sentence in _SENTENCE.findall(text)]
    return [body for body in bodies if body.endswith("?") or _REQUEST.match(body)]


def questions_in(message: str) -> list[str]:
    """Return the questions and requests of a message, in lower case, each whole."""
    return _questions(_normalise(message))


def _first_clause(question: str) -> str:
    question = question.replace(" so far", "")  # not a distance
    second = _SECOND_CLAUSE.search(question)
    if second and len(_WORD.findall(question, 0, second.start())) >= 3:
        question = question[: second.start()]
    lead_in = _LEAD_IN.match(question)
    if lead_in and len(_WORD.findall(question, lead_in.end())) >= 3:
        question = question[lead_in.end() :]
    return question


def _is_one_question(question: str, question_words: list[str]) -> bool:
    num_function = len([word for word in question_words if word in FUNCTION_WORDS])
    num_content = len(question_words) - num_function
    if len(question_words) > 4 and num_function < 0.25 * len(question_words):
        return False
    if num_content > MAX_CONTENT_WORDS or len(_SEPARATOR.findall(question)) > MAX_SEPARATORS:
        return False
    return _META_NOUNS.isdisjoint(question_words) or not _META.search(question)


def is_echo(said: frozenset[str], heard: str) -> bool:
    """Say whether the words `said` are for the most part those just `heard`."""
    return len(said) >= 4 and len(said & _word_set(heard[:READ_LIMIT])) >= 0.8 * len(said)
