"""A judge without a language model: reads what a message asks and suggests, as the scripted user does."""

from collections.abc import Sequence

from elicit_gym.judges.reading import refuse_derived, verdicts_of
from elicit_gym.types import JudgeRequest, Scenario, Verdict
from elicit_gym.understanding.acts import understand

__all__ = ["ScriptedJudge"]


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
    allow_derived = False

    def __init__(self, *, allow_derived: bool = False) -> None:
        self.allow_derived = allow_derived

    def check_scenarios(self, scenarios: Sequence[Scenario]) -> None:
        """Refuse scenarios that cannot be judged.

        Raises:
            SettingError: one has no examples, and that was not allowed.
        """
        refuse_derived(self.name, scenarios, self.allow_derived)

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        """Return one verdict for each pending item; never unscored."""
        refuse_derived(self.name, (request.scenario,), self.allow_derived)
        read = understand(
            request.assistant_message,
            request.scenario,
            user_message=request.user_message,
            disclosed=request.disclosed,
        )
        return verdicts_of(request, read)
