"""Questions for what every user has: what it is about, what is wanted, what stands in the way, what was tried.

They mean the same in every conversation, and next to no word of theirs is a scenario's. A question is general when all
of its words are: words of grammar, and words that name one of these matters. With a topic of its own it is compared
with the scenario's facts instead ("what is the problem" is general, "what is the problem with the oven" is not).
"""

import json
import re
from collections.abc import Mapping, Set
from functools import cache
from importlib.resources import files
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_gym.text import stem
from elicit_gym.types import FactId
from elicit_gym.understanding.clauses import Clause, split_clauses
from elicit_gym.understanding.heaps import MAX_WORDS_IN_FRAGMENT
from elicit_gym.understanding.vectors import word_vectors
from elicit_gym.understanding.word_table import content_words

__all__ = ["GeneralMatter", "examples", "general_fact"]

MAX_WORDS = 18

Matter = Literal["request", "goal", "obstacle", "tried"]
GeneralMatter = Literal["request", "goal", "obstacle", "tried", "situation"]
"""What general questions are about; who asks how things stand wants to know what it is about."""
BY_EXAMPLE = 0.9
"""Confidence of a question that is general by its likeness to an example only."""
NEAR_EXAMPLE = 0.7
"""Similarity to an example from which on a question without a topic of its own means the same."""

_FRAME = frozenset(
    """a able across actually afraid again all already also am an and another any anything are aren't as ask asked
    asking at basically be been before being best better big bigger biggest bit brief briefly bring bringing
    brings brought but by came can can't cannot cause caused causes causing central clarify clear clearer come
    comes concrete concretely connection consider considered considering cope could course current currently
    days define describe did didn't discuss do does doesn't doing don't done down elaborate else encounter
    encountered encountering end even eventually ever everything exact exactly excuse explain eyes face far feel
    feels finally find finding first for from full general get gets getting give gives giving go goes going gone
    good got great greatest had handle happened happens has hasn't have haven't having hear here how how's i i'd
    idea if in into is isn't it it's its just key kind kindly kinds know knowing largest let like little long
    look looks lot made main mainly major make makes making many may maybe me might moment more most mostly much
    must my next no not now of offer ok okay on one only opinion or other our out overall particular past
    perhaps personally please possible precise precisely present presently provide put quickly quite real really
    regarding relate relates relation right rough roughly run running runs see seem seems shall share short
    should single so some something sorry sort sorts speak speaking specific specifically specify start started
    still such sure take taken taking talk talking tell telling term than that the then there these thing things
    this those till time to today too toward towards truly type u ultimately understand until up us use useful
    very view was way we well went were what what's whats where where's whether which while whole why will with
    without won't wonder wondered wondering words would ya yes yet you your yours yourself""".split()
)
"""Words of grammar, and those that any question may have."""

_IT = "(?:you|it|this|that|things|everything|us)"
_TRIED = (
    "tried|attempt(?:s|ed|ing)?|approach(?:es|ed)|trials?|experiment(?:s|ed)?|efforts?|remed(?:y|ies)|"
    "(?:steps|measures|action)(?= (?:have |did )?(?:you )?(?:have )?(?:already )?tak)|tak(?:en|e) (?:\\w+ )?(?:steps|"
    "measures)"
)
_GOAL = (
    "goals?|aim(?:s|ed|ing)?|objectives?|targets?|purpose|intentions?|intend(?:ing)?|achiev(?:e|ed|ing)|"
    "accomplish(?:ed|ing)?|outcomes?|results?|succe(?:ss|ed)|successful|hop(?:e|es|ed|ing)|"
    "wish(?:es|ing)?|end result|finish line|ambitions?|ideal(?:ly)?|dream(?:s|ing)?|desired?|after(?= ?$| with| here|"
    " ultimately| exactly)"
)
_OBSTACLE = (
    "problems?(?! about)|obstacles?|difficult(?:y|ies)?|hard(?:er|est)?|hurdles?|challeng(?:e|es|ing)|troubl(?:e|es|"
    "ing|ed)|snags?|"
    "bottlenecks?|sticking|crux|issues?(?! about)|struggl(?:e|es|ing)|stuck|catch|barriers?|complicated|"
    f"(?:block|stop|hold|prevent|hinder|hamper|bother|frustrat|slow|trip|thwart)(?:s|es|ed|ped|ing|"
    f"ping)? {_IT}(?: back| up)?|"
    f"(?:keep|keeps|keeping|kept) {_IT} from|stands? between|block(?:ing|ed|er)|hindrance|impediment|pain points?|"
    f"weak points?|"
    "trick(?:y|ier|iest)|tough(?:er|est)?|worst|worr(?:y|ies|ied|ying)|"
    "wrong(?= ?$| here| now| exactly| at| with (?:it|this|that)\\b)|"
    "(?:stand|stands|standing|get|gets|getting|got|come|comes|coming|is|are|been|what's|in) (?:in )?(?:your|the|"
    "its) way"
)
_SUBJECT = (
    "situations?(?! you(?:'ll| will| have| would))|what does it look like|context|background|circumstances|details?|"
    "(?:a|the|bigger|whole) picture|story|state of (?:things|affairs|play)|set ?up|topic|subject|"
    "(?:the|your|this|what|which) matter|(?:a|the|which) thing(?= (?:is|are|do|you|it)(?! (?:want|wish|hope|like)))|"
    "what (?:has )?happened(?= ?$| here| exactly| so far)|happening|going on|in mind|in connection|deal with|"
    "specifics?|dealing|facing|refer(?:s|ring)?|you mean|meant|meaning(?= what)|"
    "concern(?:s|ed|ing)?|(?:need|want|like|have)(?: \\w+)? (?:help|advice|support) (?:with|on|for)|"
    "(?:need|want|like)(?: \\w+)? to (?:sort out|discuss|talk about|speak about)|(?:issue|problem|question) about|"
    "(?:talk|talking|speak|speaking|writing|asking|thinking) (?:of|about)|how (?:do |does )?(?:\\w+ )stand|"
    "how (?:are|is) (?:things|it)(?= (?:at the moment|now|right now|currently))"
)
_EITHER_OF = {
    "tried": _TRIED, "goal": _GOAL, "obstacle": _OBSTACLE, "request": _SUBJECT,
}  # fmt: skip
_STRONG = re.compile(r"\b(?:" + "|".join(f"(?P<{m}>{words})" for m, words in _EITHER_OF.items()) + r")\b")
"""What names a matter; the first one in a question is what it asks for."""

