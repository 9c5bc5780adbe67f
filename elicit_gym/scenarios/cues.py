"""Cues: which questions go for which item or fact, compiled to sets of stems once for each scenario.

A cue such as ``how much spend|pay`` is met when a question has a word of the stem of each of its words. Hand-written
cues come with the bundled scenarios; for the published ones `derive_cues` makes them from the wording.
"""

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import product
from math import log
from typing import Literal

from elicit_gym.text import Analysis, content_stems, sentence_stems, stem, words
from elicit_gym.types import FactId, ItemKind, Scenario

__all__ = ["CompiledCues", "Rarity", "compile_scenario", "derive_cues", "guess_kind", "parse_cues"]

_GENRE = content_stems(
    """assistant agent ask asked inquire inquired inquiry question identify consider considered provide provided suggest
    suggestion suggested recommend recommendation offer offered address addressed explore discuss mention clarify
    determine gather inform user persona character specific specifically potential particular relevant any solution
    advice help helpful strategy strategies way ways option options information detail details concern concerns
    constraint constraints limit limits limited limitation limitations restrict restricts restriction affect affects
    impact complicate complicates require requires"""
)
"""Words of the genre: every checklist has them, so they point to nothing."""

_GOAL_CUES = ("goal", "achieve", "aim", "outcome", "result", "success", "purpose", "what want", "like have end", "hope")
_OBSTACLE_CUES = (
    "problem", "obstacle", "stuck", "difficult|difficulty", "challenge", "hard", "in way", "go wrong", "tried so far",
    "prevent", "stop", "worry", "struggle", "hold back", "trouble", "bother",
)  # fmt: skip

_ASK_VERB = re.compile(
    r"\b(?:ask|inquire|enquire|clarif|find out|determine|explore|question|probe|elicit|learn|identify whether|check)"
)


Hits = tuple[float, ...]


@dataclass(frozen=True, slots=True)
class _CueSet:
    singles: frozenset[str]
    combined: tuple[frozenset[str], ...]

    def strength(self, stems: frozenset[str]) -> float:
        """Return 0 for a miss; more words of more cues are stronger."""
        strength = float(len(self.singles & stems))
        for cue in self.combined:  # longest first
            if cue <= stems:
                return strength + 0.75 * len(cue)
        return strength


def parse_cues(cues: Iterable[str]) -> _CueSet:
    """Compile cue strings.

    Args:
        cues: words separated by spaces, all needed; ``a|b`` means either.
    """
    singles: set[str] = set()
    combined: dict[frozenset[str], None] = {}
    for cue in cues:
        alternatives = [[frozenset(stem(w) for w in words(part)) for part in token.split("|")] for token in cue.split()]
        for choice in product(*alternatives):
            stems = frozenset().union(*choice)
            if len(stems) == 1:
                singles |= stems
            elif stems:
                combined[stems] = None
    return _CueSet(frozenset(singles), tuple(sorted(combined, key=len, reverse=True)))


_GOAL = parse_cues(_GOAL_CUES)
_OBSTACLE = parse_cues(_OBSTACLE_CUES)


