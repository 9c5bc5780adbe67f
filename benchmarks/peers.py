"""The same work on peers from the package index, in one run on one machine.

Steps per second, one process, no language model: InfoQuest with its scripted user and judge, single-player games of
`textarena`, and, for scale, the bare number game of `gem-llm` (no history, no judge, no spaces).

Rollouts per second against a server of fixed latency: `collect_episodes`, and `verifiers` (in its own virtual
environment) on the same environment through our adapter, both at the same concurrency. verifiers plays with the
cheapest harness that can be written for it (`tests/adapters/verifiers_plugins`): its own start a program by `uv`
for every turn, which is far slower. Run from the repository root: ``python -m benchmarks.peers``.
"""

import json
import os
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from statistics import median
from typing import Any

import gymnasium as gym

from benchmarks.common import write_result
from benchmarks.latency_server import latency_server
from elicit_gym.agents.baselines import QUESTION_BANK
from elicit_gym.agents.llm_policy import LLMPolicy
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.rollout.collect import collect_episodes
from tests.adapters.venvs import python_with

ENV = "elicit_gym/InfoQuest-v0"
# The games that need no download to start, each with an action that it can read.
TEXTARENA = {
    "GuessTheNumber-v0": "[{n}]",
    "TowerOfHanoi-v0": "[A B]",
    "LightsOut-v0": "[{n}, {n}]",
    "FifteenPuzzle-v0": "[up]",
    "Minesweeper-v0": "[{n} {n}]",
    "Bandit-v0": "[red]",
}
SECONDS = 3.0
TURNS = 5
LATENCY = 0.2


def ours() -> float:
    env = gym.make(ENV)
    env.reset(seed=0)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        _, _, terminated, truncated, _ = env.step(QUESTION_BANK[count % 10].replace("?", f" ({count})?"))
        count += 1
        if terminated or truncated:
            env.reset()
    return count / (time.perf_counter() - start)


def textarena(game: str, action: str) -> float:
    import textarena as ta

    env = ta.make(game)
    env.reset(num_players=1)
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        env.get_observation()
        done, _ = env.step(action.replace("{n}", str(1 + count % 4)))
        count += 1
        if done:
            env.reset(num_players=1)
    return count / (time.perf_counter() - start)


def gem_number_game() -> float:
    import gem
    import gem.envs  # registers the games

    env = gem.make("game:GuessTheNumber-v0-hard")
    env.reset()
    count, start = 0, time.perf_counter()
    while time.perf_counter() - start < SECONDS:
        _, _, terminated, truncated, _ = env.step("\\boxed{7}")
        count += 1
        if terminated or truncated:
            env.reset()
    return count / (time.perf_counter() - start)


def our_rollouts(api_base: str, concurrency: int, episodes: int) -> float:
    policy = LLMPolicy("fixed", transport="http", api_base=api_base)
    repeats = -(-episodes // 80)
    with llm_runtime(Runtime(concurrency=concurrency, model_concurrency=concurrency)):
        start = time.perf_counter()
        records = collect_episodes(policy, env_kwargs={"max_turns": TURNS}, repeats=repeats, concurrency=concurrency)
        seconds = time.perf_counter() - start
    assert all(record.failure is None and len(record.episode.turns) == TURNS for record in records)
    return len(records) / seconds


def verifiers_rollouts(python: Path, api_base: str, concurrency: int, episodes: int) -> float:
    script = Path(__file__).with_name("peers_verifiers.py")
    command = [str(python), str(script), api_base, str(concurrency), str(episodes), str(TURNS)]
    environment = {**os.environ, "FIXED_KEY": "none"}
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    return float(json.loads(done.stdout.strip().splitlines()[-1])["rollouts_per_second"])


def main() -> None:
    """Measure everything and write the result."""
    os.environ.setdefault("OPENAI_API_KEY", "none")
    games: dict[str, Any] = {}
    for game, action in TEXTARENA.items():
        try:
            games[game] = round(textarena(game, action))
        except Exception as error:  # a game that needs a download is left out and reported
            games[game] = f"not measured: {type(error).__name__}: {str(error)[:80]}"
    rates = [rate for rate in games.values() if isinstance(rate, int)]
    steps = median(ours() for _ in range(3))
    numbers = gem_number_game()
    python = python_with("verifiers==0.4.0")
    rollouts = []
    with latency_server(LATENCY) as api_base:
        our_rollouts(api_base, 8, 80)  # imports and connections are not what is measured
        for concurrency in (64, 256):
            episodes = 80 * -(-4 * concurrency // 80)
            mine = our_rollouts(api_base, concurrency, episodes)
            theirs = verifiers_rollouts(python, api_base, concurrency, episodes)
            rollouts.append(
                {
                    "concurrency": concurrency, "episodes": episodes, "turns": TURNS, "latency_s": LATENCY,
                    "ideal": round(concurrency / (TURNS * LATENCY), 1), "elicit_gym": round(mine, 1),
                    "verifiers": round(theirs, 1), "ours_of_verifiers": round(mine / theirs, 2),
                }
            )  # fmt: skip
            print(rollouts[-1])
    write_result(
        "peers",
        {
            "peers": {name: version(name) for name in ("textarena", "gem-llm", "gymnasium")} | {"verifiers": "0.4.0"},
            "steps_per_second": {
                "elicit_gym": round(steps), "textarena": games, "gem_number_game": round(numbers),
            },
            "ours_of_textarena_median": round(steps / median(rates), 1),
            "ours_of_textarena_fastest": round(steps / max(rates), 1),
            "aim_of_textarena": 10,
            "rollouts_per_second": rollouts,
        },
    )  # fmt: skip


if __name__ == "__main__":
    main()
