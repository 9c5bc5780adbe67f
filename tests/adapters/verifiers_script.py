"""Runs in an environment with verifiers: plays InfoQuest through it and prints what came out as JSON."""

import asyncio
import json
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "verifiers_plugins"))

import elicit_gym_verifiers as ours
import verifiers.v1 as vf
from aiohttp import web

WORDS = ("What is your budget?", "When is it due?", "Who else has a say?")


async def complete(request: web.Request) -> web.Response:
    asked = sum(message["role"] == "assistant" for message in (await request.json())["messages"])
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": WORDS[asked % 3]}}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    answer = {"id": "x", "object": "chat.completion", "created": 0, "model": "words", "choices": [choice]}
    return web.json_response({**answer, "usage": usage})


async def main() -> None:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    port = site._server.sockets[0].getsockname()[1]
    os.environ["WORDS_KEY"] = "none"
    from verifiers.v1.utils.loaders import env_config_type, load_environment

    config_type = env_config_type("elicit-gym-verifiers")
    assert config_type is ours.InfoQuestConfig
    config = config_type.model_validate(
        {
            "taskset": {"id": "elicit-gym-verifiers", "split": "test", "seed": 5},
            "assistant": {"harness": {"id": "plain-chat-harness"}, "runtime": {"type": "subprocess"}},
            "max_turns": 3,
        }
    )
    env = load_environment(config)
    assert isinstance(env, ours.InfoQuest)
    client = vf.EvalClientConfig(base_url=f"http://127.0.0.1:{port}/v1", api_key_var="WORDS_KEY")
    context = vf.ModelContext(model="words", client=client)
    tasks = list(env.taskset.take(4))
    async with env.serving():
        episodes = await asyncio.gather(*(env.run_episode(task, context) for task in tasks))
    shown = []
    for task, episode in zip(tasks, episodes, strict=True):
        (trace,) = episode.traces or (None,)
        shown.append(
            {
                "scenario_id": task.data.scenario_id,
                "ok": episode.ok,
                "errors": [error.message for error in episode.errors],
                "messages": [[m.role, m.content] for m in trace.branches[-1].messages] if trace else [],
                "reward": trace.reward if trace else None,
                "metrics": dict(trace.metrics) if trace else {},
                "checklist": trace.info.get("checklist") if trace else None,
            }
        )
    print(json.dumps(shown))
    await runner.cleanup()


asyncio.run(main())