_ALSO = frozenset(
    """want wants wanted need needs needed try trying help helping work worked working works solve solving solution
    solutions talk talking speak speaking think thinking write writing wrote writing about on between part parts
    point points advice support reach happen mean means""".split()
)
_SO_FAR = "(?:already|so far|yet|until now|till now|up to (?:now|this point|here)|about (?:it|this|that)|before you)"
_DONE = re.compile(
    rf"\b{_SO_FAR}\b.*\bdone|"
    rf"\b(?:have|has|you|did)\b.*\b(?:done|did|do|doing|gone about|gone at|try|had a go|"
    rf"worked(?! with))\b.*\b{_SO_FAR}|"
    rf"\b(?:done|did) (?:anything|something).*\b{_SO_FAR}|(?:anything|things) done|already (?:done|had a go)|"
    r"\bdid (?:you|it)(?: already)? try|\bbeen trying(?! to)|\b(?:has|have|had|did) not work(?:ed)?|\b(?:anything|"
    r"something) (?:has )?worked|"
    r"\b(?:results?|outcomes?) of (?:your|the|those|what you(?: have)?) (?:efforts|attempts|trials|tried|did)"
)
_WANTED = re.compile(
    r"^(?:\w+ ){0,2}what\b.*\b(?:want|wanted|would like|you like|need)\b|\bwhat\b.*\b(?:trying|looking|working) (?:to|"
    r"for|towards)\b|"
    r"\bwhat\b.*\b(?:would|should|has to|have to|needs to|must)\b.*\bhappens?\b|"
    r"\bwhere\b.*\b(?:want|like|hope) to (?:end up|get|be|go)\b|^(?:\w+ ){0,2}what\b.*\bwould\b.*\bin the end\b|"
    r"\bhow\b.*\b(?:know|tell|see|notice)\b.*\bwork(?:ed|s)\b|\bhow (?:it )?should (?:it )?(?:be|look|end)\b.*\bend\b|"
    r"\bwhat\b.*\bhave\b.*\bin the end\b|\bwhat would\b.*\b(?:good|best|perfect)\b"
)
_ABOUT = re.compile(
    r"\babout (?:what|which)\b|\bof what\b|\bwhat\b.*\babout(?: exactly| precisely| here| now| really| then| first)*$|"
    r"^what (?:exactly |precisely )?(?:is|are|was) (?:it|this|that|these|those)(?: all| exactly| here| now)*$|"
    r"\b(?:regarding|concerning) what\b|\bwhat\b.*\b(?:regarding|relate to)$|^(?:like|such as|for|as in) what$|"
    r"^(?:what|which|this|it) (?:is|are|would)(?: (?:what|which|it|this|that|about))(?: be)?(?: about)?$|^which (?:is|"
    r"are)$|"
    r"\bwhat (?:kind|sort|type) of (?:a )?(?:thing|things|work|help)\b|"
    r"^(?:you )?(?:talk|speak)(?:ing)? (?:of|about) what\b|\bwhat(?: it is)?(?: that)? you (?:talk|speak)\b"
)
_OTHER = re.compile(
    r"^how (?:do|does|did) \w+(?: \w+)? feel about|^how important|^do you worry|^what role|"
    r"\bhappened to (?!you)|\b(?:could|can|might|may|will) (?:\w+ )?go wrong\b"
)
_TELL_ME = re.compile(
    r"\b(?:more (?:specific|precise|concrete|details?|context|background)|clearer)\b|^(?:(?:can|could|would|will|"
    r"please) )*you (?:can |could )?(?:please )?"
    r"(?:tell|give|describe|share|explain)\b.*\b(?:situation|background|context|circumstances|details?)\b|"
    r"^(?:can|could|may) i (?:have|get|hear)\b.*\b(?:situation|background|context|circumstances|details?)\b"
)
_SAY = re.compile(r"\b(?:(?:would|can|could) you|please) say\b")
_UNANSWERABLE = frozenset(("who", "when", "how much", "how many", "how long"))
_IS_THERE = re.compile(
    r"^(?:(?:is|are|was) there|do you (?:have|see|face)|have you (?:got )?|any|you have|did you|tried|done|has)\b"
)
_WHERE_STUCK = re.compile(r"\b(?:stuck|problem|difficulty|trouble|catch|snag|hurdle|obstacle)\b")
_BEFORE_NOUN = (
    "the|a|an|any|some|no|your|my|his|her|their|this|that|of|with|about|for|in|on|at|from|by|as|and|or|what|which|"
    "anything|something|kind|sort|type|how"
)


