"""The comparison's tables keep their shape at every width."""

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
    print_scenario_stats,
    print_usage,
)
from elicit_gym.evaluation.usage import UsageRow
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.stats import scenario_stats
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
    head = next(line for line in lines if "policy" in line and "┃" in line)
    assert [part.strip() for part in head.strip("┃").split("┃")] == [
        "policy", "mean return", "worst 25 %", "success", "turns to it",
    ]  # fmt: skip
    for name in BASELINES:
        assert any(line.startswith(f"│ {name} ") for line in lines)
    assert "episodes: 20 in every row." in lines
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
    result = rejudge(comparison.records, load_scenarios(), ScriptedJudge())
    check_widths(lambda console: print_rejudged(result, console))
    floor = noise_floor(load_policy("random"), repeats=2, env_kwargs={"split": "test"})
    check_widths(lambda console: print_noise_floor(floor, console))


def test_scenarios() -> None:
    stats = scenario_stats(load_scenarios())

    def show(console: Console) -> None:
        print_scenario_stats(stats, "a/long/path/to/a/folder/with/my/own/scenarios.jsonl", console)

    check_widths(show)
    assert "what" not in shown(show, 80)
