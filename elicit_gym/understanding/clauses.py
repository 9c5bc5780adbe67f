"""Cut a message into clauses and say what each one is, by its form alone: question, statement, small talk, no grammar.

Nothing here knows a scenario. Linear in the first `READ_LIMIT` characters, whatever an agent sends.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from elicit_gym.text import FUNCTION_WORDS, READ_LIMIT
from elicit_gym.understanding import patterns as p
from elicit_gym.understanding import question_patterns as q
from elicit_gym.understanding.heaps import (
    MAX_WORDS_IN_FRAGMENT,
    MIN_REPEATS,
    is_fragment,
    repeated_frames,
    sounds_english,
)
from elicit_gym.understanding.plain_text import plain_text, words_of
from elicit_gym.understanding.small_talk import CLOSING, EMPATHY, PERMISSION, SENTIMENT, Talk, pleasantry

__all__ = [
    "MAX_WORDS_TO_LISTEN", "WH_WORDS", "Clause", "ClauseForm", "Probe", "WhWord", "questions_in", "split_clauses",
]  # fmt: skip

ClauseForm = Literal["question", "statement", "small_talk", "dismissal", "unclear"]
WhWord = Literal[
    "what", "when", "where", "who", "which", "how much", "how many", "how long", "how", "why", "whether", "request"
]
Probe = Literal["more", "plain"]
WH_WORDS: tuple[WhWord, ...] = (
    "what", "when", "where", "who", "which", "how much", "how many", "how long", "how", "why", "whether", "request",
)  # fmt: skip

MAX_WORDS_TO_LISTEN = 200
MAX_CLAUSES = 24


@dataclass(frozen=True, slots=True)
class Clause:
    """One clause of a message.

    Attributes:
        form: what it is by its form.
        text: in lower case, without lead-ins, examples and tags.
        words: of `text`, in order.
        wh: what kind of answer a question wants; None for what is not a question.
        negated: whether a negation rules the clause ("never", "don't", "rather than").
        probe: ``more`` for a clause that only asks to hear more of something ("tell me more about X", "what about X?",
            "X?"); ``plain`` for one whose frame says nothing by itself ("what is X", "how do you feel about X").
        suggests: whether a question may be a suggestion in disguise ("Why not ...?", "Have you thought of ...?").
        claims: a statement with a question mark behind it that does not point at the user's case ("a plan is half the
            work?").
        talk: what kind of small talk; None for what is none, and for what wants no reply of its own.
    """

    form: ClauseForm
    text: str
    words: tuple[str, ...]
    wh: WhWord | None = None
    negated: bool = False
    probe: Probe | None = None
    suggests: bool = False
    claims: bool = False
    talk: Talk | None = None


_WH_FIRST = frozenset("what when where who whom whose which why how whether if".split())


@lru_cache(maxsize=8_192)
def split_clauses(message: str) -> tuple[Clause, ...]:
    """Return the clauses of a message in order; the latest few thousand messages are remembered.

    A message of more than `MAX_WORDS_TO_LISTEN` words, or beyond the reading limit, is one unclear clause: nobody
    listens to that.
    """
    if len(message) > READ_LIMIT:
        return (Clause("unclear", "", ()),)
    text = plain_text(message)
    if text is None or len(p.WORD.findall(text)) > MAX_WORDS_TO_LISTEN:
        return (Clause("unclear", (text or "")[:200], ()),)
    clauses: list[Clause] = []
    for found in p.SENTENCE.finditer(text):
        sentence = found[0].strip(" \t\n;,\"'")
        if sentence.strip(".!?… ") and not (clauses and clauses[-1].wh and _adds_nothing(sentence)):
            clauses.extend(_clauses_of(sentence))
        if len(clauses) >= MAX_CLAUSES:
            break
    return tuple(_without_lists(clauses[:MAX_CLAUSES]))


def questions_in(message: str) -> list[str]:
    """Return the questions and requests of a message, in lower case, without lead-ins and examples."""
    return [clause.text for clause in split_clauses(message) if clause.form == "question"]


def _without_lists(clauses: Sequence[Clause]) -> list[Clause]:
    """Make the entries of a list unclear: three topics or more that are only named, or put into the same frame."""
    if len(clauses) < MIN_REPEATS:
        return list(clauses)
    named = [c.form in ("question", "statement") and (c.probe == "more" or is_fragment(c.words)) for c in clauses]
    in_list = named if sum(named) >= MIN_REPEATS else [False] * len(clauses)
    asked = [i for i, clause in enumerate(clauses) if clause.form == "question"]
    for i, repeated in zip(asked, repeated_frames([clauses[i].words for i in asked]), strict=True):
        in_list[i] = in_list[i] or repeated
    return [
        replace(clause, form="unclear", wh=None, probe=None) if listed else clause
        for clause, listed in zip(clauses, in_list, strict=True)
    ]


def _clauses_of(sentence: str) -> list[Clause]:
    asked = "?" in sentence[len(sentence.rstrip(".!? \"')")) :]
    body = sentence.rstrip(".!?… \"')").strip()
    if p.META.search(body):
        return [_make("unclear", body)]
    begged = body.endswith(" please")
    asked = asked or _is_announced(body)
    body = _strip_opener(body.removesuffix(" please").rstrip(", ") if begged else body)
    if not body:
        return [Clause("small_talk", sentence, ())]
    polite = _politeness(body, sentence, asked=asked)
    if polite is not None:
        return polite
    request = _request_rest(body)
    if request is None and not asked:
        unknown = q.NOT_KNOWN.search(body)
        request = unknown["rest"] if unknown else None
    if request is not None:
        if q.MORE.match(request):
            return [_make("small_talk", body, talk="more")]
        return _questions(request.strip(" ,:"), "request", body)
    if asked or (q.PLAIN_QUESTION.match(body) and not p.IMPERATIVE.match(body)):
        if talk := pleasantry(body):
            return [_make("small_talk", body, talk=talk)]
        return _questions(body, None, body)
    if p.DISMISSAL.search(body):
        return [_make("dismissal", body)]
    if begged and is_fragment(p.WORD.findall(body)):
        return _questions(body, "request", body)
    if second := q.SECOND_QUESTION.search(body):
        head, tail = body[: second.start()], body[second.end() :]
        if q.PLAIN_QUESTION.match(tail) and len(p.WORD.findall(tail)) >= 4 and q.ADDRESSES.search(tail):
            return [_statement(head), *_questions(tail, None, tail)]
    return [_statement(body)]


def _adds_nothing(sentence: str) -> bool:
    """Say whether a sentence behind a question only goes on with it: "And why?"."""
    return "?" in sentence and q.BARE_FOLLOW_UP.match(_strip_opener(sentence.rstrip(".!?… "))) is not None


def _politeness(body: str, sentence: str, *, asked: bool) -> list[Clause] | None:
    """Read what is no question whatever its mark: a dismissal, an offer, a permission, a tag; None for the rest."""
    if p.WAVED_AWAY.match(body):
        return _waved_away(body)
    if CLOSING.match(body):
        return [Clause("small_talk", sentence, ())]
    if asked and PERMISSION.match(body):
        return [Clause("small_talk", sentence, (), talk="permission")]
    if asked and (tag := p.TAG.match(body)) and len(p.WORD.findall(tag["body"])) >= 3:
        return [_tagged(tag["body"], body)]
    return None


def _waved_away(body: str) -> list[Clause]:
    """Leave a matter aside; what follows behind a "but" may be a question all the same."""
    second = q.SECOND_QUESTION.search(body)
    if second is None or "but" not in second[0]:
        return [_make("dismissal", body)]
    tail = body[second.end() :]
    return [_make("dismissal", body[: second.start()]), *_questions(tail, None, tail)]


def _strip_opener(body: str) -> str:
    found = q.OPENER.match(body)
    return body[found.end() :].strip() if found else body


def _is_announced(body: str) -> bool:
    """Say whether what stands in front announces a question: "let me ask what it is"."""
    found = q.OPENER.match(body)
    return found is not None and q.ANNOUNCES.search(found[0]) is not None


def _request_rest(body: str) -> str | None:
    """Return what a request or an indirect question asks for; None for a sentence that is neither."""
    found = q.REQUEST.match(body) or q.HELPS.match(body)
    if found is None and (comma := q.BEFORE_REQUEST.match(body)):
        found = q.REQUEST.match(_strip_opener(body[comma.end() :]))
    return found["rest"] if found else None


def _statement(body: str) -> Clause:
    if len(body) < 160 and EMPATHY.match(body) and not p.SUGGESTS.search(body):
        return _make("small_talk", body, talk="sympathy")
    return _make("statement", body)


def _tagged(statement: str, whole: str) -> Clause:
    """Read "you rent the place, right?": a question about the user, unless it is about the speaker's own feelings."""
    if p.DISMISSAL.search(statement) or p.OF_THE_SPEAKER.match(statement):
        return _make("dismissal", whole)
    if p.UNSPECIFIC.match(statement) and (SENTIMENT.search(statement) or not _topic_words(statement)):
        return _make("small_talk", whole, talk="sympathy" if SENTIMENT.search(statement) else "check")
    return _make("question", statement, "whether")


