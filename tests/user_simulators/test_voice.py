"""The persona's way of writing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.user_simulators.voice import Voice, behind

TRAITS = (
    "all lower case", "uses exclamation marks", "trails off", "ends with an emoji", "frequent typos", "drops articles",
    "uses dashes", "formal, full forms", "chatty", 'starts with "Well,"', 'ends with "ha"', "unknown trait",
)  # fmt: skip


@pytest.mark.parametrize(
    ("trait", "said"),
    [
        ("all lower case", "i can't find the key."),
        ("uses exclamation marks", "I can't find the key!"),
        ("formal, full forms", "I cannot find the key."),
        ("drops articles", "I can't find key."),
        ("ends with an emoji", "I can't find the key. 🙂"),
        ("frequent typos", "I can't find teh key."),
        ('starts with "Well,"', "Well, I can't find the key."),
        ("unknown trait", "I can't find the key."),
    ],
)
def test_rules(trait: str, said: str) -> None:
    assert Voice((trait,)).say("I can't find the key.", 0) == said


def test_rules_that_depend_on_the_turn() -> None:
    assert Voice(("trails off",)).say("I wait.", 1) == "I wait..."
    assert Voice(('ends with "ha"',)).say("I wait.", 1) == "I wait, ha."


@given(
    st.lists(st.sampled_from(TRAITS), min_size=1, max_size=5),
    st.text(min_size=1).filter(str.strip),
    st.integers(0, 10**6),
)
def test_any_sentence_can_be_said(traits: list[str], sentence: str, pick: int) -> None:
    Voice(tuple(traits)).say(sentence if sentence.strip().strip(".!?") else "x", pick)


@pytest.mark.parametrize(
    ("sentence", "said"),
    [
        ("A line cook wants it.", "Right, a line cook wants it."),
        ("An aunt of mine knows.", "Right, an aunt of mine knows."),
        ("It's my kitchen.", "Right, it's my kitchen."),
        ("I've no time.", "Right, I've no time."),
        ("Two of them left.", "Right, two of them left."),
        ("Japan is far.", "Right: Japan is far."),
        ("Soups are my thing.", "Right: Soups are my thing."),
    ],
)
def test_what_stands_behind_an_opener_keeps_a_capital_only_where_it_must(sentence: str, said: str) -> None:
    assert behind("Right, ", sentence) == said
    assert Voice(('starts with "Right,"',)).say(sentence, 0) == said
