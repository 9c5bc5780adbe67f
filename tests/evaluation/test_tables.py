"""What a terminal shows of numbers that cannot carry an interval or a test."""

import pytest
from rich.console import Console

from elicit_gym import Comparison, compare, load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.evaluation.noise_floor import noise_floor
from elicit_gym.evaluation.page import format_estimate
from elicit_gym.evaluation.rejudge import rejudge
from elicit_gym.evaluation.statistics import Estimate
from elicit_gym.evaluation.tables import estimate_cell, print_comparison, print_noise_floor, print_rejudged
from elicit_gym.judges.scripted import ScriptedJudge


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
    assert estimate_cell(known) == "1.23\n[1.00, 2.00]"
    assert estimate_cell(few) == "1.23\n(no interval:\n3 interviews)"


def test_a_comparison_over_three_opening_messages(few: Comparison, capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(few, Console(width=200))
    out = capsys.readouterr().out
    assert "(no interval:" in out
    assert "3 opening messages)" in out
    assert "cannot be significant with 3 opening messages" in out
    assert "nan" not in out.lower()


@pytest.mark.parametrize("width", [80, 200])
def test_the_page_says_so_too(few: Comparison, width: int, capsys: pytest.CaptureFixture[str]) -> None:
    print_comparison(few, Console(width=width))
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    assert "opening" in out


def test_a_noise_floor_without_noise(capsys: pytest.CaptureFixture[str]) -> None:
    ids = [scenario.id for scenario in load_scenarios()[:12]]
    print_noise_floor(noise_floor(load_policy("ask-one"), scenario_ids=ids, repeats=1), Console(width=200))
    out = shown(capsys)
    assert "0.000 (no interval: all 6 opening messages alike) │ unknown" in out
    assert "is what chance alone does" not in out


def test_rejudged_over_few_opening_messages(few: Comparison, capsys: pytest.CaptureFixture[str]) -> None:
    print_rejudged(rejudge(few.records, load_scenarios(), ScriptedJudge()), Console(width=200))
    out = capsys.readouterr().out
    assert "(no interval:" in out
    assert "1.000" in out