def _questions(body: str, wh: WhWord | None, whole: str) -> list[Clause]:
    """Cut a question into the questions that it is made of, each without examples and lead-in."""
    if p.DISMISSED_QUESTION.search(body):
        return [_make("dismissal", whole)]
    parts: list[str] = []
    rest = q.POLITE_TAIL.sub("", body)
    while len(parts) < 8 and (second := q.SECOND_QUESTION.search(rest)):
        head = rest[: second.start()]
        if len(p.WORD.findall(head)) >= 3 and not q.LEAD_IN.match(head + ", x"):
            parts.append(head)
        rest = rest[second.end() :]
    parts.append(rest)
    clauses: list[Clause] = []
    for i, part in enumerate(parts):
        text = part.strip(" ,:-–—\"'")
        if lead_in := q.LEAD_IN.match(text):
            text = text[lead_in.end() :]
        text = _strip_opener(text) or text
        if clauses and q.BARE_FOLLOW_UP.match(text):
            continue
        without = p.EXAMPLES.sub("", text)
        if len(p.WORD.findall(without)) >= 2:
            text = without
        inner = _request_rest(text) if i or wh is None else None
        kind: WhWord | None = wh if i == 0 else None
        if inner is not None and not q.MORE.match(inner):
            text, kind = inner.strip(" ,:"), "request"
        clauses.append(_make("question", text, kind, probe=_probe_of(whole if i == 0 else part.strip(), text)))
    return clauses


