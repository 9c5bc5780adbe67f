"""A real HTTP server that answers like an OpenAI-compatible one, or misbehaves at a given rate; runs in a thread.

Every fault that model services are known for has a name here; which one a request meets derives from a counter and a
seed, so that a run can be repeated.
"""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from aiohttp import web

FAULTS = (
    "429", "429-retry-after", "500", "503", "hang", "drop", "truncated-json", "empty", "null", "think-unclosed",
    "huge", "wrong-schema", "no-choices", "only-reasoning",
)  # fmt: skip

REFUSALS = {
    "no-quota": (429, "You exceeded your current quota.", "insufficient_quota"),
    "400-filter-openai": (400, "Invalid prompt: it was flagged as potentially violating our usage policy.", "invalid_prompt"),
    "400-filter-azure": (400, "The response was filtered by the content management policy.", "content_filter"),
    "400-filter-gemini": (400, "The request was blocked. Reason: PROHIBITED_CONTENT, safety.", "INVALID_ARGUMENT"),
    "403-moderation": (403, "The model requires moderation and the input was flagged.", "403"),
    "400-context": (400, "This model's maximum context length is 10 tokens.", "context_length_exceeded"),
    "413": (413, "Request too large.", "too_large"),
}  # fmt: skip
"""What services refuse, and in which words."""

Answer = Callable[[list[dict[str, str]]], str]


def default_answer(messages: list[dict[str, str]]) -> str:
    """Answer as whichever seat is asked, by the words of the prompt."""
    text = messages[0]["content"]
    if " CRITERION\n" in text:
        return "Reasoning: fine.\nResult: " + ("Yes" if len(text) % 5 == 0 else "No")
    if messages[0]["role"] == "system" and "guessing game" in messages[0]["content"]:
        return "It is not so easy for me."
    return "What holds you back the most?"


