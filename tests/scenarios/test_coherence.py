"""Parts that repeat each other, and checklists that give themselves away, are said; sound ones are not."""

from typing import Any

import pytest

from elicit_gym.scenarios.coherence import coherence_problems, in_the_same_words
from elicit_gym.text import content_stems

ROW: dict[str, Any] = {
    "opening_message": "How do I get the hall ready before the winter comes?",
    "goal": "heat the village hall for the carnival",
    "obstacle": "the boiler's maker went bankrupt",
    "constraints": [
        "small budget rules out a new boiler", "listed windows forbid double glazing", "two volunteers know the pipes",
        "carnival begins in three weeks", "mice ate the insulation of the attic",
    ],
    "checklist": [
        "Did the assistant ask how much may be spent?", "Did the assistant ask about the windows?",
        "Did the assistant ask who could help?", "Did the assistant ask when it must be warm?",
        "Did the assistant suggest a way of heating that needs no spare parts?",
    ],
}  # fmt: skip


def changed(field: str, place: int, text: str) -> dict[str, Any]:
    entries = list(ROW[field])
    entries[place] = text
    return {**ROW, field: entries}


def test_a_sound_row() -> None:
    assert list(coherence_problems(ROW)) == []


@pytest.mark.parametrize(
    ("row", "problem"),
    {
        "goal and obstacle": ({**ROW, "obstacle": "heat the hall"}, "'obstacle' says what 'goal' says, got 'heat the"),
        "constraint and goal": (changed("constraints", 3, "the carnival in the village hall"), "says what 'goal' says"),
        "two constraints": (
            changed("constraints", 4, "windows that are listed, forbid double glazing"),
            "'constraint 5' says what 'constraint 2' says",
        ),
        "another beginning": (changed("checklist", 0, "Was the budget asked for?"), "'checklist' 1 must begin with"),
        "told by the opening": (
            changed("checklist", 3, "Did the assistant ask if the hall is ready before winter?"),
            "'checklist' 4 is told by the opening message",
        ),
        "the answer in the question": (
            changed("checklist", 1, "Did the assistant ask if listed windows forbid double glazing?"),
            "'checklist' 2 gives the constraint 2 away",
        ),
        "the goal in the question": (
            changed("checklist", 1, "Did the assistant find out that they heat the village hall for the carnival?"),
            "gives the goal away",
        ),
        "the same question": (
            changed("checklist", 2, "Did the assistant clarify how much may be spent?"), "'checklist' 3 is in the words of 1",
        ),
        "the same short question": (changed("checklist", 2, ROW["checklist"][3]), "'checklist' 4 is in the words of 3"),
    }.values(),
)  # fmt: skip
def test_what_does_not_go_together(row: dict[str, Any], problem: str) -> None:
    assert any(problem in found for found in coherence_problems(row))


def test_the_same_words() -> None:
    first, second = content_stems("The oven takes four loaves."), content_stems("Four loaves fit into my old oven.")
    assert in_the_same_words(first, second)
    assert not in_the_same_words(first, content_stems("The lease says that I can't drill."))
    assert not in_the_same_words(frozenset(), second)
