"""What a terminal shows of numbers that cannot carry an interval or a test."""

import pytest
from rich.console import Console

from elicit_gym import Comparison, compare, load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.evaluation.noise_floor import noise_floor
from elicit_gym.evaluation.rejudge import rejudge
from elicit_gym.evaluation.tables import print_comparison, print_noise_floor, print_rejudged
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.reporting.footnotes import Footnotes
from elicit_gym.reporting.page import format_estimate
from elicit_gym.statistics.estimates import Estimate
from elicit_gym.statistics.significance import PairedTest


@pytest.fixture(scope="module")
def few() -> Comparison:
    ids = [scenario.id for scenario in load_scenarios()[:6]]
    return compare([load_policy("ask-one"), load_policy("oracle")], scenario_ids=ids)


def shown(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_estimates_in_words() -> None:
    known = Estimate(value=1.234, low=1.0, high=2.0)
    few = Estimate(value=1.234, reason="no interval: 3 interviews")
    nothing = Estimate(value=None, reason="nothing measured")
    assert format_estimate(known) == "1.23 [1.00, 2.00]"
    assert format_estimate(few, 1) == "1.2 (no interval: 3 interviews)"
    assert format_estimate(nothing) == "–"
    notes = Footnotes()
    assert notes.estimate(known) == "1.23 [1.00, 2.00]"
    assert notes.estimate(known, lines=2) == "1.23\n[1.00, 2.00]"
    assert notes.estimate(few) == notes.estimate(few, lines=2) == "1.23¹"
    assert notes.estimate(nothing) == "–²"
    assert notes.test(PairedTest(p_value=None, reason="cannot be significant with 3 interviews")) == "none³"
    assert notes.test(PairedTest(p_value=0.01, p_corrected=0.02)) == "0.020"
    console = Console(width=80)
    with console.capture() as captured:
        notes.print(console)
    assert captured.get().splitlines() == [
        "¹ no interval: 3 interviews", "² nothing measured", "³ cannot be significant with 3 interviews",
    ]  # fmt: skip


@pytest.mark.parametrize("width", [60, 80, 200])
def test_a_comparison_over_three_opening_messages(
    few: Comparison, width: int, capsys: pytest.CaptureFixture[str]
) -> None:
    print_comparison(few, Console(width=width))
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    assert "¹ no interval: 3 opening messages" in out
    assert out.count("5.00¹") == 2  # mean return and worst quarter
    assert "none² " in out
    assert "² cannot be significant with 3 opening messages" in out
    assert "nan" not in out.lower()


def test_a_noise_floor_without_noise(capsys: pytest.CaptureFixture[str]) -> None:
    ids = [scenario.id for scenario in load_scenarios()[:12]]
    print_noise_floor(noise_floor(load_policy("ask-one"), scenario_ids=ids, repeats=1), Console(width=200))
    out = shown(capsys)
    assert "0.000¹ │ unknown" in out
    assert "¹ no interval: all 6 opening messages alike" in out
    assert "is what chance alone does" not in out


def test_rejudged_over_few_opening_messages(few: Comparison, capsys: pytest.CaptureFixture[str]) -> None:
    print_rejudged(rejudge(few.records, load_scenarios(), ScriptedJudge()), Console(width=200))
    out = capsys.readouterr().out
    assert "1.000¹" in out
    assert "¹ no interval: 3 opening messages" in out
