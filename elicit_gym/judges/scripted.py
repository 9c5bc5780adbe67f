"""A judge without a language model: cues, and guards against messages that are written for the cues."""

from elicit_gym.scenarios.cues import compile_scenario
from elicit_gym.text import analyse, is_echo
from elicit_gym.types import JudgeRequest, Verdict

__all__ = ["ScriptedJudge"]

_YES = Verdict(satisfied=True)
_NO = Verdict(satisfied=False)

MAX_ADVICE_WORDS = 150


class ScriptedJudge:
    """Credits an *ask* when the first question goes for the item, an *advice* when it builds on what the user has said.

    Nothing is credited to a message that repeats the user, nor to a question that is a list, one of more than five, or
    addressed to nobody (`elicit_gym.text.Analysis.specific`). An *advice* needs a cue of its item in one sentence, at
    most 150 words in all, and that the user has disclosed the fact before: general advice to a user whose situation is
    unknown is not credited, as the paper's judge prompt demands.

    References:
        InfoQuest, Appendix A.4 (the rubric: "fully met this specific criteria while being relevant to the user's
        context"). Difference: words are compared by stem, meaning is not.
    """

    name = "scripted"

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        """Return one verdict for each pending item; never unscored."""
        scenario = request.scenario
        analysis = analyse(request.assistant_message)
        if is_echo(analysis.words, request.user_message) or is_echo(analysis.words, scenario.opening_message):
            return (_NO,) * len(request.pending)
        cues = compile_scenario(scenario)
        asked = cues.asked_items(analysis)
        compact = not analysis.too_long and analysis.num_words <= MAX_ADVICE_WORDS
        verdicts = []
        for i in request.pending:
            if cues.kinds[i] == "ask":
                met = i in asked
            else:
                met = (
                    compact
                    and cues.item_facts[i] in request.disclosed
                    and cues.advised(i, request.assistant_message)
                    and analysis.num_questions <= 2
                )
            verdicts.append(_YES if met else _NO)
        return tuple(verdicts)
