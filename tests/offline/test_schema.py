"""The schema of dialogues."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.offline.schema import problems_of_dialogue
from tests.offline.samples import ROWS


@given(st.recursive(st.none() | st.integers() | st.text(), lambda c: st.lists(c) | st.dictionaries(st.text(), c)))
def test_any_json_is_checked_without_a_crash(value: Any) -> None:
    assert list(problems_of_dialogue(value))
    list(problems_of_dialogue({**ROWS[0], "turns": [value], "metadata": value, "title": value}))
