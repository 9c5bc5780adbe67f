"""Steps per second of the scripted environment on one core, cost against history length, and memory over episodes.

Messages are new at every step (a number is put into each), so that no cache of earlier messages can answer for them.
"""

import resource
import time
from statistics import median

import gymnasium as gym
from common import write_result

import elicit_gym  # noqa: F401 - registers the environments
from elicit_gym.agents.baselines import QUESTION_BANK

ENV = "elicit_gym/InfoQuest-v0"


def steps_per_second(max_turns: int = 10, seconds: float = 5.0) -> float:
    env = gym.make(ENV, max_turns=max_turns)
    env.reset(seed=0)
    count = 0
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        _, _, terminated, truncated, _ = env.step(QUESTION_BANK[count % 10].replace("?", f" ({count})?"))
        count += 1
        if terminated or truncated:
            env.reset()
    return count / (time.perf_counter() - start)


def cost_by_history(max_turns: int = 2_000) -> dict[str, float]:
    """Return the microseconds per step near the start and the end of one very long conversation."""
    env = gym.make(ENV, max_turns=max_turns).unwrapped
    times = [0.0] * max_turns
    env.reset(seed=0, options={"scenario_id": "00-a"})
    for i in range(max_turns):
        start = time.perf_counter()
        _, _, terminated, truncated, _ = env.step(f"Is it number {i}?")
        times[i] = 1e6 * (time.perf_counter() - start)
        if terminated or truncated:
            break
    return {
        f"turns_{a}_to_{b}": round(median(times[a:b]), 2) for a, b in ((5, 55), (50, 100), (900, 1000), (1890, 1990))
    }


def memory_growth(episodes: int = 10_000) -> dict[str, float]:
    """Return the peak memory in MiB after a tenth of the episodes and after all."""
    env = gym.make(ENV)
    seen = {}
    for episode in range(episodes):
        env.reset(seed=episode)
        for turn in range(10):
            _, _, terminated, truncated, _ = env.step(QUESTION_BANK[turn].replace("?", f" ({episode})?"))
            if terminated or truncated:
                break
        if episode + 1 in (episodes // 10, episodes):
            seen[f"peak_mib_after_{episode + 1}_episodes"] = round(
                resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1
            )
    return seen


if __name__ == "__main__":
    runs = sorted(steps_per_second() for _ in range(3))
    write_result(
        "env_throughput",
        {
            "steps_per_second": round(median(runs)),
            "steps_per_second_runs": [round(run) for run in runs],
            "aim_steps_per_second": 20_000,
            "microseconds_a_step_by_history_length": cost_by_history(),
            "memory": memory_growth(),
        },
    )
