"""A few steps of GRPO with SmolLM2 in InfoQuest: whether it runs, how long a step takes, and what was earned.

This is not a training result: a handful of steps on a CPU changes nothing. Run: ``python -m benchmarks.grpo_smollm2``.
"""

import argparse
import tempfile
import time
from pathlib import Path
from statistics import mean

from benchmarks.common import write_result
from elicit_gym.agents import load_policy
from elicit_gym.agents.local_model import load_model
from elicit_gym.agents.training.grpo import train_grpo
from elicit_gym.agents.training.settings import GRPOSettings
from elicit_gym.rollout.storage import load_run
from elicit_gym.types import Message
from tests.smollm2 import smollm2_folder


def main() -> None:
    """Train, load the policy, write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4)
    options = parser.parse_args()
    settings = GRPOSettings(
        max_steps=options.steps, batch_size=8, num_generations=4, max_new_tokens=32, policy_lr=1e-4, temperature=1.0
    )
    env_kwargs = {"max_turns": 4, "split": "train"}
    model, tokenizer = load_model(str(smollm2_folder()), dtype="float32")
    with tempfile.TemporaryDirectory() as folder:
        start = time.perf_counter()
        log = train_grpo(model.train(), tokenizer, folder, env_kwargs=env_kwargs, settings=settings)
        seconds = time.perf_counter() - start
        records, _ = load_run(Path(folder) / "episodes")
        policy = load_policy(str(Path(folder) / "best"))
        said = policy.act((Message(role="user", content="Could you help me pick the right one?"),))
    rows = [row for row in log["steps"] if "reward" in row]
    write_result(
        "grpo_smollm2",
        {
            "model": "SmolLM2-135M-Instruct, float32, CPU",
            "steps": len(rows),
            "conversations_a_step": settings.batch_size,
            "turns": env_kwargs["max_turns"],
            "seconds_a_step": round(seconds / len(rows), 1),
            "conversations": len(records),
            "failed": sum(record.failure is not None for record in records),
            "mean_return_by_step": [round(row["reward"], 3) for row in rows],
            "loss_by_step": [round(row["loss"], 5) for row in rows],
            "gradient_norm_by_step": [round(row["grad_norm"], 4) for row in rows],
            "mean_return": round(mean(record.episode.total_reward for record in records), 3),
            "the_trained_policy_says": said,
        },
    )


if __name__ == "__main__":
    main()
