"""The bundled scenarios keep what they promise."""

from collections import Counter

import pytest

from elicit_gym.scenarios.depth import depth_problems, set_problems
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.text import content_stems
from elicit_gym.types import Scenario
from elicit_gym.understanding.acts import reader_of
from elicit_gym.user_simulators.voice import voice_of
from tests.conftest import SHARED


def test_counts_and_splits(scenarios: tuple[Scenario, ...]) -> None:
    openings = Counter(scenario.opening_message for scenario in scenarios)
    assert len(scenarios) == 120
    assert len(openings) == 60
    assert set(openings.values()) == {2}
    assert len({scenario.persona for scenario in scenarios}) == 120
    train, test = load_scenarios(split="train"), load_scenarios(split="test")
    assert len({s.opening_message for s in train}) == len({s.opening_message for s in test}) == 30
    assert not {s.opening_message for s in train} & {s.opening_message for s in test}


def test_every_rule_of_depth_holds(scenarios: tuple[Scenario, ...]) -> None:
    problems = [f"{s.id}: {problem}" for s in scenarios for problem in depth_problems(s)]
    problems += set_problems(scenarios)
    assert problems == []


def test_half_of_the_scenarios_reward_listening(scenarios: tuple[Scenario, ...]) -> None:
    assert sum(any(item.after for item in s.checklist) for s in scenarios) >= len(scenarios) / 2


def test_openings_give_no_persona_away(scenarios: tuple[Scenario, ...]) -> None:
    for scenario in scenarios:
        shared = content_stems(scenario.opening_message) & content_stems(scenario.persona)
        assert not shared, f"{scenario.id}: {shared}"


def test_none_is_taken_from_the_paper(scenarios: tuple[Scenario, ...]) -> None:
    folder = SHARED / "infoquest-paper-example"
    if not folder.is_dir():
        pytest.skip("the sample data in ../shared is not on this machine")
    published = load_scenarios(folder)
    assert not {s.opening_message for s in published} & {s.opening_message for s in scenarios}
    assert not {s.persona for s in published} & {s.persona for s in scenarios}


def test_temperaments_cover_what_they_should(scenarios: tuple[Scenario, ...]) -> None:
    traits = " ".join(trait for scenario in scenarios for trait in scenario.traits)
    for needed in ("curt", "chatty", "typos", "emoji", "non-native English", "formal", "lower case"):
        assert needed in traits


def test_what_a_user_says_gives_away_its_own_fact(scenarios: tuple[Scenario, ...]) -> None:
    for scenario in scenarios:
        voice, reader = voice_of(scenario.traits), reader_of(scenario)
        for fact in scenario.facts:
            for pick in range(4):
                assert fact.id in reader.disclosed_in(voice.say(fact.disclosures[0], pick)), f"{scenario.id}: {fact.id}"


def test_hints_disclose_nothing(scenarios: tuple[Scenario, ...]) -> None:
    for scenario in scenarios:
        reader = reader_of(scenario)
        for item in scenario.checklist:
            for hint in item.hints:
                assert not reader.disclosed_in(hint), f"{scenario.id}: {hint!r}"


def test_each_example_is_understood(scenarios: tuple[Scenario, ...]) -> None:
    """An example's own fact is read from it; a reader that lost its examples, or mixed facts up, would fail."""
    asked = right = 0
    for scenario in scenarios[::6]:
        reader = reader_of(scenario)
        for fact in scenario.facts:
            for question in fact.questions:
                first = next(iter(reader.understand(question, "", frozenset()).questions), None)
                asked += 1
                right += first is not None and fact.id in [found for found, _ in first.facts]
    assert right >= 0.95 * asked
