"""Answers are taken out of what models send in one place."""

import pytest

from elicit_gym.llm.content import clean_content


@pytest.mark.parametrize(
    ("content", "reasoning", "finish", "text", "flags"),
    [
        ("Fine.", None, "stop", "Fine.", ()),
        ("<think>Result: Yes</think>\nResult: No", None, "stop", "Result: No", ("think_removed",)),
        ("Result: No <think>and now Result: Yes", None, "stop", "Result: No", ("think_unclosed",)),
        ("<think>never ends", None, "length", "", ("think_unclosed", "truncated", "empty")),
        ("a draft, Result: Yes</think>Result: No", None, "stop", "Result: No", ("think_removed",)),
        ("<THINKING>x</THINKING>y", None, "stop", "y", ("think_removed",)),
        (None, None, "stop", "", ("empty",)),
        ("  \n", None, "stop", "", ("empty",)),
        (None, "Result: Yes", "stop", "", ("only_reasoning",)),
        ("Half an ans", None, "length", "Half an ans", ("truncated",)),
    ],
)
def test_cleaning(content: str | None, reasoning: str | None, finish: str, text: str, flags: tuple[str, ...]) -> None:
    assert clean_content(content, reasoning, finish) == (text, flags)
