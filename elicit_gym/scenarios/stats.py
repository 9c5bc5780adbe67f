"""Describe a set of scenarios."""

from collections import Counter
from collections.abc import Sequence
from statistics import fmean
from typing import Any

from elicit_gym.types import Scenario

__all__ = ["scenario_stats"]


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
        "items_by_fact": dict(Counter(fact.split("_")[0] for item in items for fact in item.facts)),
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
