"""Which facts of a scenario a sentence of the user's gives away, in whatever words.

`ScenarioReader.disclosed_in` knows the scripted user's own sentences; this reads what a model makes of the facts.
"""

import re
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from elicit_gym.text import stem
from elicit_gym.types import FactId, Scenario
from elicit_gym.understanding.clauses import words_of
from elicit_gym.understanding.vectors import word_vectors
from elicit_gym.understanding.word_table import content_words

__all__ = ["Telling", "telling_of"]

TOLD = 0.5
"""Share of what a fact says, by weight of its words, that a clause has to say."""
OWN = 0.45
"""Share of what a clause says that has to be of the fact."""
PART, ALMOST_ALL = 0.3, 0.75
"""The same for a clause that names a part of a fact and hardly anything else."""
_PARTS = re.compile(
    r"[.!?;:…]+(?:\s|$)|\s[-–—]+\s|—|,|\b(?:and|but|because|since|so|while|as|plus|also|by the way|which|who|that|if)\b",
    re.IGNORECASE,
)
_SMALL = frozenset(
    """a an the i i'm i've i'd i'll me my mine we our us you your he him his she her it its they them their is am are was
    were be been to of in on at for with it's that this there there's well oh and or so""".split()
)
_NEAR = 0.55
"""Cosine from which on two words say the same."""


_DENIES = re.compile(r"\b(?:can't|cannot|can not|mustn't|must not|not allowed|may not|won't let|never allowed)\b", re.IGNORECASE)
_DENYING = frozenset("can't cannot can not mustn't must allowed may won't let anything never drop".split())
DENIED = 0.5


class Telling:
    """The facts of one scenario, ready to be found in what the user says.

    Args:
        scenario: of any kind. Facts that are told in the same words count as one.
    """

    def __init__(self, scenario: Scenario) -> None:
        self._texts: list[tuple[FactId, list[str], NDArray[np.float32], NDArray[np.float32]]] = []
        seen: set[str] = set()
        for fact in scenario.facts:
            if fact.id == "request" or fact.disclosures[0] in seen:
                continue
            seen.add(fact.disclosures[0])
            for text in (fact.statement, *(() if scenario.derived else fact.disclosures)):
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
            denied = {stem(word) for word in clause if word not in _DENYING}
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
        return best


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


@lru_cache(maxsize=512)
def telling_of(scenario: Scenario) -> Telling:
    """Return the reader of what this scenario's user tells; a few hundred are cached."""
    return Telling(scenario)
