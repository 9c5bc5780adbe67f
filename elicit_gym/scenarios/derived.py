"""What can be said of facts and items of a scenario that brings none: the published set, and generated ones.

The five constraints, goal and obstacle are the facts; a checklist question hangs on the fact whose words it shares. No
example questions exist, so a message is compared with the scenario's own texts alone. How far that carries is measured
by `benchmarks/judge_agreement.py`, and the scripted judge refuses it unless told otherwise.
"""

import re
from collections import Counter
from collections.abc import Sequence
from math import log

from elicit_gym.scenarios.schema import CORE_FACTS, Row, plain_fields
from elicit_gym.text import FUNCTION_WORDS, content_stems, stem, words
from elicit_gym.types import ChecklistItem, Fact, ItemKind, Scenario

__all__ = ["Rarity", "derived_scenario", "guess_kind", "plain_question", "rarity_of"]

_GENRE = content_stems(
    """assistant agent ask asked inquire inquired inquiry question identify consider considered provide provided suggest
    suggestion suggested recommend recommendation offer offered address addressed explore discuss mention clarify
    determine gather inform user persona character specific specifically potential particular relevant any solution
    advice help helpful strategy strategies way ways option options information detail details concern concerns
    constraint constraints limit limits limited limitation limitations restrict restricts restriction affect affects
    impact complicate complicates require requires"""
)
"""Words of the genre: every checklist has them, so they point to nothing."""

_ASK_VERB = re.compile(
    r"\b(?:ask|inquire|enquire|clarif|find out|determine|explore|question|probe|elicit|learn|identify whether|check)"
)
_CONSIDER_VERB = re.compile(r"\b(?:consider|address|acknowledge|take into account|take .{1,40} into account)\b")
_ADVICE_NOUN = re.compile(
    r"\b(?:suggest\w*|recommend\w*|advi[cs]e\w*|solution\w*|propos\w*|offer\w*|strateg\w*|plan\w*)\b"
)
_HEAD = re.compile(
    r"^(?:did|does|has|is) (?:the|your) (?:assistant|agent|user|ai|model)\b[^a-z]*"
    r"(?:(?:correctly|explicitly|specifically|also) )?"
    r"(?:asks?|asked|inquires?|inquired|suggests?|suggested|recommends?|recommended|offers?|offered|propose[ds]?|"
    r"advise[ds]?|find out|consider(?:ed)?|address(?:ed)?|provide[ds]?|explore[ds]?|discuss(?:ed)?|mention(?:ed)?|"
    r"clarif\w+|determine[ds]?|identif\w+|gather\w*)\s+(?:about |for |into )?",
    re.IGNORECASE,
)


class Rarity:
    """How rare a stem is over a pool of texts: log of the inverse document frequency."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count: Counter[str] = Counter()
        for text in texts:
            self._count.update(content_stems(text))
        self._total = max(1, len(texts))

    def __call__(self, stem_: str) -> float:
        """Return the rarity of a stem, higher for rarer; 0 for a word of the genre."""
        return 0.0 if stem_ in _GENRE else log((1 + self._total) / (1 + self._count[stem_]))


def rarity_of(rows: Sequence[Row]) -> Rarity:
    """Measure how rare stems are over the constraints and checklist questions of a pool of rows."""
    return Rarity([text for row in rows for text in (*row["constraints"], *row["checklist"])])


def plain_question(question: str) -> str:
    """Return the matter that a checklist question names: "Did the assistant ask whether ..." without its head."""
    return _HEAD.sub("", question).rstrip("? ")


def guess_kind(question: str) -> ItemKind:
    """Guess from its verb whether a published checklist question wants an *ask* or an *advice*.

    To "consider" or "address" a matter is to ask about it, unless the question speaks of suggestions or solutions.
    """
    text = question.lower()
    considers = _CONSIDER_VERB.search(text) and not _ADVICE_NOUN.search(text)
    return "ask" if _ASK_VERB.search(text) or considers else "advice"


def derived_scenario(row: Row, rarity: Rarity) -> Scenario:
    """Build a scenario from a checked row without facts and items.

    An *ask* item hangs on the fact whose words its question shares; where an earlier item has it already, on a fact of
    its own that is told in the same words.
    """
    statements = dict(zip(CORE_FACTS, [row["goal"], row["obstacle"], *row["constraints"]], strict=True))
    facts = [
        Fact(id=fact_id, statement=statement, disclosures=_disclosures(fact_id, statement))
        for fact_id, statement in statements.items()
    ]
    taken: set[str] = set()
    checklist = []
    for number, question in enumerate(row["checklist"], 1):
        kind, fact = guess_kind(question), _nearest_fact(question, statements, rarity)
        if kind == "ask" and fact in taken:
            told = _disclosures(fact, statements[fact])
            fact = f"item_{number}"
            facts.append(Fact(id=fact, statement=plain_question(question), disclosures=told))
        if kind == "ask":
            taken.add(fact)
        topic = _topic(question, rarity, row["persona"])
        hints = (f"I keep thinking about {topic}.", f"Nobody ever talks to me about {topic}.")
        checklist.append(ChecklistItem(question=question, kind=kind, facts=(fact,), topic=topic, hints=hints))
    return Scenario(**plain_fields(row), checklist=tuple(checklist), facts=tuple(facts), derived=True)


def _disclosures(fact_id: str, statement: str) -> tuple[str, ...]:
    text = (statement[0].lower() + statement[1:]).rstrip(".")
    if fact_id == "goal":
        return (f"What I am after is to {text}.", f"In the end I would like to {text}, nothing else.")
    if fact_id == "obstacle":
        return (f"What stands in my way is this: {text}.", f"The trouble is that it comes to this: {text}.")
    return (f"The thing is that {text}.", f"You have to reckon with this: {text}.")


def _nearest_fact(question: str, statements: dict[str, str], rarity: Rarity) -> str:
    asked = content_stems(question)
    best, found = 0.0, "goal"
    for fact_id, statement in statements.items():
        overlap = sum(rarity(s) for s in asked & content_stems(statement))
        if overlap > best:
            best, found = overlap, fact_id
    return found


def _topic(question: str, rarity: Rarity, persona: str) -> str:
    known = content_stems(persona)
    candidates = [w for w in words(plain_question(question)) if w not in FUNCTION_WORDS and stem(w) not in known]
    return f"the {max(candidates, key=lambda w: rarity(stem(w)))} side of it" if candidates else "another side of it"
