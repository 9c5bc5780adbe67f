"""What is derived of scenarios without facts and items."""

import json

import pytest

from elicit_gym.scenarios.derived import derived_scenario, guess_kind, plain_question, rarity_of
from elicit_gym.scenarios.load import BUNDLED
from elicit_gym.scenarios.schema import CORE_FACTS

ROWS = [json.loads(line) for line in BUNDLED.read_text(encoding="utf-8").splitlines()[:20]]


@pytest.mark.parametrize(
    ("question", "kind", "plain"),
    [
        ("Did the assistant ask about the budget?", "ask", "the budget"),
        ("Did the assistant inquire about the type of audience?", "ask", "the type of audience"),
        ("Did the assistant suggest a cheaper tool?", "advice", "a cheaper tool"),
        ("Did the assistant consider any budget constraints?", "ask", "any budget constraints"),
        ("Did the assistant consider culture in suggesting methods?", "advice", "culture in suggesting methods"),
        ("Did the user recommend specific platforms?", "advice", "specific platforms"),
    ],
)
def test_checklist_questions(question: str, kind: str, plain: str) -> None:
    assert guess_kind(question) == kind
    assert plain_question(question) == plain


def test_every_ask_hangs_on_a_fact_of_its_own() -> None:
    rarity = rarity_of(ROWS)
    for row in ROWS:
        scenario = derived_scenario(row, rarity)
        assert scenario.derived
        assert {fact.id for fact in scenario.facts} >= set(CORE_FACTS)
        asked = [fact for item in scenario.checklist if item.kind == "ask" for fact in item.facts]
        assert len(set(asked)) == len(asked)
        for item in scenario.checklist:
            assert set(item.facts) <= {fact.id for fact in scenario.facts}
            assert item.hints
        for fact in scenario.facts:
            assert len(fact.disclosures) == 2
            assert fact.questions == ()


def test_the_nearest_fact_is_the_one_that_shares_the_rare_words() -> None:
    row = {
        **ROWS[0],
        "constraints": ["tight budget", "a noisy dog", "no car", "cold winters", "small kitchen"],
        "checklist": ["Did the assistant ask about the dog?", *ROWS[0]["checklist"][1:]],
    }
    assert derived_scenario(row, rarity_of(ROWS)).checklist[0].facts == ("constraint_2",)