class FaultServer:
    """The server.

    Args:
        answer: what to say when all is well.
        rate: share of the requests that meet a fault.
        faults: which.
        seed: of the draws.
        latency: seconds before a sound answer.
        hang: seconds that a hanging request hangs.
        cuts: whether an answer is cut off after as many words as the request allows tokens.
        tokens: what a request has taken and its answer has made.
    """

    def __init__(
        self,
        answer: Answer = default_answer,
        *,
        rate: float = 0.0,
        faults: Sequence[str] = FAULTS,
        seed: int = 0,
        latency: float = 0.0,
        hang: float = 30.0,
        cuts: bool = False,
        tokens: Callable[[list[dict[str, str]], str], tuple[int, int]] = lambda messages, text: (10, 5),
    ) -> None:
        self.answer = answer
        self.rate = rate
        self.faults = tuple(faults)
        self.latency = latency
        self.hang = hang
        self.cuts = cuts
        self.tokens = tokens
        self.tokens_spent = 0
        self.seen: Counter[str] = Counter()
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.most_at_once = 0
        self._at_once = 0
        self._random = Random(seed)
        self._loop: asyncio.AbstractEventLoop | None = None
        self.port = 0

    @property
    def api_base(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self.port}/v1"

    def __enter__(self) -> "FaultServer":
        ready = threading.Event()

        def serve() -> None:
            self._loop = asyncio.new_event_loop()
            asyncio.set_event_loop(self._loop)
            app = web.Application()
            app.router.add_post("/v1/chat/completions", self._handle)
            app.router.add_post("/{version}/models/{name}:generateContent", self._handle_gemini)
            runner = web.AppRunner(app, access_log=None)
            self._loop.run_until_complete(runner.setup())
            site = web.TCPSite(runner, "127.0.0.1", 0, backlog=1024)
            self._loop.run_until_complete(site.start())
            self.port = site._server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
            ready.set()
            self._loop.run_forever()
            self._loop.run_until_complete(runner.cleanup())

        self._thread = threading.Thread(target=serve, daemon=True)
        self._thread.start()
        ready.wait(10)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._loop is not None
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.bodies.append(body)
        self.headers.append(dict(request.headers))
        self._at_once += 1
        self.most_at_once = max(self.most_at_once, self._at_once)
        try:
            fault = self._random.choice(self.faults) if self._random.random() < self.rate else "none"
            self.seen[fault] += 1
            if fault != "none":
                return await self._misbehave(fault, request, body)
            if self.latency:
                await asyncio.sleep(self.latency)
            answer = self._complete(body)
            if self.cuts:
                cut_off(answer, int(body.get("max_tokens") or 1_000_000))
            return web.json_response(answer)
        finally:
            self._at_once -= 1

    async def _handle_gemini(self, request: web.Request) -> web.StreamResponse:
        """Answer in the words of Google's interface."""
        body = await request.json()
        system = body.get("system_instruction") or body.get("systemInstruction") or {"parts": []}
        messages = [{"role": "system", "content": part["text"]} for part in system["parts"]]
        for content in body["contents"]:
            role = "assistant" if content["role"] == "model" else "user"
            messages += [{"role": role, "content": part["text"]} for part in content["parts"]]
        name = f"gemini/{request.match_info['name']}"
        self.bodies.append({"model": name, "messages": messages})
        self.headers.append(dict(request.headers))
        self.seen["none"] += 1
        text = self.answer(messages)
        given, made = self.tokens(messages, text)
        self.tokens_spent += given + made
        usage = {"promptTokenCount": given, "candidatesTokenCount": made, "totalTokenCount": given + made}
        candidate = {"content": {"parts": [{"text": text}], "role": "model"}, "finishReason": "STOP", "index": 0}
        return web.json_response({"candidates": [candidate], "usageMetadata": usage, "modelVersion": name})

    def _complete(self, body: dict[str, Any]) -> dict[str, Any]:
        text = self.answer(body["messages"])
        given, made = self.tokens(body["messages"], text)
        self.tokens_spent += given + made
        usage = {"prompt_tokens": given, "completion_tokens": made, "total_tokens": given + made}
        return {**completion(body["model"], text), "usage": usage}

    async def _misbehave(self, fault: str, request: web.Request, body: dict[str, Any]) -> web.StreamResponse:
        model = body["model"]
        refusal = {"error": {"message": f"refused: {fault}", "type": "error", "code": fault}}
        if fault.startswith("echo-"):
            told = {"error": {"message": f"refused {dict(request.headers)} {request.url}", "code": "x"}}
            return web.json_response(told, status=int(fault.removeprefix("echo-")))
        if fault in REFUSALS:
            status, message, code = REFUSALS[fault]
            return web.json_response({"error": {"message": message, "type": "error", "code": code}}, status=status)
        if fault == "no-usage":
            answer = completion(model, self.answer(body["messages"]))
            del answer["usage"]
            return web.json_response(answer)
        if fault in ("429", "500", "503", "400", "401", "404"):
            return web.json_response(refusal, status=int(fault))
        if fault == "429-retry-after":
            return web.json_response(refusal, status=429, headers={"Retry-After": "0.05"})
        if fault == "hang":
            await asyncio.sleep(self.hang)
            return web.json_response(completion(model, "too late"))
        if fault == "drop":
            assert request.transport is not None
            request.transport.close()
            return web.Response()
        if fault == "truncated-json":
            return web.Response(text=json.dumps(completion(model, "cut"))[:-30], content_type="application/json")
        if fault == "wrong-schema":
            return web.json_response({"choices": [{"text": "an older kind of answer"}], "object": "text_completion"})
        if fault == "no-choices":
            return web.json_response({**completion(model, ""), "choices": []})
        content: str | None = {
            "empty": "", "null": None, "think-unclosed": "<think>Result: Yes, or so I", "only-reasoning": None,
            "huge": "word " * 2_000_000,
        }[fault]  # fmt: skip
        answer = completion(model, content)
        if fault == "only-reasoning":
            answer["choices"][0]["message"]["reasoning_content"] = "Result: Yes"
        return web.json_response(answer)


def completion(model: str, content: str | None) -> dict[str, Any]:
    """Return a chat completion as the OpenAI API words it."""
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 0,
        "model": model,
        "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def cut_off(answer: dict[str, Any], room: int) -> None:
    """Cut an answer off after so many words, and say so."""
    choice = answer["choices"][0]
    kept = choice["message"]["content"].split(" ")
    if len(kept) > room:
        choice["message"]["content"], choice["finish_reason"] = " ".join(kept[:room]), "length"
