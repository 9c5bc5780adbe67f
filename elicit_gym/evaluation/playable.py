"""Whether user and judge understand a scenario by its own examples: else nobody can earn what it offers."""

from collections.abc import Iterator, Sequence

from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.types import ChecklistItem, JudgeRequest, Scenario

__all__ = ["MIN_UNDERSTOOD", "playable_problems"]

MIN_UNDERSTOOD = 0.5
"""Least share of an item's own examples that must earn it. In the bundled scenarios, 99 % do."""


def playable_problems(scenario: Scenario) -> Iterator[str]:
    """Yield which items of a scenario of full depth are not earned by their own examples.

    Each is judged alone, with what it depends on disclosed. An example is not understood when it only repeats what the
    user says anyway, lists several matters, dismisses the matter, or asks too much at once.
    """
    judge = ScriptedJudge()

    def earned(index: int, item: ChecklistItem, messages: Sequence[str]) -> list[bool]:
        known = item.facts if item.kind == "advice" else (item.after,) if item.after else ()
        return [
            bool(
                judge.judge(
                    JudgeRequest(
                        scenario=scenario,
                        pending=(index,),
                        user_message=scenario.opening_message,
                        assistant_message=message,
                        disclosed=frozenset(known),
                    )
                )[0].satisfied
            )
            for message in messages
        ]

    for index, item in enumerate(scenario.checklist):
        if item.kind == "ask":
            examples = [question for fact in item.facts for question in scenario.fact(fact).questions]
            what = "questions"
        else:
            examples, what = list(item.suggestions), "suggestions"
        found = earned(index, item, examples)
        if sum(found) < MIN_UNDERSTOOD * len(found):
            first = next(example for example, yes in zip(examples, found, strict=True) if not yes)
            yield (
                f"'items' {index + 1}: half of its {what} at least must earn it, got {sum(found)} of {len(found)} (not "
                f"{first!r}, for example). Word them so that they ask for this and for nothing else."
            )
