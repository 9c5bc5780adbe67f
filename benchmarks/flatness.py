"""Memory and time stay flat: 100,000 scripted episodes in one process, and 1,000 conversations at once for ten minutes.

The second part runs against a server of fixed latency, through `collect_episodes` with a folder, and then looks for
lost and doubled episodes. Run from the repository root: ``python -m benchmarks.flatness``.
"""

import argparse
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import gymnasium as gym

from benchmarks.common import write_result
from benchmarks.latency_server import latency_server
from elicit_gym.agents.baselines import QUESTION_BANK
from elicit_gym.agents.llm_policy import LLMPolicy
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.rollout.collect import collect_episodes
from elicit_gym.rollout.storage import load_run

LATENCY = 1.0
TURNS = 10


def resident_mib() -> float:
    with Path("/proc/self/status").open(encoding="utf-8") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def scripted(episodes: int) -> dict[str, Any]:
    """Return memory and rate at each tenth of the episodes."""
    env = gym.make("elicit_gym/InfoQuest-v0")
    points = []
    start, steps = time.perf_counter(), 0
    for episode in range(episodes):
        env.reset(seed=episode)
        for turn in range(10):
            steps += 1
            _, _, terminated, truncated, _ = env.step(QUESTION_BANK[turn].replace("?", f" ({episode})?"))
            if terminated or truncated:
                break
        if (episode + 1) % (episodes // 10) == 0:
            seconds = time.perf_counter() - start
            points.append(
                {"episodes": episode + 1, "mib": round(resident_mib(), 1), "steps_per_second": round(steps / seconds)}
            )
            start, steps = time.perf_counter(), 0
    return {"episodes": episodes, "points": points, "mib_grown_after_first_tenth": _growth(points)}


def _growth(points: list[dict[str, Any]]) -> float:
    return round(points[-1]["mib"] - points[0]["mib"], 1)


def concurrent(conversations: int, minutes: float) -> dict[str, Any]:
    """Return memory and episodes over the minutes, and the episodes lost or doubled in the folder."""
    per_minute = conversations / (TURNS * LATENCY) * 60
    repeats = max(1, round(per_minute * minutes / 80))
    points: list[dict[str, Any]] = []
    ended = threading.Event()
    with tempfile.TemporaryDirectory() as folder, latency_server(LATENCY) as api_base:
        path = Path(folder) / "run" / "episodes.jsonl"

        def watch() -> None:
            start = time.perf_counter()
            while not ended.wait(60):
                done = path.read_bytes().count(b"\n") if path.exists() else 0
                points.append(
                    {
                        "minute": round((time.perf_counter() - start) / 60, 1), "episodes": done,
                        "mib": round(resident_mib(), 1),
                    }
                )  # fmt: skip
                print(points[-1], flush=True)

        watcher = threading.Thread(target=watch)
        watcher.start()
        policy = LLMPolicy("fixed", transport="http", api_base=api_base)
        start = time.perf_counter()
        with llm_runtime(Runtime(concurrency=conversations, model_concurrency=conversations)):
            collect_episodes(
                policy, env_kwargs={"max_turns": TURNS}, repeats=repeats, concurrency=conversations,
                out=Path(folder) / "run", keep=False,
            )  # fmt: skip
        seconds = time.perf_counter() - start
        ended.set()
        watcher.join()
        records, _ = load_run(Path(folder) / "run")
        lines = path.read_bytes().count(b"\n")
    units = Counter(record.unit for record in records)
    return {
        "conversations_at_once": conversations,
        "minutes": round(seconds / 60, 1),
        "latency_s": LATENCY,
        "episodes": len(units),
        "expected": 80 * repeats,
        "lines_in_the_file": lines,
        "lost": 80 * repeats - len(units),
        "doubled": lines - len(units),
        "failed": sum(record.failure is not None for record in records),
        "episodes_per_second": round(len(units) / seconds, 1),
        "ideal_episodes_per_second": conversations / (TURNS * LATENCY),
        "points": points,
        "mib_grown_after_first_minute": _growth(points) if len(points) > 1 else None,
    }


def main() -> None:
    """Measure both and write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--episodes", type=int, default=100_000)
    parser.add_argument("--conversations", type=int, default=1_000)
    parser.add_argument("--minutes", type=float, default=10.0)
    options = parser.parse_args()
    write_result(
        "flatness",
        {
            "scripted": scripted(options.episodes),
            "concurrent": concurrent(options.conversations, options.minutes),
        },
    )


if __name__ == "__main__":
    main()