@dataclass(frozen=True, slots=True)
class CompiledCues:
    """The cues of one scenario, ready to match."""

    kinds: tuple[ItemKind, ...]
    item_facts: tuple[FactId, ...]
    items: tuple[_CueSet, ...]
    facts: tuple[tuple[FactId, _CueSet], ...]
    disclosures: tuple[tuple[FactId, frozenset[str], int], ...]
    # The latest match, since judge and user look at the same message one after the other. One slot, replaced whole, so
    # that threads may share it.
    _latest: list[tuple[Analysis, tuple[int | None, Hits]]] = field(default_factory=list, compare=False, repr=False)

    def asked_items(self, analysis: Analysis) -> tuple[int, ...]:
        """Return the indexes of the *ask* items that the message's first question goes for.

        A question that touches four items or more goes for none. Of those it touches, the strongest match counts,
        together with other *ask* items that hang on the same fact and match as well.
        """
        best, strengths = self._strongest(analysis)
        if best is None:
            return ()
        fact = self.item_facts[best]
        return tuple(
            i
            for i, strength in enumerate(strengths)
            if strength and self.kinds[i] == "ask" and (i == best or self.item_facts[i] == fact)
        )

    def asked_fact(self, analysis: Analysis) -> FactId | None:
        """Return the id of the fact that the message's first question goes for, None where it goes for none."""
        if not analysis.specific:
            return None
        best, strengths = self._strongest(analysis)
        if best is not None:
            return self.item_facts[best]
        if any(strengths):
            return None
        found = max(((cues.strength(analysis.stems), fact) for fact, cues in self.facts), default=(0.0, None))
        if found[0]:
            return found[1]
        if _OBSTACLE.strength(analysis.stems):
            return "obstacle"
        return "goal" if _GOAL.strength(analysis.stems) else None

    def advised(self, item: int, message: str) -> bool:
        """Say whether one sentence of the message meets a cue of this item."""
        cues = self.items[item]
        return any(cues.strength(stems) for stems in sentence_stems(message))

    def disclosed_in(self, text: str) -> frozenset[FactId]:
        """Return the ids of the facts that this message of the user's gives away (70 % of a disclosure's content)."""
        stems = content_stems(text)
        return frozenset([fact for fact, content, needed in self.disclosures if len(content & stems) >= needed])

    def _strongest(self, analysis: Analysis) -> tuple[int | None, Hits]:
        if not analysis.specific:
            return None, ()
        latest = self._latest
        if latest and (found := latest[0])[0] is analysis:
            return found[1]
        result = self._match(analysis)
        latest[:] = [(analysis, result)]
        return result

    def _match(self, analysis: Analysis) -> tuple[int | None, Hits]:
        stems = analysis.stems
        strengths = tuple([cues.strength(stems) for cues in self.items])
        num_hit = len(strengths) - strengths.count(0.0)
        if num_hit == 0 or num_hit > 3:
            return None, strengths
        # On a tie an *ask* item goes first: the question is a question.
        best = max(range(len(strengths)), key=lambda i: (strengths[i], self.kinds[i] == "ask", -i))
        return best, strengths


@lru_cache(maxsize=4_096)
def compile_scenario(scenario: Scenario) -> CompiledCues:
    """Compile the cues of a scenario; the latest few thousand are remembered."""
    disclosures = []
    for fact in scenario.facts:
        content = content_stems(fact.disclosure)
        disclosures.append((fact.id, content, max(1, -(-len(content) * 7 // 10))))
    return CompiledCues(
        kinds=tuple(item.kind for item in scenario.checklist),
        item_facts=tuple(item.fact for item in scenario.checklist),
        items=tuple(parse_cues(item.cues) for item in scenario.checklist),
        facts=tuple((fact.id, parse_cues(fact.cues)) for fact in scenario.facts if fact.cues),
        disclosures=tuple(disclosures),
    )


class Rarity:
    """How rare a stem is over a pool of texts: log of the inverse document frequency."""

    def __init__(self, texts: Sequence[str]) -> None:
        self._count: Counter[str] = Counter()
        for text in texts:
            self._count.update(content_stems(text))
        self._total = max(1, len(texts))

    def __call__(self, stem_: str) -> float:
        """Return the rarity of a stem, higher for rarer."""
        return log((1 + self._total) / (1 + self._count[stem_]))


def derive_cues(question: str, statement: str, rarity: Rarity, persona: str = "") -> tuple[str, ...]:
    """Make cues for an item that has none: the rarer stems alone, the commoner ones in pairs.

    Args:
        question: the checklist question.
        statement: of the fact that it hangs on; "" for none.
        rarity: over the pool of scenarios.
        persona: its words are left out, since every question about this user has them.
    """
    skip = _GENRE | content_stems(persona)
    from_question = content_stems(question) - skip
    from_statement = content_stems(statement) - skip
    weight = {s: rarity(s) * (1.5 if s in from_question else 1.0) for s in from_question | from_statement}
    ranked = sorted(weight, key=lambda s: (-weight[s], s))
    keep = [s for s in ranked if weight[s] >= 0.6 * weight[ranked[0]]][:6] if ranked else []
    rest = [s for s in ranked if s not in keep][:4]
    pairs = [f"{a} {b}" for i, a in enumerate(rest) for b in rest[i + 1 :]]
    return (*keep, *pairs)


def guess_kind(question: str) -> ItemKind:
    """Guess from its verb whether a published checklist question wants an *ask* or an *advice*."""
    kind: Literal["ask", "advice"] = "ask" if _ASK_VERB.search(question.lower()) else "advice"
    return kind
