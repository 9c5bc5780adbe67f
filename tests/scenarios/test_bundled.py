"""The bundled scenarios keep what they promise."""

from collections import Counter

import pytest
from elicit_gym.scenarios.cues import compile_scenario

from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.text import analyse, content_stems
from elicit_gym.types import Scenario
from elicit_gym.user_simulators import scripted
from elicit_gym.user_simulators.voice import voice_of
from tests.conftest import SHARED

GENERIC = (
    *scripted._NUDGES, *scripted._TOO_MUCH, *scripted._ECHOES, *scripted._VAGUE, *scripted._PROGRESS,
)  # fmt: skip


def test_counts_and_splits(scenarios: tuple[Scenario, ...]) -> None:
    openings = Counter(scenario.opening_message for scenario in scenarios)
    assert len(scenarios) == 80
    assert len(openings) == 40
    assert set(openings.values()) == {2}
    assert len({scenario.persona for scenario in scenarios}) == 80
    train, test = load_scenarios(split="train"), load_scenarios(split="test")
    assert len({s.opening_message for s in train}) == 30
    assert len({s.opening_message for s in test}) == 10
    assert not {s.opening_message for s in train} & {s.opening_message for s in test}


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


def test_every_topic_points_to_its_own_item(scenarios: tuple[Scenario, ...]) -> None:
    for scenario in scenarios:
        cues = compile_scenario(scenario)
        for i, item in enumerate(scenario.checklist):
            if item.kind == "ask":
                found = cues.asked_items(analyse(f"Could you tell me about {item.topic}?"))
                assert found == (i,), f"{scenario.id}: {item.topic!r} goes for {found}"
            else:
                assert cues.advised(i, f"I would suggest {item.topic}."), f"{scenario.id}: {item.topic!r}"


def test_disclosures_are_told_apart_in_any_voice(scenarios: tuple[Scenario, ...]) -> None:
    for scenario in scenarios:
        cues, voice = compile_scenario(scenario), voice_of(scenario.traits)
        for fact in scenario.facts:
            for pick in range(42):
                said = voice.say(fact.disclosure, pick)
                assert cues.disclosed_in(said) == {fact.id}, f"{scenario.id}: {said!r}"


def test_what_is_no_disclosure_discloses_nothing(scenarios: tuple[Scenario, ...]) -> None:
    for scenario in scenarios:
        cues = compile_scenario(scenario)
        hints = [
            hint.format(topic=item.topic)
            for item in scenario.checklist
            for hint in scripted._HINTS + scripted._ADVICE_HINTS
        ]
        for sentence in (*GENERIC, *hints, scenario.opening_message):
            assert not cues.disclosed_in(sentence), f"{scenario.id}: {sentence!r}"
