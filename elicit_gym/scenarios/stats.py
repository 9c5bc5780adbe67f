"""Describe a set of scenarios: what is in it, and how it stands to each rule of depth.

How diverse it is needs the understanding of messages: `elicit_gym.evaluation.diversity`.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from statistics import fmean
from typing import Any

from elicit_gym.scenarios import depth
from elicit_gym.scenarios.coherence import in_the_same_words
from elicit_gym.scenarios.schema import CORE_FACTS
from elicit_gym.text import content_stems
from elicit_gym.types import ChecklistItem, Scenario

__all__ = ["depth_stats", "scenario_stats"]


def scenario_stats(scenarios: Sequence[Scenario]) -> dict[str, Any]:
    """Count what is in a set.

    Returns:
        JSON types: counts of scenarios, opening messages, personas and items by kind and by the fact they hang on,
        splits, mean lengths in words, and the most frequent traits.
    """
    items = [item for scenario in scenarios for item in scenario.checklist]
    return {
        "scenarios": len(scenarios),
        "opening_messages": len({scenario.opening_message for scenario in scenarios}),
        "personas": len({scenario.persona for scenario in scenarios}),
        "splits": dict(Counter(scenario.split or "none" for scenario in scenarios)),
        "items_by_kind": dict(Counter(item.kind for item in items)),
        "items_by_fact": dict(Counter(_kind_of(fact) for item in items for fact in item.facts)),
        "facts_per_scenario": fmean(len(s.facts) for s in scenarios),
        "questions_per_fact": fmean(len(fact.questions) for s in scenarios for fact in s.facts),
        "items_after_another_fact": sum(item.after is not None for item in items),
        "words": {
            "opening message": fmean(len(s.opening_message.split()) for s in scenarios),
            "description": fmean(len(s.description.split()) for s in scenarios),
            "constraint": fmean(len(c.split()) for s in scenarios for c in s.constraints),
            "checklist question": fmean(len(item.question.split()) for item in items),
            "disclosure": fmean(len(fact.disclosures[0].split()) for s in scenarios for fact in s.facts),
        },
        "traits": dict(Counter(trait for s in scenarios for trait in s.traits).most_common(10)),
    }


def _kind_of(fact: str) -> str:
    kind = fact.split("_", maxsplit=1)[0]
    return kind if fact in CORE_FACTS or kind in ("request", "tried") else "circumstance"


def depth_stats(scenarios: Sequence[Scenario]) -> list[dict[str, Any]]:
    """Measure a set on each rule of depth; scenarios without facts and items of their own are left out.

    Returns:
        One row per rule, in JSON types: the rule, what it requires, the least and the most that was found (a share for
        rules on the whole set), and whether it is met. Empty where no scenario is written out.
    """
    written = [scenario for scenario in scenarios if not scenario.derived]
    if not written:
        return []
    hanging = {s.id: {fact for item in s.checklist for fact in item.facts} for s in written}
    facts = [(s, fact) for s in written for fact in s.facts]
    items = [(s, item) for s in written for item in s.checklist]
    advice = [item for _, item in items if item.kind == "advice"]
    of_item = [len(fact.questions) for s, fact in facts if fact.id in hanging[s.id]]
    of_none = [len(fact.questions) for s, fact in facts if fact.id not in hanging[s.id]]
    on_aim = [any({"goal", "obstacle"} & set(item.facts) for item in s.checklist) for s in written]
    problems = len([p for s in written for p in depth.depth_problems(s)]) + len(list(depth.set_problems(written)))
    return [
        _row("facts in a scenario", (depth.MIN_FACTS, depth.MAX_FACTS), [len(s.facts) for s in written]),
        _row("questions for a fact that an item hangs on", (depth.MIN_QUESTIONS_OF_ITEM, None), of_item),
        _row("questions for any other fact", (depth.MIN_QUESTIONS, None), of_none),
        _row("pairs of facts of one scenario told in the same words", (0, 0), [_alike(s) for s in written]),
        _row("hints at an item", (depth.MIN_HINTS, None), [len(item.hints) for _, item in items]),
        _row("words that a hint shares with topic, question and fact", (0, 0), [_told(s, item) for s, item in items]),
        _row(
            "good suggestions for an advice item", (depth.MIN_SUGGESTIONS, None), [len(i.suggestions) for i in advice]
        ),
        _row("contrary suggestions for an advice item", (depth.MIN_CONTRARY, None), [len(i.contrary) for i in advice]),
        _share("scenarios with an item on goal or obstacle", 1.0, on_aim),
        _share("scenarios with an item after another fact", depth.MIN_DEPENDENT, map(_depends, written)),
        _row("examples that two scenarios share", (0, 0), [len(list(depth.shared_examples(written)))]),
        _row("problems that 'scenarios validate' finds", (0, 0), [problems]),
    ]


def _row(rule: str, bounds: tuple[int, int | None], found: Sequence[int]) -> dict[str, Any]:
    low, high = bounds
    required = f"{low} or more" if high is None else str(low) if low == high else f"{low} to {high}"
    least, most = min(found, default=None), max(found, default=None)
    met = least is None or most is None or (least >= low and (high is None or most <= high))
    return {"rule": rule, "required": required, "least": least, "most": most, "met": met}


def _share(rule: str, required: float, found: Iterable[bool]) -> dict[str, Any]:
    share = round(fmean(found), 3)
    return {"rule": rule, "required": f"{required:.0%} or more", "share": share, "met": share >= required}


def _alike(scenario: Scenario) -> int:
    spoken = [content_stems(fact.disclosures[0]) for fact in scenario.facts]
    return sum(in_the_same_words(first, second) for i, first in enumerate(spoken) for second in spoken[:i])


def _told(scenario: Scenario, item: ChecklistItem) -> int:
    return sum(map(len, _shared(scenario, item)))


def _shared(scenario: Scenario, item: ChecklistItem) -> Iterator[frozenset[str]]:
    telling = depth.telling_words(scenario.facts, item)
    return (content_stems(hint) & telling for hint in item.hints)


def _depends(scenario: Scenario) -> bool:
    return any(item.after for item in scenario.checklist)
