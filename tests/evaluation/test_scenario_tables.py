"""What is printed of a set of scenarios."""

import json
from dataclasses import replace
from typing import Any

import pytest
from rich.console import Console

from elicit_gym.agents.baselines import QUESTION_BANK
from elicit_gym.evaluation.diversity import diversity_stats
from elicit_gym.evaluation.scenario_tables import print_scenario_stats
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.scenarios.stats import depth_stats, scenario_stats
from elicit_gym.types import Scenario
from tests.widths import check_widths, shown


def stats_of(scenarios: tuple[Scenario, ...]) -> dict[str, Any]:
    found = {"depth": depth_stats(scenarios), "diversity": diversity_stats(scenarios, QUESTION_BANK)}
    return {**scenario_stats(scenarios), **found}


@pytest.fixture(scope="module")
def stats() -> dict[str, Any]:
    return stats_of(load_scenarios()[:20])


def test_nothing_is_cut_in_any_terminal(stats: dict[str, Any]) -> None:
    def show(console: Console) -> None:
        print_scenario_stats(stats, "a/long/path/to/a/folder/with/my/own/scenarios.jsonl", console)

    check_widths(show)
    assert "what" not in shown(show, 80).split()


def test_every_rule_and_every_measure_is_shown(stats: dict[str, Any]) -> None:
    text = " ".join(shown(lambda console: print_scenario_stats(stats, "bundled", console), 200).split())
    for row in stats["depth"]:
        assert f"│ {row['rule']} │ {row['required']} │" in text.replace("  ", " ")
    for pair in stats["diversity"]["nearest"]["pairs"]:
        assert f"{' '.join(pair['ids'])} │ {pair['similarity']:.3f} │" in text
    for question, share in stats["diversity"]["reach"]["questions"].items():
        assert f"{question} │ {share:.0%} │" in text
    assert f"in one scenario only │ {stats['diversity']['vocabulary']['in_one_scenario']:.0%}" in text
    assert f"{stats['diversity']['similar_examples']['similar']} of " in text


def test_a_rule_that_is_broken_is_shown_as_broken() -> None:
    scenario = load_scenarios()[0]
    broken = replace(scenario, facts=scenario.facts[:10])
    text = " ".join(shown(lambda console: print_scenario_stats(stats_of((broken,)), "mine", console), 200).split())
    assert "facts in a scenario │ 12 to 16 │ 10 │ no │" in text
    assert "hints at an item │ 2 or more │ 2 │ yes │" in text


def test_scenarios_without_depth() -> None:
    derived = tuple(replace(scenario, derived=True) for scenario in load_scenarios()[:2])
    text = shown(lambda console: print_scenario_stats(stats_of(derived), "mine", console), 80)
    assert "there is no depth to measure" in text


def test_it_is_json(stats: dict[str, Any]) -> None:
    assert json.loads(json.dumps(stats)) == stats
