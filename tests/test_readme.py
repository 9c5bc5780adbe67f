"""The README's code runs, prints what it says it prints, and its numbers are the measured ones."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from elicit_gym.reporting.page import format_estimate
from elicit_gym.statistics.estimates import Estimate
from tests.conftest import ROOT
from tests.fault_server import FaultServer

PILOT_COLUMNS = (("perplexity", 1), ("response_length", 1), ("progression", 3), ("turn_length_ratio", 2))
FORMS = ("good", "contrary", "negated", "echo")
CLUSTERS = ("7", "10", "20", "40")
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```(?:\n\n```text\n(.*?)```)?", README, re.DOTALL)


@pytest.mark.parametrize(("code", "output"), BLOCKS, ids=[f"block{i}" for i in range(len(BLOCKS))])
def test_code_blocks_run(code: str, output: str, tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    if output:
        assert done.stdout == output


def test_there_are_code_blocks_and_the_first_shows_its_output() -> None:
    assert len(BLOCKS) >= 2
    assert BLOCKS[0][1]
    assert len(BLOCKS[0][0].strip().splitlines()) <= 12


def test_ci_runs_the_test_command_as_it_stands() -> None:
    commands = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
    assert commands[0].strip() == "python -m pip install . && elicit-gym compare"
    assert commands[1].strip() == 'python -m pip install ".[dev]" && python -m pytest'
    assert commands[1].strip() in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_the_example_with_models_runs_as_it_stands(tmp_path: Path, paper_example: Path) -> None:
    """Against local servers in the place of the providers; only the judge's port is this test's own."""
    (command,) = (c for c in re.findall(r"```bash\n(.*?)```", README, re.DOTALL) if "--budget-usd" in c)
    assert " --dry-run" in command
    with FaultServer(tokens=lambda messages, text: (400, 60)) as server:
        typed = command.replace("\\\n", " ").replace("localhost:8000", f"127.0.0.1:{server.port}")
        env = {
            **os.environ, "OPENAI_API_KEY": "key-of-openai", "GEMINI_API_KEY": "key-of-gemini", "COLUMNS": "200",
            "OPENAI_BASE_URL": server.api_base, "GEMINI_API_BASE": f"http://127.0.0.1:{server.port}/v1beta",
            "ELICIT_GYM_DATA": str(paper_example),
        }  # fmt: skip

        def run(words: list[str]) -> subprocess.CompletedProcess[str]:
            module = [sys.executable, "-m", "elicit_gym.cli", *words]
            return subprocess.run(module, capture_output=True, text=True, check=False, cwd=tmp_path, env=env)

        _, *words = shlex.split(typed)
        estimate = run(words)
        assert estimate.returncode == 0, estimate.stderr
        assert "unknown" not in estimate.stdout
        assert not server.bodies
        done = run([word for word in words if word != "--dry-run"])
        assert done.returncode == 0, done.stderr
        asked = {body["model"] for body in server.bodies}
        spent = server.tokens_spent
    assert len(asked) == 3  # two policies, one of which plays the user, too; and the judge
    folder = tmp_path / "elicit-gym-runs" / "001"
    summary = json.loads((folder / "summary.json").read_text())
    assert [row["num_episodes"] for row in summary["policies"]] == [6, 6]
    assert summary["stopped"] is None
    assert sum(row["input_tokens"] + row["output_tokens"] for row in summary["usage"]) == spent
    assert all(row["cost_usd"] is not None for row in summary["usage"])
    assert (folder / "run.yaml").is_file()
    # Without a price for the server of one's own, the budget is refused before the first call, and says what to do.
    unpriced = [word for word in words if word not in ("--dry-run", "--price", "judge=0/0")]
    for more in ([], ["--dry-run"]):
        refused = run([*unpriced, *more])
        assert refused.returncode == 2
        assert "--price judge=IN/OUT" in refused.stderr
    assert not (tmp_path / "elicit-gym-runs" / "002").exists()


def _credited(kinds: dict[str, Any], form: str) -> str:
    cells = [kinds[kind][form] for kind in ("ask", "advice")]
    return f"{sum(c['credited'] for c in cells)} of {sum(c['sentences'] for c in cells)}"


def _covered(truth: dict[str, Any], estimator: str) -> str:
    hits = [
        round(truth["num_datasets"] * target["estimators"][estimator]["coverage"])
        for target in truth["targets"].values()
    ]
    return f"{min(hits)} to {max(hits)}"


def test_numbers_are_read_from_the_results() -> None:
    results = {
        path.stem: json.loads(path.read_text(encoding="utf-8")) for path in (ROOT / "benchmarks/results").glob("*.json")
    }
    throughput = results["env_throughput"]
    offline, windows = results["offline_pipeline"], results["yield_sample"]["windows"]
    training = results["train_throughput"]
    pilot, evaluation = results["yield_pilot"], results["evaluation_throughput"]
    peers, flat, grpo = results["peers"], results["flatness"], results["grpo_smollm2"]
    coverage, faults, truth = results["interval_coverage"], results["user_faults"], results["ope_truth"]
    scored = evaluation["perplexity"]
    blind, derived = (results["judge_agreement"][judge] for judge in ("scripted", "scripted_derived"))
    points = results["llm_rollout_throughput"]["points"]
    by_length = throughput["microseconds_a_step_by_history_length"]
    for expected in (
        f"{throughput['steps_per_second']:,}",
        f"agrees with blind labels at a kappa of {derived['kappa']:.2f} on the bundled",
        f"({blind['pairs']:,} pairs of message and item), Cohen's kappa is {blind['kappa']:.2f}",
        f"against blind labels ({blind['pairs']:,} pairs), Cohen's kappa | {blind['kappa']:.2f} |",
        f"{by_length['turns_5_to_55']:.0f} / {by_length['turns_900_to_1000']:.0f}",
        " / ".join(f"{value:.0f} MiB" for value in throughput["memory"].values()),
        f"{offline['ner']['ours_2_processes_tokens_per_second']:,}, {offline['ner']['ours_2_processes_of_plain']}×",
        f"{offline['open']['seconds']} s, {offline['open']['mib_peak']:.0f} MiB; {offline['json_load']['seconds']} s",
        *(f"| {row['segments']:,} / " for row in (*windows["by_domain"].values(), windows["total"])),
        *(f"| {row['tokens_a_segment']:.1f} / " for row in (*windows["by_domain"].values(), windows["total"])),
        *(f"| {row['reward_mean']:.1f} / " for row in (*windows["by_domain"].values(), windows["total"])),
        *(f"| {row['return_to_go_mean']:.1f} / " for row in (*windows["by_domain"].values(), windows["total"])),
        "{tokens_a_segment:.1f}, {reward_mean:.1f} and {return_to_go_mean:.1f}".format(**windows["over_windows"]),
        f"{results['yield_sample']['corpus']['total']['tokens_a_turn']:.1f} tokens per turn",
        f"{training['awr_of_trl_sft']}× / {training['awr_of_plain']}×; {training['awr_peak_of_plain']}",
        f"{scored['ours_of_package_as_shipped']}× / {scored['ours_of_package_loop']}×; "
        f"{evaluation['progression']['ours_of_package']}×",
        *(
            format_estimate(Estimate(**pilot["tables"][metric][row]["all"]), digits)
            for metric, digits in PILOT_COLUMNS
            for row in ("real", "base", "prompted", "SFT", "AWR")
            if row in pilot["tables"][metric]
        ),
        *(
            format_estimate(Estimate(**pilot["infoquest"]["policies"][row]["return"]))
            for row in ("base", "prompted", "SFT", "AWR")
        ),
        *(
            f"{row['value']:.2f}× [{row['low']:.2f}, {row['high']:.2f}]"
            for row in pilot["differences"]
            if (row["first"], row["metric"]) == ("base", "perplexity_ratio") and row["second"] in ("SFT", "AWR")
        ),
        f"{len(coverage['required'])} populations",
        " / ".join(_credited(results["contrast_pairs"]["scripted"], form) for form in FORMS),
        f"{faults['dialogues']} dialogues on test scenarios calls faulty | {faults['faulty']} of {faults['replies']} |",
        f"in {_covered(truth, 'weighted')} of {truth['num_datasets']}\ndatasets, its doubly robust one in "
        f"{_covered(truth, 'doubly_robust')}",
        *(
            " / ".join("{:.3f}–{:.3f}".format(*coverage["least_and_most_where_required"][k][m]) for k in CLUSTERS)
            for m in ("package", "percentile")
        ),
        f"{grpo['conversations_a_step']} conversations | {grpo['seconds_a_step']} |",
        f"| {peers['steps_per_second']['elicit_gym']:,} / ",
        *(f"| {row['elicit_gym']} / {row['verifiers']} / " for row in peers["rollouts_per_second"]),
        f"{flat['concurrent']['episodes']:,}, {flat['concurrent']['lost']}, {flat['concurrent']['doubled']};",
        f"{min(p['ours_litellm_rate_of_bare'] for p in points):.2f}; {max(p['own_cpu_ms_a_call'] for p in points):.2f} ms",
    ):
        assert expected in README, expected


def test_images_exist() -> None:
    for target in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / target).is_file()
