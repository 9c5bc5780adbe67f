"""Calls per second through the package, beside bare litellm and beside the ideal (concurrency / latency).

There is one run, one machine, and one server with a fixed latency in its own process, and three ways to make the same
calls: bare
`litellm.acompletion` in a gather, our litellm transport, and our plain-HTTP transport. CPU is this process's.
"""

import asyncio
import os
import time
from collections.abc import Callable
from typing import Any

from common import write_result
from latency_server import latency_server

from elicit_gym.llm.make import make_chat_model
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.llm.types import ChatRequest, ChatResponse
from elicit_gym.types import Message

os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
TEXT = "Tell me what you want to achieve, what holds you back, and by when it has to be done. " * 8


def bare_litellm(api_base: str, calls: int, concurrency: int) -> None:
    import litellm

    litellm.suppress_debug_info = True

    async def main() -> None:
        gate = asyncio.Semaphore(concurrency)

        async def one(i: int) -> None:
            async with gate:
                await litellm.acompletion(
                    model="openai/fixed", api_base=api_base, api_key="none", num_retries=0, max_retries=0,
                    messages=[{"role": "user", "content": f"{TEXT} {i}"}],
                )  # fmt: skip

        await asyncio.gather(*(one(i) for i in range(calls)))

    asyncio.run(main())


def ours(transport: str) -> Callable[[str, int, int], None]:
    def run(api_base: str, calls: int, concurrency: int) -> None:
        name = "openai/fixed" if transport == "litellm" else "fixed"
        model = make_chat_model(name, api_base=api_base, transport=transport)
        requests = [
            ChatRequest(messages=(Message(role="user", content=f"{TEXT} {i}"),), seed=None) for i in range(calls)
        ]
        with llm_runtime(Runtime(concurrency=concurrency, model_concurrency=concurrency)):
            answers = model.complete_batch(requests)
        assert all(isinstance(answer, ChatResponse) for answer in answers)

    return run


WAYS = {"bare_litellm": bare_litellm, "ours_litellm": ours("litellm"), "ours_http": ours("http")}


def measure(way: Callable[[str, int, int], None], api_base: str, calls: int, concurrency: int) -> dict[str, float]:
    start, cpu = time.perf_counter(), time.process_time()
    way(api_base, calls, concurrency)
    wall, used = time.perf_counter() - start, time.process_time() - cpu
    return {"calls_per_second": round(calls / wall, 1), "cpu_ms_a_call": round(1000 * used / calls, 3)}


def main() -> None:
    points: list[dict[str, Any]] = []
    for latency in (0.2, 1.0):
        with latency_server(latency) as api_base:
            for way in WAYS.values():
                way(api_base, 8, 8)  # imports and connections are not what is measured
            for concurrency in (16, 64, 256):
                ideal = concurrency / latency
                calls = max(4 * concurrency, min(1024, int(5 * min(ideal, 250))))
                # Each way is run twice, in turns, and the better one counts, since the machine is shared.
                runs: dict[str, list[dict[str, float]]] = {name: [] for name in WAYS}
                for _ in range(2):
                    for name, way in WAYS.items():
                        runs[name].append(measure(way, api_base, calls, concurrency))
                best = {name: max(some, key=lambda r: r["calls_per_second"]) for name, some in runs.items()}
                bare = best["bare_litellm"]
                points.append(
                    {
                        "latency_s": latency, "concurrency": concurrency, "calls": calls,
                        "ideal_calls_per_second": ideal, **best,
                        "ours_litellm_rate_of_bare": round(
                            best["ours_litellm"]["calls_per_second"] / bare["calls_per_second"], 3
                        ),
                        "ours_http_rate_of_bare": round(
                            best["ours_http"]["calls_per_second"] / bare["calls_per_second"], 3
                        ),
                        "own_cpu_ms_a_call": round(best["ours_litellm"]["cpu_ms_a_call"] - bare["cpu_ms_a_call"], 3),
                    }
                )  # fmt: skip
                print(points[-1])
    write_result("llm_rollout_throughput", {"aims": {"rate_of_bare": 0.9, "own_cpu_ms_a_call": 1.0}, "points": points})


if __name__ == "__main__":
    main()
