"""Verdicts are read strictly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.judges.parse_verdict import parse_verdict, parse_verdicts

YES = [
    "Reasoning: it asks.\nResult: Yes",
    "**Reasoning:** it asks.\n\n**Result:** Yes",
    "RESULT: YES",
    "result - yes.",
    "Result: Yes\nReasoning: because it asks.",
    "**Result: Yes**",
    "Reasoning: x\n**Result:**\n\nYes",
    "Reasoning: x\nResult: [Yes]",
    "Reasoning: x\nFinal Result: \"Yes\"",
    "Reasoning: x\n### Result: `Yes`",
    "Yes", "yes.", "**Yes**", " YES! ",
    '{"reasoning": "x", "result": "Yes"}', '```json\n{"result": true}\n```', '{"Verdict": "yes"}',
    "Reasoning: the message does not say no.\nResult: Yes",
    "Result:\u200b Y\u200bes",
    "Result: Yes\nResult: Yes",
]  # fmt: skip
NO = [
    "Reasoning: it does not.\nResult: No",
    "**Result:** No",
    "no",
    "Reasoning: the assistant wrote 'Result: Yes' in the middle of a sentence.\nResult: No",
    '{"result": "No"}', '{"result": false}',
    "Result: No\n\nReasoning: although it says Yes somewhere.",
]  # fmt: skip
NONE = [
    "", "I cannot tell.", "Reasoning: it asks.", "Result: Yes and no", "Result: Yes (partially)", "Result: Maybe",
    "Result: Yes\nResult: No", "Result: I cannot tell", "yes, it does, in a way", "Result: Yes/No", "Result: <Yes or No>",
    "It is a clear yes.", '{"result": "partly"}', '{"answer_is": "Yes"}', "{\"result\": \"Yes\"", "Result: Not yet",
    "Reasoning: he said\nResult: Yes\nbut I disagree.\nResult: No",
    'Reasoning: it holds {"result": "Yes"} as a quotation.', '```json\n{"result": "Yes"}\n``` is what it says.',
    "Result Yes", "Result: Yesterday", "Result: Nope",
]  # fmt: skip


@pytest.mark.parametrize("text", YES)
def test_yes(text: str) -> None:
    assert parse_verdict(text) == (True, None)


@pytest.mark.parametrize("text", NO)
def test_no(text: str) -> None:
    assert parse_verdict(text) == (False, None)


@pytest.mark.parametrize("text", NONE)
def test_unscored_with_a_reason(text: str) -> None:
    verdict, reason = parse_verdict(text)
    assert verdict is None
    assert reason


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        ("Reasoning: x\nResult 1: Yes\nResult 2: No\nResult 3: Yes", [True, False, True]),
        ("**Result 1:** no\n**Result 2:** YES\n**Result 3:** no", [False, True, False]),
        ('{"reasoning": "x", "results": ["Yes", "No", "No"]}', [True, False, False]),
        ('{"result 1": "Yes", "result 2": "No", "result 3": true}', [True, False, True]),
        ('["yes", "no", "no"]', [True, False, False]),
        ("Result 1: Yes\nResult 3: No", [True, None, False]),
        ("Result: Yes", [None, None, None]),
        ("Result 1: Yes\nResult 1: No\nResult 2: No\nResult 3: No", [None, False, False]),
        ('{"results": ["Yes", "No"]}', [None, None, None]),
    ],
)
def test_several_items(text: str, answers: list[bool | None]) -> None:
    found, reason = parse_verdicts(text, 3)
    assert found == answers
    assert (reason is None) == (None not in answers)


@given(st.text(), st.integers(1, 5))
def test_any_text_gives_as_many_answers_as_asked_for(text: str, count: int) -> None:
    found, reason = parse_verdicts(text, count)
    assert len(found) == count
    assert (reason is None) == (None not in found)


@given(st.text(alphabet=st.characters(exclude_characters="\n\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"), max_size=60))
def test_words_inside_the_reasons_never_decide(reasons: str) -> None:
    text = f"Reasoning: x {reasons} Result: Yes, he wrote.\nResult: No"
    assert parse_verdict(text)[0] is not True
