"""Training speed and memory: our AWR, SFT through TRL, and a plain AWR loop that pads to 512 and takes full logits.

The same model (SmolLM2-135M-Instruct in float32), the same adapter and windows (of YIELD's real 1 % sample, of all
lengths up to 512 tokens), batches of four, one epoch; each in its own process, one after the other. Tokens are the
windows' own, without padding. Run from the repository root: ``python -m benchmarks.train_throughput``.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random
from typing import Any

from benchmarks.common import write_result
from elicit_gym.agents.batch import Batch, collate
from elicit_gym.agents.local_model import load_model
from elicit_gym.agents.training.awr import train_awr
from elicit_gym.agents.training.data import encode_windows
from elicit_gym.agents.training.settings import AWRSettings, SFTSettings, lora_config
from elicit_gym.agents.training.sft import train_sft
from elicit_gym.offline.load_dataset import load_dataset
from elicit_gym.offline.windows import Window, WindowRules, chat_template_counter
from tests.smollm2 import smollm2_folder

WIDTH = 512
CONTESTANTS = ("plain", "trl_sft", "awr")


def sample_windows(path: Path, tokenizer: Any, count: int) -> list[Window]:
    """Return windows with returns, drawn evenly over the sample."""
    dataset = load_dataset("yield/all-v1", path=path, split="train", reward="new_content_words")
    rules = WindowRules(max_tokens=WIDTH, count_tokens=chat_template_counter(tokenizer))
    return Random(0).sample(list(dataset.windows(rules)), count)


def train_plain(model: Any, tokenizer: Any, windows: list[Window], settings: AWRSettings) -> None:
    """Train by AWR in the plainest way: pad all to 512, take all logits."""
    import torch
    from peft import get_peft_model

    model = get_peft_model(model, lora_config(model, settings))
    head = torch.nn.Linear(model.config.hidden_size, 1)
    optimizer = torch.optim.AdamW([p for p in [*model.parameters(), *head.parameters()] if p.requires_grad], lr=1e-5)
    encoded = encode_windows(windows, tokenizer, max_length=None)
    for start in range(0, len(encoded), settings.batch_size):
        batch = _padded(collate(encoded[start : start + settings.batch_size], 0), WIDTH)
        attention = torch.zeros_like(batch.input_ids)  # windows are padded on the right
        for row, encoded_row in enumerate(encoded[start : start + settings.batch_size]):
            attention[row, : len(encoded_row.input_ids)] = 1
        out = model(batch.input_ids, attention_mask=attention, output_hidden_states=True)
        log_probs = out.logits[:, :-1].log_softmax(-1).gather(2, batch.input_ids[:, 1:, None]).squeeze(2)
        action = (batch.actions > 0).long()
        mask = action[:, 1:]
        ends = WIDTH - 1 - action.flip(1).argmax(1)
        values = head(out.hidden_states[-1][torch.arange(len(ends)), ends]).squeeze(1)
        weights = ((batch.returns - values.detach()) * settings.alpha).exp()
        weights = weights / weights.mean()
        policy = -(weights * (log_probs * mask).sum(1) / mask.sum(1)).mean()
        (policy + ((values - batch.returns) ** 2).mean()).backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()


def _padded(batch: Batch, width: int) -> Batch:
    from torch.nn.functional import pad

    missing = width - batch.input_ids.shape[1]
    return Batch(pad(batch.input_ids, (0, missing)), pad(batch.actions, (0, missing)), batch.returns)


def run_one(name: str, path: Path, count: int) -> dict[str, float]:
    """Train once in this process; return seconds, tokens and memory."""
    import torch

    torch.manual_seed(0)
    model, tokenizer = load_model(str(smollm2_folder()), dtype="float32")
    windows = sample_windows(path, tokenizer, count)
    tokens = sum(len(example.input_ids) for example, _ in encode_windows(windows, tokenizer, max_length=None))
    before = _mib("VmRSS")
    model.train()
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        if name == "plain":
            train_plain(model, tokenizer, windows, AWRSettings())
        elif name == "awr":
            train_awr(model, tokenizer, windows, out)
        else:
            train_sft(model, tokenizer, windows, out, settings=SFTSettings())
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "tokens": tokens, "mib_before": before, "mib_peak": _mib("VmHWM")}


def _mib(name: str) -> float:
    with Path("/proc/self/status").open(encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(name)) / 1024


def main() -> None:
    """Run each contestant in a fresh process and write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--path", type=Path, default=Path("../shared/data/yield-v1-small1pct"))
    parser.add_argument("--windows", type=int, default=24)
    parser.add_argument("--one", choices=CONTESTANTS, help="Run only this contestant and print its numbers (internal).")
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_one(options.one, options.path, options.windows)))
        return
    found: dict[str, Any] = {}
    for name in CONTESTANTS:
        command = [sys.executable, "-m", "benchmarks.train_throughput", "--one", name]
        command += ["--path", str(options.path), "--windows", str(options.windows)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        row = json.loads(done.stdout.strip().splitlines()[-1])
        found[name] = {
            "tokens_per_second": round(row["tokens"] / row["seconds"], 1),
            "mib_peak": round(row["mib_peak"]),
            "mib_grown": round(row["mib_peak"] - row["mib_before"]),
        }
    rate = {name: row["tokens_per_second"] for name, row in found.items()}
    write_result(
        "train_throughput",
        {
            "model": "SmolLM2-135M-Instruct, float32, CPU",
            "windows": options.windows,
            "tokens_a_window": round(row["tokens"] / options.windows, 1),
            "contestants": found,
            "awr_of_plain": round(rate["awr"] / rate["plain"], 2),
            "awr_of_trl_sft": round(rate["awr"] / rate["trl_sft"], 2),
            "awr_peak_of_plain": round(found["awr"]["mib_peak"] / found["plain"]["mib_peak"], 2),
            "awr_growth_of_plain": round(found["awr"]["mib_grown"] / found["plain"]["mib_grown"], 2),
        },
    )


if __name__ == "__main__":
    main()
