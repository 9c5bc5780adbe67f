"""From what a message does to verdicts: the rule that the judges without a language model share."""

from collections.abc import Sequence

from elicit_gym.errors import SettingError
from elicit_gym.types import ChecklistItem, JudgeRequest, Scenario, Verdict
from elicit_gym.understanding.acts import MAX_ADVICE_WORDS
from elicit_gym.understanding.dialogue_acts import Understanding

__all__ = ["refuse_derived", "verdicts_of"]

_YES = Verdict(satisfied=True)
_NO = Verdict(satisfied=False)
MAX_QUESTIONS_BESIDE_ADVICE = 2


def verdicts_of(request: JudgeRequest, read: Understanding) -> tuple[Verdict, ...]:
    """Return one verdict for each pending item; never unscored."""
    asked = {fact for act in read.judged_questions if act.kind == "ask" for fact, _ in act.facts}
    checklist = request.scenario.checklist
    return tuple([_YES if _meets(checklist[i], i, asked, read, request.disclosed) else _NO for i in request.pending])


def _meets(item: ChecklistItem, index: int, asked: set[str], read: Understanding, disclosed: frozenset[str]) -> bool:
    if item.kind == "ask":
        return not asked.isdisjoint(item.facts) and (item.after is None or item.after in disclosed)
    if disclosed.isdisjoint(item.facts) or read.num_words > MAX_ADVICE_WORDS:
        return False
    if len(read.questions) > MAX_QUESTIONS_BESIDE_ADVICE:
        return False
    return any(i == index for act in read.acts if act.kind in ("ask", "suggest") for i, _ in act.advice)


def refuse_derived(name: str, scenarios: Sequence[Scenario], allowed: bool) -> None:
    """Refuse scenarios without examples.

    Raises:
        SettingError: one is derived, and that was not allowed.
    """
    derived = next((scenario for scenario in scenarios if scenario.derived), None)
    if derived is not None and not allowed:
        raise SettingError(
            f"Judging scenario {derived.id!r} with the judge {name!r}: expected examples of questions, got none (a "
            "published or generated scenario). What can be derived from its texts agrees too little with people. Use "
            "--judge llm, or judge_kwargs={'allow_derived': True} to test your code."
        )
