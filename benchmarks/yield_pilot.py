"""YIELD's pilot in miniature: SmolLM2 prompted, after SFT and after AWR, on the real 1 % sample and in InfoQuest.

Training: the sample's training windows (at most 512 tokens), one epoch, the paper's adapter; the learning rate is
higher than the paper's because there are 173 steps here and some 20,000 there. Evaluation: the test windows of the
sample and of the released fine-tuning sample, which holds other dialogues (the windows' rules applied to both). Then
the same policies in ``elicit_gym/InfoQuest-v0``. Hours on two cores; what is trained already in ``--work`` is not
trained again. Run from the repository root: ``python -m benchmarks.yield_pilot``.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from elicit_gym.agents.awr import AWRConfig, train_awr
from elicit_gym.agents.local_model import load_model
from elicit_gym.agents.sft import train_sft
from elicit_gym.agents.training_settings import TrainingSettings
from elicit_gym.offline.load_windows import load_windows
from elicit_gym.rollout.storage import write_json
from tests.smollm2 import smollm2_folder

DATA = Path("../shared/data")
SAMPLE = "yield-v1-small1pct"
LEARNING_RATE = 2e-4
ONLINE_SYSTEM = "Act as an information elicitation agent for everyday problems."


def train(work: Path) -> dict[str, Any]:
    """Train both policies where they are not trained yet; minutes and losses."""
    shared: dict[str, Any] = {"policy_lr": LEARNING_RATE, "eval_every": 87}
    found: dict[str, Any] = {"learning_rate": LEARNING_RATE}
    for name in ("awr", "sft"):
        out = work / name
        if not (out / "log.json").is_file() or not (out / "minutes.json").is_file():
            network, tokenizer = load_model(str(smollm2_folder()), dtype="float32")
            chosen: dict[str, Any] = {"path": DATA / SAMPLE, "cache": work / "entities.sqlite", "tokenizer": tokenizer}
            windows = load_windows("yield/all-v1", "train", **chosen)
            dev = load_windows("yield/all-v1", "dev", **chosen)
            start = time.perf_counter()
            if name == "sft":
                train_sft(network.train(), tokenizer, windows, out, dev=dev, settings=TrainingSettings(**shared))
            else:
                config = AWRConfig(**shared, save_every=87)
                train_awr(network.train(), tokenizer, windows, out, dev=dev, config=config, progress=True)
            minutes = (time.perf_counter() - start) / 60
            write_json(out / "minutes.json", {"minutes": round(minutes, 1), "windows": len(windows), "dev": len(dev)})
        found[name] = json.loads((out / "minutes.json").read_text(encoding="utf-8"))
    return found


def main() -> None:
    """Train, evaluate, play, write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", type=Path, default=Path("pilot"), help="Folder for the trained policies.")
    parser.add_argument("--train-only", action="store_true")
    options = parser.parse_args()
    trained = train(options.work)
    if options.train_only:
        print(json.dumps(trained))
        return


if __name__ == "__main__":
    main()