def _probe_of(whole: str, text: str) -> Probe | None:
    words = p.WORD.findall(text)
    if p.MORE_ABOUT.match(whole):
        return (
            None
            if any(word.partition("'")[0] in _WH_FIRST for word in words[:3]) and not p.BARE_WH.match(text)
            else "more"
        )
    return "plain" if p.PROBE.match(whole) else None


def _make(
    form: ClauseForm, text: str, wh: WhWord | None = None, *, probe: Probe | None = None, talk: Talk | None = None
) -> Clause:
    text = " ".join(text.split())
    words = words_of(text)
    if form == "question":
        if not words:
            return Clause("small_talk", text, ())
        if wh in (None, "whether") and q.GENERAL_TRUTH.match(text) and not q.ASKS_FIRST.match(text):
            return Clause("small_talk", text, words)
        if not sounds_english(words, asking=wh is None):
            return Clause("unclear", text, words)
        wh = _wh_of(words, wh)
    claims = form == "question" and len(words) > MAX_WORDS_IN_FRAGMENT and _is_general_statement(text, wh)
    suggests = form == "question" and bool(p.SUGGESTING_QUESTION.search(text))
    negated = bool(p.NEGATION.search(text))
    return Clause(form, text, words, wh, negated, probe, suggests=suggests, claims=claims, talk=talk)


def _is_general_statement(text: str, wh: WhWord | None) -> bool:
    return wh == "whether" and not q.ASKS_FIRST.match(text) and not q.POINTS_AT.search(text)


def _wh_of(words: tuple[str, ...], given: WhWord | None) -> WhWord:
    for i, word in enumerate(words[:4]):
        base = word.removesuffix("'s").removesuffix("'re")
        if base == "how" and i + 1 < len(words):
            follow = words[i + 1]
            if follow in ("much", "many", "long"):
                return f"how {follow}"  # type: ignore[return-value]
            return "when" if follow in ("soon", "quickly") else "how"
        if base == "whats":
            return "what"
        if base in ("whose", "whom"):
            return "who"
        if base in ("if", "whether"):
            if base == "if" and (asked := next((w for w in words[i + 1 :] if w in ("what", "how", "where")), None)):
                return asked  # type: ignore[return-value]
            return "whether"
        if base in ("what", "when", "where", "who", "which", "why", "how"):
            if base in ("what", "which") and i + 1 < len(words) and words[i + 1] in ("time", "date", "day"):
                return "when"
            return base  # type: ignore[return-value]
    return given or "whether"


def _topic_words(text: str) -> list[str]:
    return [word for word in p.WORD.findall(text) if word not in FUNCTION_WORDS]
