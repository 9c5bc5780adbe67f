"""Diversity: what the measures say of sets whose diversity is known."""

import time
from dataclasses import replace

import pytest

from elicit_gym.agents.baselines import QUESTION_BANK
from elicit_gym.evaluation.diversity import (
    diversity_stats,
    nearest_scenarios,
    reach_of,
    similar_examples,
    vocabulary,
)
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import Scenario

SCENARIOS = load_scenarios()
BAKER = SCENARIOS[0]


def copy(scenario: Scenario, name: str = "copy") -> Scenario:
    return replace(scenario, id=name, opening_message="Something else altogether?", persona="somebody else")


def test_a_copy_is_the_nearest() -> None:
    found = nearest_scenarios([*SCENARIOS[:10], copy(BAKER)], count=3)
    assert found["pairs"][0]["ids"] == [BAKER.id, "copy"]
    assert found["pairs"][0]["similarity"] == pytest.approx(1.0, abs=1e-3)
    assert [pair["similarity"] for pair in found["pairs"]] == sorted(
        (p["similarity"] for p in found["pairs"]), reverse=True
    )
    assert found["median"] > found["median_of_all"]


def test_two_scenarios_of_one_opening_are_not_near_for_that() -> None:
    far = [replace(scenario, opening_message="One and the same opening message?") for scenario in SCENARIOS[:10]]
    assert nearest_scenarios(far) == nearest_scenarios(SCENARIOS[:10])


def test_vocabulary_of_copies_is_poorer() -> None:
    once, twice = (
        vocabulary(SCENARIOS[:4]),
        vocabulary([*SCENARIOS[:2], copy(SCENARIOS[0], "c"), copy(SCENARIOS[1], "d")]),
    )
    assert once["types"] > twice["types"]
    assert twice["in_one_scenario"] == 0.0 < once["in_one_scenario"]
    assert once["words"] >= once["types"] >= once["content_types"]
    assert vocabulary([BAKER])["in_one_scenario"] == 1.0


def test_the_ratio_at_a_fixed_length_does_not_fall_with_the_size_of_the_set() -> None:
    few, all_ = vocabulary(SCENARIOS[:10]), vocabulary(SCENARIOS)
    assert abs(few["type_token_ratio"] - all_["type_token_ratio"]) < 0.03
    assert few["types"] / few["words"] - all_["types"] / all_["words"] > 0.05  # as the plain ratio does


def test_what_a_bank_reaches_is_what_its_questions_ask_for() -> None:
    lease = next(item for item in BAKER.checklist if item.kind == "ask" and item.facts == ("constraint_1",))
    question = BAKER.fact("constraint_1").questions[0]
    found = reach_of([BAKER], [question])
    asks = [item for item in BAKER.checklist if item.kind == "ask"]
    assert found["per_scenario"] == 1.0
    assert found["share"]["ask"] == round(1 / len(asks), 3)
    assert found["share"]["advice"] == 1.0  # it hangs on the lease too, which the user has now told
    assert found["questions"] == {question: 1.0}
    assert lease in asks
    nothing = reach_of([BAKER], ["Nice weather today, isn't it?"])
    assert nothing["per_scenario"] == 0.0
    assert set(nothing["share"].values()) == {0.0}


def test_an_item_that_comes_after_another_fact_needs_both() -> None:
    scenario, item = next((s, i) for s in SCENARIOS for i in s.checklist if i.after is not None)
    own, before = (scenario.fact(fact).questions[0] for fact in (item.facts[0], item.after or ""))
    assert reach_of([scenario], [own])["share"]["after another fact"] == 0.0
    assert reach_of([scenario], [own, before])["share"]["after another fact"] == 1.0


def test_examples_alike_in_two_scenarios_are_found() -> None:
    other = SCENARIOS[4]
    fact = other.facts[0]
    same = "So what is this oven of yours called, anyway, and does the landlord like bread?"
    like = "What does the landlord like, and what is the bread oven of yours called so far?"
    first = replace(BAKER, facts=(replace(BAKER.facts[0], questions=(same,)), *BAKER.facts[1:]))
    before = similar_examples([first, other])
    found = similar_examples(
        [first, replace(other, facts=(replace(fact, questions=(*fact.questions, like)), *other.facts[1:]))]
    )
    assert found["similar"] == before["similar"] + 1
    assert found["examples"] == before["examples"] + 1
    assert found["pairs"][0] == {"ids": [BAKER.id, other.id], "texts": [same, like]}


def test_the_bundled_set_is_diverse_and_measured_in_seconds() -> None:
    start = time.process_time()
    found = diversity_stats(SCENARIOS, QUESTION_BANK)
    assert time.process_time() - start < 10
    assert found["nearest"]["pairs"][0]["similarity"] < 0.85
    assert found["similar_examples"]["share"] < 0.03
    assert found["vocabulary"]["in_one_scenario"] > 0.4
    assert found["reach"]["share"]["ask"] < 0.6
