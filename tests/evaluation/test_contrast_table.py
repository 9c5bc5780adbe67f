"""The table of contrast sentences."""

from dataclasses import replace

from elicit_gym.errors import ModelFailure
from elicit_gym.evaluation.contrast import contrast
from elicit_gym.evaluation.contrast_table import print_contrast
from elicit_gym.judges.scripted import ScriptedJudge
from tests.widths import check_widths, shown


def test_each_judge_has_a_row_for_each_kind_and_its_mistakes_are_listed() -> None:
    result = contrast(ScriptedJudge())
    silent = replace(result, judge="silent", unscored=272, failure=ModelFailure("503"))
    check_widths(lambda console: print_contrast([result, silent], console, wrong=2))
    text = shown(lambda console: print_contrast([result, silent], console, wrong=2), 200)
    good = f"{result.credited['advice', 'good']} of {result.num['advice', 'good']}"
    assert sum(good in line for line in text.splitlines() if "│ advice" in line) == 2
    sentence, _ = result.wrong[0]
    assert sentence.request.assistant_message in text
    assert "silent: 272 sentences are unscored and count as not credited. First failure: 503" in text
