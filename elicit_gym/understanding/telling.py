"""Which facts of a scenario a sentence of the user's gives away, in whatever words.

`ScenarioReader.disclosed_in` knows the scripted user's own sentences; this reads what a model makes of the facts.
"""

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from elicit_gym.scenarios.derived import plain_question
from elicit_gym.text import FUNCTION_WORDS, content_stems, stem
from elicit_gym.types import FactId, Scenario
from elicit_gym.understanding.acts import reader_of
from elicit_gym.understanding.clauses import split_clauses
from elicit_gym.understanding.plain_text import words_of
from elicit_gym.understanding.scorer import scorers
from elicit_gym.understanding.vectors import word_vectors
from elicit_gym.understanding.word_table import content_words

__all__ = ["Telling", "chance_asked", "items_named", "telling_of"]

TOLD = 0.5
"""Share of what a fact says, by weight of its words, that a clause has to say."""
OWN = 0.45
"""Share of what a clause says that has to be of the fact."""
NAMED = 0.6
"""Share of a checklist question's content words that a text has to hold to name the item."""
PART, ALMOST_ALL = 0.3, 0.75
"""The same for a clause that names a part of a fact and hardly anything else."""
MEANT, MARGIN, MIN_WORDS_MEANT = 0.55, 0.15, 3
"""Cosine of a clause with a fact, and its distance to the next fact, from which on the clause means it as a whole."""
_PARTS = re.compile(
    r"[.!?;:…]+(?:\s|$)|\s[-–—]+\s|—|,"
    r"|\b(?:and|but|because|since|so|while|as|plus|also|by the way|which|who|that|if)\b",
    re.IGNORECASE,
)
_SMALL = frozenset(
    """a an the i i'm i've i'd i'll me my mine we our us you your he him his she her it its they them their is am are
    was were be been to of in on at for with it's that this there there's well oh and or so""".split()
)
_NEAR = 0.55
"""Cosine from which on two words say the same."""


_DENIES = re.compile(
    r"\b(?:can't|cannot|can not|mustn't|must not|not allowed|may not|won't let|never allowed)\b", re.IGNORECASE
)
_DENYING = frozenset("mustn't allowed".split())
DENIED = 0.5
"""How surely a fact is given away by "I can't drill", which has one word of it."""


class Telling:
    """The facts of one scenario, ready to be found in what the user says.

    Args:
        scenario: of any kind. Facts that are told in the same words count as one.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._texts: list[tuple[FactId, list[str], NDArray[np.float32], NDArray[np.float32]]] = []
        self._meanings: list[tuple[FactId, NDArray[np.float32]]] = []
        seen: set[str] = set()
        for fact in scenario.facts:
            if fact.disclosures[0] in seen:
                continue
            seen.add(fact.disclosures[0])
            for text in (fact.statement, *(() if scenario.derived else fact.disclosures)):
                self._meanings.append((fact.id, word_vectors().sentence(words_of(text.lower()))))
                kept = _kept(text)
                if len(kept) >= 2:
                    self._texts.append((fact.id, kept, _vectors(kept), _weights(kept)))

    def strengths(self, reply: str) -> dict[FactId, float]:
        """Return how surely each fact is given away by a clause of the reply; only facts beyond the threshold."""
        found: dict[FactId, float] = {}
        for part in _PARTS.split(reply.replace("’", "'")):
            told = self._told_by(part)
            if told is not None:
                found[told[1]] = max(found.get(told[1], 0.0), told[0])
        return found

    def _told_by(self, part: str) -> tuple[float, FactId] | None:
        clause = _kept(part)
        if _DENIES.search(part):
            denied = {stem(word) for word in clause if word not in _DENYING and word not in FUNCTION_WORDS}
            facts = {fact for fact, kept, _, _ in self._texts if denied and denied <= {stem(word) for word in kept}}
            if len(facts) == 1:
                return DENIED, facts.pop()
        if len(clause) < 2:
            return None
        best: tuple[float, FactId] | None = None
        spoken, weights = _vectors(clause), _weights(clause)
        for fact, kept, vectors, mass in self._texts:
            same = _sameness(kept, vectors, clause, spoken)
            told = float(mass @ same.max(axis=1) / mass.sum())
            own = float(weights @ same.max(axis=0) / weights.sum())
            enough = (told >= TOLD and own >= OWN) or (told >= PART and own >= ALMOST_ALL)
            if enough and (best is None or told * own > best[0]):
                best = (told * own, fact)
        return best if best is not None else self._meant_by(part)

    def _meant_by(self, part: str) -> tuple[float, FactId] | None:
        """Return the fact that a clause means as a whole, if it is clearly nearer to it than to any other."""
        cosines: dict[FactId, float] = {}
        vector = word_vectors().sentence(words_of(part.lower()))
        for fact, meaning in self._meanings:
            cosines[fact] = max(cosines.get(fact, 0.0), float(meaning @ vector))
        (first, nearest), *others = sorted(((c, fact) for fact, c in cosines.items()), reverse=True)
        clear = first >= MEANT and first - max((c for c, _ in others), default=0.0) >= MARGIN
        return (first * 0.5, nearest) if clear and len(part.split()) >= MIN_WORDS_MEANT else None


def _kept(text: str) -> list[str]:
    """Return the words that carry what a clause says; of one that hardly has any, all but the smallest."""
    words = words_of(text.lower().replace("’", "'"))
    content = content_words(words)
    return content if len(content) >= 2 else [w for w in dict.fromkeys(words) if w not in _SMALL]


def _vectors(words: list[str]) -> NDArray[np.float32]:
    return np.stack([word_vectors().vector(word) for word in words])


def _weights(words: list[str]) -> NDArray[np.float32]:
    return np.array([max(0.05, word_vectors().weight(word)) for word in words], dtype=np.float32)


def _sameness(
    left: list[str], left_vectors: NDArray[np.float32], right: list[str], right_vectors: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return how far each word of the left says what each of the right says: 1 for one stem, less for near ones."""
    cosines = left_vectors @ right_vectors.T
    near = np.where(cosines >= _NEAR, cosines, 0.0).astype(np.float32)
    stems = [stem(word) for word in right]
    for i, word in enumerate(left):
        mine = stem(word)
        for j, other in enumerate(stems):
            if mine == other:
                near[i, j] = 1.0
    return near


def chance_asked(scenario: Scenario, message: str) -> dict[FactId, float]:
    """Return for each fact the best chance that a question of the message goes for it; empty where there is none."""
    questions = [clause for clause in split_clauses(message) if clause.form == "question"]
    if not questions:
        return {}
    reader = reader_of(scenario)
    scorer = scorers()["derived_fact" if scenario.derived else "fact"]
    scores = np.stack([scorer(reader.fact_features(clause)) for clause in questions]).max(axis=0)
    return {fact.id: float(score) for fact, score in zip(scenario.facts, scores, strict=True)}


def items_named(scenario: Scenario, text: str) -> list[int]:
    """Return the indexes of the checklist items that a text names in the words of their questions."""
    said = content_stems(text)
    wanted = [content_stems(plain_question(item.question)) for item in scenario.checklist]
    return [i for i, stems in enumerate(wanted) if stems and len(stems & said) >= NAMED * len(stems)]


@lru_cache(maxsize=512)
def telling_of(scenario: Scenario) -> Telling:
    """Return the reader of what this scenario's user tells; a few hundred are cached."""
    return Telling(scenario)
