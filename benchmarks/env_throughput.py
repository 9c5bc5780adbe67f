"""Steps per second of the scripted environment on one core, cost against history length, and memory over episodes.

Messages are new at every step (a number is put into each), so that no cache of earlier messages can answer for them.

``--beside TREE`` measures another checkout in the same run, one after the other and again, in processor time, since
the machine may do other work meanwhile: ``git worktree add TREE COMMIT`` makes one.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium as gym
from common import write_result

import elicit_gym
from elicit_gym import collect_episodes
from elicit_gym.agents.baselines import QUESTION_BANK, AskOne

ENV = "elicit_gym/InfoQuest-v0"
NUM_ENVS = 64
RUNS = 5


def steps_per_second(seconds: float = 5.0, clock: Any = time.perf_counter) -> float:
    env = gym.make(ENV)
    env.reset(seed=0)
    count = 0
    start = clock()
    while clock() - start < seconds:
        _, _, terminated, truncated, _ = env.step(QUESTION_BANK[count % 10].replace("?", f" ({count})?"))
        count += 1
        if terminated or truncated:
            env.reset()
    return count / (clock() - start)


def vector_steps_per_second(seconds: float = 5.0, clock: Any = time.perf_counter) -> float:
    envs = gym.make_vec(ENV, num_envs=NUM_ENVS)
    envs.reset(seed=0)
    count = 0
    start = clock()
    while clock() - start < seconds:
        envs.step([QUESTION_BANK[i % 10].replace("?", f" ({i})?") for i in range(count, count + NUM_ENVS)])
        count += NUM_ENVS
    return count / (clock() - start)


def cost_by_history(max_turns: int = 3_000) -> dict[str, float]:
    """Microseconds a step near the start and the end of one very long conversation."""
    env = gym.make(ENV, max_turns=max_turns).unwrapped
    times = [0.0] * max_turns
    env.reset(seed=0, options={"scenario_id": "00-a"})
    for i in range(max_turns):
        start = time.perf_counter()
        _, _, terminated, truncated, _ = env.step(f"Is it number {i}?")
        times[i] = 1e6 * (time.perf_counter() - start)
        if terminated or truncated:
            break
    spans = ((5, 55), (50, 100), (900, 1000), (1890, 1990), (2890, 2990))
    return {f"turns_{a}_to_{b}": round(median(times[a:b]), 2) for a, b in spans}


def rollouts_by_length() -> dict[str, float]:
    """Microseconds a turn of five saved episodes: policy, environment, records and file."""
    ids = [f"{i:02}-a" for i in range(5)]
    costs = {}
    for turns in (100, 1_000, 3_000):
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            records = collect_episodes(
                AskOne(), scenario_ids=ids, env_kwargs={"max_turns": turns, "judge": "scripted"}, out=f"{folder}/run"
            )
            seconds = time.process_time() - start
        costs[f"{turns}_turns"] = round(1e6 * seconds / sum(len(record.episode.turns) for record in records), 2)
    return costs


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


def once(seconds: float) -> dict[str, Any]:
    """Measure this checkout in processor time."""
    return {
        "package": elicit_gym.__file__,
        "single": round(steps_per_second(seconds, time.process_time)),
        "vector": round(vector_steps_per_second(seconds, time.process_time)),
    }


def beside(tree: Path, seconds: float) -> dict[str, Any]:
    """Measure both checkouts alternately, each in a process of its own."""
    here = Path(__file__).resolve().parent.parent
    runs: dict[str, list[dict[str, Any]]] = {"there": [], "here": []}
    for i in range(RUNS):
        for name in ("there", "here") if i % 2 else ("here", "there"):
            root = tree.resolve() if name == "there" else here
            done = subprocess.run(
                [sys.executable, __file__, "--once", str(seconds)],
                env={**os.environ, "PYTHONPATH": str(root)}, cwd=root, capture_output=True, text=True, check=True,
            )  # fmt: skip
            measured = json.loads(done.stdout)
            assert Path(measured.pop("package")).is_relative_to(root)
            runs[name].append(measured)
    head = ["git", "rev-parse", "HEAD"]
    ratios = {}
    for kind in ("single", "vector"):
        pairs = [h[kind] / t[kind] for h, t in zip(runs["here"], runs["there"], strict=True)]
        ratios[kind] = {"median": round(median(pairs), 3), "runs": [round(ratio, 3) for ratio in pairs]}
    commit = subprocess.run(head, cwd=tree, capture_output=True, text=True, check=True).stdout.strip()
    return {"there_commit": commit, "steps_per_cpu_second": runs, "ratio_here_to_there": ratios}


def main() -> None:
    """Measure this checkout, or both."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--beside", type=Path)
    parser.add_argument("--once", type=float)
    parser.add_argument("--seconds", type=float, default=5.0)
    options = parser.parse_args()
    if options.once is not None:
        print(json.dumps(once(options.once)))
        return
    if options.beside is not None:
        write_result("env_throughput_beside", beside(options.beside, options.seconds))
        return
    runs = sorted(steps_per_second(options.seconds) for _ in range(3))
    write_result(
        "env_throughput",
        {
            "steps_per_second": round(median(runs)),
            "steps_per_second_runs": [round(run) for run in runs],
            "aim_steps_per_second": 20_000,
            "vector_steps_per_second": round(median(vector_steps_per_second(options.seconds) for _ in range(3))),
            "microseconds_a_step_by_history_length": cost_by_history(),
            "microseconds_a_turn_of_saved_episodes": rollouts_by_length(),
            "memory": memory_growth(),
        },
    )


if __name__ == "__main__":
    main()
