"""An OpenAI-compatible server in its own process that answers after a fixed time and does nothing else."""

import argparse
import asyncio
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager

from aiohttp import web

ANSWER = {
    "id": "x", "object": "chat.completion", "created": 0, "model": "fixed",
    "choices": [
        {"index": 0, "finish_reason": "stop",
         "message": {"role": "assistant", "content": "Reasoning: a fixed answer.\nResult: No"}}
    ],
    "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
}  # fmt: skip


def serve(port: int, latency: float) -> None:
    async def complete(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(latency)
        return web.json_response(ANSWER)

    async def health(_: web.Request) -> web.Response:
        return web.Response(text="ok")

    app = web.Application()
    app.router.add_post("/v1/chat/completions", complete)
    app.router.add_get("/health", health)
    web.run_app(app, host="127.0.0.1", port=port, access_log=None, print=None, backlog=4096)


@contextmanager
def latency_server(latency: float, port: int = 18_765) -> Iterator[str]:
    """Run the server during the block, which gets its api_base."""
    command = [sys.executable, __file__, "--port", str(port), "--latency", str(latency)]
    process = subprocess.Popen(command)
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=0.2).read()
                break
            except OSError:
                import time

                time.sleep(0.1)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        process.terminate()
        process.wait()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--latency", type=float, required=True)
    arguments = parser.parse_args()
    serve(arguments.port, arguments.latency)
