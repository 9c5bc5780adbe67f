"""A judge without a language model: reads what a message asks and suggests, as the scripted user does."""

from elicit_gym.errors import SettingError
from elicit_gym.types import ChecklistItem, JudgeRequest, Scenario, Verdict
from elicit_gym.understanding.acts import MAX_ADVICE_WORDS, Understanding, understand

__all__ = ["ScriptedJudge"]

_YES = Verdict(satisfied=True)
_NO = Verdict(satisfied=False)
MAX_QUESTIONS_BESIDE_ADVICE = 2


class ScriptedJudge:
    """Credits an *ask* for a question that goes for the item's facts, an *advice* for a suggestion that meets it.

    The first two questions of a message count; of more than three, the first alone. Words of the user's own handed
    back, lists, heaps of nouns, dismissals and other languages are credited with nothing. An item with `after` counts
    once that fact is known. An *advice* needs that the user has disclosed a fact that it hangs on, at most 150 words in
    all and at most two questions beside it: general advice to a user whose situation is unknown is not credited, as
    the paper's judge prompt demands.

    Args:
        allow_derived: judge scenarios without examples too. What is derived from their texts agrees with people too
            little for results (`benchmarks/judge_agreement.py`), which is why they are refused otherwise.

    References:
        InfoQuest, Appendix A.4 (the rubric: "fully met this specific criteria while being relevant to the user's
        context"). Difference: nothing there limits the number of questions in a message.
    """

    name = "scripted"

    def __init__(self, *, allow_derived: bool = False) -> None:
        self.allow_derived = allow_derived

    def check_scenarios(self, scenarios: tuple[Scenario, ...]) -> None:
        """Refuse scenarios that cannot be judged.

        Raises:
            SettingError: one is derived, and that was not allowed.
        """
        derived = next((scenario for scenario in scenarios if scenario.derived), None)
        if derived is not None and not self.allow_derived:
            raise SettingError(
                f"Judging scenario {derived.id!r} with the judge 'scripted': expected examples of questions, got none "
                "(a published or generated scenario). What can be derived from its texts agrees too little with "
                "people. Use --judge llm, or judge_kwargs={'allow_derived': True} to test your code."
            )

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        """Return one verdict for each pending item; never unscored."""
        scenario = request.scenario
        self.check_scenarios((scenario,))
        read = understand(
            request.assistant_message, scenario, user_message=request.user_message, disclosed=request.disclosed
        )
        asked = {fact for act in read.judged_questions if act.kind == "ask" for fact, _ in act.facts}
        checklist = scenario.checklist
        return tuple(
            [_YES if _meets(checklist[i], i, asked, read, request.disclosed) else _NO for i in request.pending]
        )


def _meets(item: ChecklistItem, index: int, asked: set[str], read: Understanding, disclosed: frozenset[str]) -> bool:
    if item.kind == "ask":
        return not asked.isdisjoint(item.facts) and (item.after is None or item.after in disclosed)
    if disclosed.isdisjoint(item.facts) or read.num_words > MAX_ADVICE_WORDS:
        return False
    if len(read.questions) > MAX_QUESTIONS_BESIDE_ADVICE:
        return False
    return any(i == index for act in read.acts if act.kind in ("ask", "suggest") for i, _ in act.advice)
