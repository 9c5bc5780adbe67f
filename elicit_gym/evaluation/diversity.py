"""How diverse a set of scenarios is: nearest scenarios, vocabulary, what general questions reach, examples alike.

A set of users from one mould flatters whoever has learned the mould. All of this is fast: static word vectors, counts
of words, and the understanding that the scripted user has.

References:
    InfoQuest, Section 6 (the distribution of its users is left to future work). Covington and McFall, "Cutting the
    Gordian knot: the moving-average type-token ratio" (2010), for a ratio at a fixed length.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import fmean, median
from typing import Any

import numpy as np

from elicit_gym.text import FUNCTION_WORDS, content_stems, words
from elicit_gym.types import ChecklistItem, Scenario
from elicit_gym.understanding.acts import understand
from elicit_gym.understanding.vectors import word_vectors

__all__ = ["diversity_stats", "nearest_scenarios", "reach_of", "similar_examples", "vocabulary"]

WINDOW = 1_000
"""Words in a stretch of text for the type-token ratio."""
NUM_NEAREST = 5
KINDS = ("ask", "advice", "on goal", "on obstacle", "on constraint", "on a circumstance", "after another fact")


def diversity_stats(scenarios: Sequence[Scenario], bank: Sequence[str]) -> dict[str, Any]:
    """Measure how diverse a set is.

    Args:
        scenarios: the set.
        bank: general questions, such as the baselines ask.

    Returns:
        JSON types; see the functions of this module.
    """
    return {
        "nearest": nearest_scenarios(scenarios),
        "vocabulary": vocabulary(scenarios),
        "reach": reach_of(scenarios, bank),
        "similar_examples": similar_examples(scenarios),
    }


def nearest_scenarios(scenarios: Sequence[Scenario], count: int = NUM_NEAREST) -> dict[str, Any]:
    """Compare all scenarios with each other, by the mean word vectors of what their users want and what limits them.

    Opening message and persona are left out: two scenarios share an opening message on purpose.

    Returns:
        ``pairs``, the `count` nearest, each with the ids, the cosine similarity and both goals; ``median``, of the
        similarity of each scenario to its nearest; ``median_of_all``, over all pairs.
    """
    if len(scenarios) < 2:
        return {"pairs": [], "median": None, "median_of_all": None}
    vectors = word_vectors()
    rows = np.stack(
        [vectors.sentence(words(" ".join([s.description, s.goal, s.obstacle, *s.constraints]))) for s in scenarios]
    )
    cosines = rows @ rows.T
    above = np.triu_indices(len(scenarios), 1)
    order = np.argsort(-cosines[above], kind="stable")[:count]
    pairs = [(scenarios[above[0][k]], scenarios[above[1][k]], float(cosines[above][k])) for k in order]
    np.fill_diagonal(cosines, -1.0)
    return {
        "pairs": [
            {"ids": [first.id, second.id], "similarity": round(similarity, 3), "goals": [first.goal, second.goal]}
            for first, second, similarity in pairs
        ],
        "median": round(median(cosines.max(axis=1).tolist()), 3),
        "median_of_all": round(float(np.median(cosines[above])), 3),
    }


def _texts(scenario: Scenario) -> Iterator[str]:
    yield from (scenario.description, scenario.goal, scenario.obstacle, *scenario.constraints, scenario.solution)
    for fact in scenario.facts:
        yield from (*fact.disclosures, *fact.questions)
    for item in scenario.checklist:
        yield from (item.question, *item.hints, *item.suggestions, *item.contrary)


def vocabulary(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Count the words of a set.

    Returns:
        ``words`` and ``types``; ``type_token_ratio``, the mean over stretches of `WINDOW` words, so that sets of any
        size compare (None for a set that is shorter); ``content_types``, words that carry a topic; and
        ``in_one_scenario``, the share of these that one scenario alone has.
    """
    spoken = [[word for text in _texts(scenario) for word in words(text)] for scenario in scenarios]
    everything = [word for said in spoken for word in said]
    stretches = [everything[i : i + WINDOW] for i in range(0, len(everything) - WINDOW + 1, WINDOW)]
    owners = Counter(word for said in spoken for word in set(said) if word not in FUNCTION_WORDS)
    return {
        "words": len(everything),
        "types": len(set(everything)),
        "type_token_ratio": round(fmean(len(set(part)) / WINDOW for part in stretches), 3) if stretches else None,
        "content_types": len(owners),
        "in_one_scenario": round(fmean(count == 1 for count in owners.values()), 3) if owners else None,
    }


