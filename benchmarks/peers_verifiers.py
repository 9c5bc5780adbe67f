"""The part of `peers` that runs in the environment that has verifiers: rollouts per second on our adapter."""

import asyncio
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "adapters" / "verifiers_plugins"))

import verifiers.v1 as vf
from verifiers.v1.utils.loaders import env_config_type, load_environment


async def main(api_base: str, concurrency: int, episodes: int, turns: int) -> None:
    config = env_config_type("elicit-gym-verifiers").model_validate(
        {
            "taskset": {"id": "elicit-gym-verifiers"},
            "assistant": {"harness": {"id": "plain-chat-harness"}, "runtime": {"type": "subprocess"}},
            "max_turns": turns,
        }
    )
    env = load_environment(config)
    client = vf.EvalClientConfig(base_url=api_base, api_key_var="FIXED_KEY")
    context = vf.ModelContext(model="fixed", client=client)
    tasks = list(env.taskset)
    tasks = (tasks * -(-episodes // len(tasks)))[:episodes]
    gate = asyncio.Semaphore(concurrency)

    async def one(task: vf.Task) -> vf.Episode:
        async with gate:
            return await env.run_episode(task, context)

    async with env.serving():
        await asyncio.gather(*(one(task) for task in tasks[:8]))
        start = time.perf_counter()
        done = await asyncio.gather(*(one(task) for task in tasks))
        seconds = time.perf_counter() - start
    assert all(episode.ok for episode in done), next(e.errors for e in done if not e.ok)
    print(json.dumps({"rollouts_per_second": len(done) / seconds}))


asyncio.run(main(sys.argv[1], *map(int, sys.argv[2:])))
