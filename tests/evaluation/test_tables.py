"""Tables keep their shape at every width, and say which numbers cannot carry an interval or a test."""

import pytest
from rich.console import Console

from elicit_gym import Comparison, compare, load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.evaluation.noise_floor import noise_floor
from elicit_gym.evaluation.rejudge import rejudge
from elicit_gym.evaluation.tables import (
    print_comparison,
    print_noise_floor,
    print_rejudged,
    print_usage,
)
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.reporting.footnotes import Footnotes
from elicit_gym.reporting.page import format_estimate
from elicit_gym.rewards import ChecklistGain
from elicit_gym.rollout.usage import UsageRow
from elicit_gym.statistics.estimates import Estimate
from elicit_gym.statistics.significance import PairedTest
from elicit_gym.types import ChatHistory
from tests.widths import check_widths, shown

BASELINES = ("naive", "ask-many", "ask-one", "random", "adaptive", "oracle")


class LongName:
    """Fails whenever it is asked."""

    name = "litellm:some-provider/a-model-with-a-long-name+clarify"

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        if len(history) > 3:
            raise RuntimeError("The server at https://an-address.example.org/v1/chat/completions [1.00, 2.00] is away.")
        return "What is your goal?"


@pytest.fixture(scope="module")
def comparison() -> Comparison:
    return compare([load_policy(name) for name in BASELINES], repeats=1, env_kwargs={"split": "test"})


@pytest.mark.parametrize("long", [False, True])
def test_the_comparison(comparison: Comparison, long: bool) -> None:
    if long:
        comparison = compare([load_policy("naive"), LongName()], repeats=1, env_kwargs={"split": "test"})
    check_widths(lambda console: print_comparison(comparison, console))


def test_at_80_columns_the_baselines_are_a_table_with_every_name_and_number(comparison: Comparison) -> None:
    lines = shown(lambda console: print_comparison(comparison, console), 80).splitlines()
    assert any(line.startswith("┃ policy") for line in lines)
    for name in BASELINES:
        assert any(line.startswith(f"│ {name} ") for line in lines)
    wide = shown(lambda console: print_comparison(comparison, console), 200).splitlines()
    assert sum(line.startswith("│") for line in wide) == len(BASELINES) + len(comparison.pairs)


def test_what_was_spent() -> None:
    models = ("gemini/gemini-2.0-flash", "hosted_vllm/AtlaAI/Selene-1-Mini-Llama-3.1-8B")
    rows = [
        UsageRow(policy="litellm:openai/gpt-4o-mini", seat=seat, model=model, calls=24_000, input_tokens=31_234_567,
                 output_tokens=1_234_567, cost_usd=cost)
        for seat, model, cost in (("user_simulator", models[0], 12.5), ("judge", models[1], None))
    ]  # fmt: skip
    check_widths(lambda console: print_usage(rows, console))


def test_another_judge_and_the_noise_floor(comparison: Comparison) -> None:
    result = rejudge(
        comparison.records, load_scenarios(split="test"), ScriptedJudge(), reward=ChecklistGain(), max_turns=10
    )
    check_widths(lambda console: print_rejudged(result, console))
    floor = noise_floor(load_policy("random"), repeats=2, env_kwargs={"split": "test"})
    check_widths(lambda console: print_noise_floor(floor, console))


@pytest.fixture(scope="module")
def few() -> Comparison:
    ids = [scenario.id for scenario in load_scenarios()[:6]]
    return compare([load_policy("ask-one"), load_policy("oracle")], scenario_ids=ids)


def printed(capsys: pytest.CaptureFixture[str]) -> str:
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
    assert notes.estimate(few) == "1.23¹"
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
    out = printed(capsys)
    assert "0.000¹ │ unknown" in out
    assert "¹ no interval: all 6 opening messages alike" in out
    assert "is what chance alone does" not in out


def test_rejudged_over_few_opening_messages(few: Comparison, capsys: pytest.CaptureFixture[str]) -> None:
    result = rejudge(few.records, load_scenarios(), ScriptedJudge(), reward=ChecklistGain(), max_turns=10)
    print_rejudged(result, Console(width=200))
    out = capsys.readouterr().out
    assert "1.000¹" in out
    assert "¹ no interval: 3 opening messages" in out