def general_fact(clause: Clause, vocabulary: Set[str]) -> tuple[FactId, float] | None:
    """Return the fact that a general question goes for, with a confidence; None for any other question.

    Args:
        clause: the question.
        vocabulary: stems of the scenario's own words: a question with one of them is none that fits any user.
    """
    words = clause.words
    if not words or len(words) > MAX_WORDS or clause.wh in _UNANSWERABLE:
        return None
    by_form = _by_form(clause, vocabulary)
    if by_form is not None:
        return by_form, 1.0
    by_example = _by_example(clause, vocabulary)
    return None if by_example is None else (by_example, BY_EXAMPLE)


def _by_form(clause: Clause, vocabulary: Set[str]) -> Matter | None:
    text = _SAY.sub(" ", " ".join(clause.words)).strip()
    named = _STRONG.search(text)
    rest = _STRONG.sub(" ", text)
    strange = [word for word in rest.split() if word not in _FRAME and word not in _ALSO]
    if strange and (named is None or len(strange) > 1 or not _is_light(strange[0], text, vocabulary)):
        return None
    return _matter(clause, text, named)


def _by_example(clause: Clause, vocabulary: Set[str]) -> Matter | None:
    """Return what the nearest example is about, if it is near and the question has no topic of the scenario's."""
    bank = _bank()
    topic = content_words(clause.words)
    strange = [word for word in topic if stem(word) not in bank.stems]
    if not topic or _OTHER.search(clause.text):
        return None
    if not all(_is_light(word, clause.text, vocabulary) for word in strange):
        return None
    similarities = bank.vectors @ word_vectors().sentence(clause.words)
    nearest = int(similarities.argmax())
    matter = bank.matters[nearest]
    near = similarities[nearest] >= NEAR_EXAMPLE and _can_be_about(matter, clause, clause.text)
    return matter if near else None


class _Bank(NamedTuple):
    vectors: NDArray[np.float32]
    matters: list[Matter]
    stems: frozenset[str]


@cache
def examples() -> Mapping[GeneralMatter, tuple[str, ...]]:
    """Load the examples of general questions that come with the package."""
    text = (files("elicit_gym.understanding") / "general_questions.json").read_text(encoding="utf-8")
    return {matter: tuple(questions) for matter, questions in json.loads(text).items()}


@cache
def _bank() -> _Bank:
    rows = [
        ("request" if matter == "situation" else matter, next(iter(split_clauses(question))))
        for matter, questions in examples().items()
        for question in questions
    ]
    return _Bank(
        np.stack([word_vectors().sentence(clause.words) for _, clause in rows]),
        [matter for matter, _ in rows],
        frozenset([stem(word) for _, clause in rows for word in clause.words]),
    )


def _is_light(word: str, text: str, vocabulary: Set[str]) -> bool:
    """Say whether a word that is no frame's may stand in a general question: no topic of it, and no scenario's."""
    if not word.isalpha() or stem(word) in vocabulary:
        return False
    after = text.partition(word)[2].strip()
    if re.search(rf"\b(?:{_BEFORE_NOUN}) (?:\w+ )?{word}\b", text) or _STRONG.match(after):
        return False
    return after != ""


def _matter(clause: Clause, text: str, named: re.Match[str] | None) -> Matter | None:
    if _OTHER.search(text):
        return None
    if _TELL_ME.search(text):
        return "request"
    if _DONE.search(text):
        return "tried"
    if named is not None:
        matter: Matter = next(m for m in _MATTERS if named[m])
        return matter if _can_be_about(matter, clause, text) else None
    if clause.wh == "why":
        return None
    if _ABOUT.search(text):
        return "request"
    if clause.wh == "whether":
        return None
    return "goal" if _WANTED.search(text) else None


def _can_be_about(matter: Matter, clause: Clause, text: str) -> bool:
    """Say whether a question of this form can be about the matter that it names."""
    if clause.wh == "why":
        return matter == "obstacle"
    if clause.wh == "where":
        return matter in ("request", "goal") or _WHERE_STUCK.search(text) is not None
    if clause.wh != "whether" or len(clause.words) <= MAX_WORDS_IN_FRAGMENT:
        return True
    return matter == "tried" or (_IS_THERE.match(text) is not None and matter != "request")


_MATTERS: tuple[Matter, ...] = ("request", "goal", "obstacle", "tried")