def reach_of(scenarios: Sequence[Scenario], bank: Sequence[str]) -> dict[str, Any]:
    """Put each question of a bank to each scenario, and say what the user's understanding lets them reach.

    An *ask* item is reached when a question goes for one of its facts (and one for what it comes after); an *advice*
    item when a question makes the user tell a fact that it hangs on, without which no advice counts.

    Returns:
        The share of items reached, by kind, by the fact that they hang on, and for items that depend on another fact;
        ``per_scenario``, the mean number of *ask* items reached; ``questions``, the share of scenarios in which each
        question reaches an *ask* item.
    """
    found: dict[str, list[bool]] = defaultdict(list)
    hits: dict[str, list[bool]] = {question: [] for question in bank}
    per_scenario = []
    for scenario in scenarios:
        asked = {question: _asked(scenario, question) for question in bank}
        told = frozenset[str]().union(*asked.values()) if asked else frozenset[str]()
        reached = [_is_reached(item, told) for item in scenario.checklist]
        for item, yes in zip(scenario.checklist, reached, strict=True):
            found[item.kind].append(yes)
            if item.after is not None:
                found["after another fact"].append(yes)
            for kind in sorted({fact.split("_")[0] for fact in item.facts}):
                found[f"on {kind}" if kind in ("goal", "obstacle", "constraint") else "on a circumstance"].append(yes)
        asks = [item for item in scenario.checklist if item.kind == "ask"]
        per_scenario.append(sum(_is_reached(item, told) for item in asks))
        for question, facts in asked.items():
            hits[question].append(any(not facts.isdisjoint(item.facts) for item in asks))
    return {
        "share": {kind: round(fmean(found[kind]), 3) for kind in KINDS if kind in found},
        "per_scenario": round(fmean(per_scenario), 2) if per_scenario else None,
        "questions": {question: round(fmean(yes), 3) for question, yes in hits.items() if yes},
    }


def _asked(scenario: Scenario, question: str) -> frozenset[str]:
    read = understand(question, scenario, user_message=scenario.opening_message)
    return frozenset(fact for act in read.judged_questions if act.kind == "ask" for fact, _ in act.facts)


def _is_reached(item: ChecklistItem, told: frozenset[str]) -> bool:
    return not told.isdisjoint(item.facts) and (item.after is None or item.after in told)


def similar_examples(scenarios: Sequence[Scenario], count: int = NUM_NEAREST) -> dict[str, Any]:
    """Look for example questions and suggestions of two scenarios that say nearly the same.

    That is: the same words that carry a topic, two or more; or, of five or more, all but one.

    Returns:
        ``examples``, how many there are; ``similar``, how many have a like in another scenario, and ``share`` of all;
        ``pairs``, `count` of them, the longest first, with the ids.
    """
    seen: dict[frozenset[str], tuple[str, str]] = {}
    number, alike = 0, []
    for scenario in scenarios:
        examples = [question for fact in scenario.facts for question in fact.questions]
        examples += [text for item in scenario.checklist for text in (*item.suggestions, *item.contrary)]
        own: dict[frozenset[str], tuple[str, str]] = {}
        for text in examples:
            number += 1
            keys = list(_keys(content_stems(text)))
            first = next((seen[key] for key in keys if key in seen), None)
            if first is not None:
                alike.append({"ids": [first[0], scenario.id], "texts": [first[1], text]})
            own.update(dict.fromkeys(keys, (scenario.id, text)))
        seen = own | seen
    alike.sort(key=lambda pair: -len(content_stems(pair["texts"][1])))
    return {
        "examples": number,
        "similar": len(alike),
        "share": round(len(alike) / number, 4) if number else None,
        "pairs": alike[:count],
    }


def _keys(stems: frozenset[str]) -> Iterator[frozenset[str]]:
    if len(stems) >= 2:
        yield stems
    if len(stems) >= 5:
        yield from (stems - {word} for word in sorted(stems))
