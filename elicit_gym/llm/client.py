"""The chat model that calls a service: cache, budget, limits and retries around a transport."""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from elicit_gym.errors import EpisodeFailure, FatalModelError, ModelFailure
from elicit_gym.llm.cache import cache_key
from elicit_gym.llm.content import clean_content
from elicit_gym.llm.runtime import Runtime, current_runtime, run_on_loop
from elicit_gym.llm.transport import Transport, TransportError, server_of, without_secrets
from elicit_gym.llm.types import ChatRequest, ChatResponse
from elicit_gym.types import Description

__all__ = ["ServiceChatModel"]

FIRST_WAIT = 0.5
LONGEST_WAIT = 60.0
_LENGTH_LIMITS = ("max_tokens", "max_completion_tokens")


class ServiceChatModel:
    """A model behind a service.

    Args:
        name: the model's name in reports.
        transport: what sends a request to the service.
        parameters: sampling parameters, sent with every request.
        identity: everything except the request that can change an answer; it is part of the cache's key.
        send_schema: whether the service accepts a JSON schema; None where the transport knows.
    """

    def __init__(
        self,
        name: str,
        transport: Transport,
        *,
        parameters: Mapping[str, Any],
        identity: Mapping[str, Any],
        send_schema: bool | None = None,
    ) -> None:
        self.name = name
        self._transport = transport
        self._parameters = dict(parameters)
        self._identity = dict(identity)
        self._send_schema = send_schema

    def describe(self) -> Description:
        """Return what the answers depend on; where the model is served is a remark."""
        told = {"model", "api_base", "parameters"}
        return Description(
            name=self.name,
            kind=f"{type(self).__module__}:{type(self).__qualname__}",
            model=self.name,
            sampling=without_secrets(self._parameters),
            settings={name: value for name, value in self._identity.items() if name not in told},
            server=server_of(self._identity.get("api_base")),
        )

    def check(self) -> None:
        """Raise if no call can succeed."""
        runtime = current_runtime()
        if runtime.cache is not None and runtime.cache.mode == "replay":
            return  # a replay calls nothing
        try:
            self._transport.check()
        except TransportError as error:
            raise FatalModelError(str(error)) from None

    def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request."""
        return run_on_loop(self._complete(request, current_runtime()))

    def complete_batch(self, requests: Sequence[ChatRequest]) -> list[ChatResponse | EpisodeFailure]:
        """Answer many requests at once."""
        return run_on_loop(self._complete_all(requests, current_runtime()))

    async def _complete_all(
        self, requests: Sequence[ChatRequest], runtime: Runtime
    ) -> list[ChatResponse | EpisodeFailure]:
        async def one(request: ChatRequest) -> ChatResponse | EpisodeFailure:
            try:
                return await self._complete(request, runtime)
            except EpisodeFailure as failure:
                return failure

        return list(await asyncio.gather(*map(one, requests)))

    async def _complete(self, request: ChatRequest, runtime: Runtime) -> ChatResponse:
        key = cache_key(self._identity, request) if runtime.cache is not None else ""
        if runtime.cache is not None:
            found = runtime.cache.get(key)
            if found is not None:
                return found
            if runtime.cache.mode == "replay":
                raise FatalModelError(
                    f"Replaying {self.name} from {runtime.cache.path}: expected every response in the cache, got a "
                    "miss. Run with --cache once under the same settings."
                )
        response = await self._call(request, runtime)
        if runtime.cache is not None:
            runtime.cache.put(key, response)
        return response

    def _takes_schema(self) -> bool:
        return self._transport.takes_schema() if self._send_schema is None else self._send_schema

    async def _call(self, request: ChatRequest, runtime: Runtime) -> ChatResponse:
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        parameters = dict(self._parameters)
        limit = next((name for name in _LENGTH_LIMITS if name in parameters), _LENGTH_LIMITS[0])
        if request.seed is not None:
            parameters["seed"] = request.seed
        if request.max_tokens is not None:
            parameters[limit] = request.max_tokens
        if request.json_schema is not None and self._takes_schema():
            parameters["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(request.json_schema), "strict": True},
            }
        jitter = Random(request.seed)
        own, everyone = runtime.limits(self.name)
        flags: list[str] = []
        for attempt in range(1, runtime.max_attempts + 1):
            runtime.budget.check()
            try:
                async with own, everyone:
                    raw = await self._transport.send(messages, parameters)
            except TransportError as error:
                if error.fatal:
                    raise FatalModelError(str(error)) from None
                if not error.retriable or attempt == runtime.max_attempts:
                    raise ModelFailure(f"{error} (attempt {attempt} of {runtime.max_attempts})") from None
                flags.append("retried:service")
                await asyncio.sleep(_wait(attempt, error.retry_after, jitter))
                continue
            text, found = clean_content(raw.content, raw.reasoning, raw.finish_reason)
            response = ChatResponse(
                text=text,
                finish_reason=raw.finish_reason,
                model=raw.model,
                input_tokens=raw.input_tokens,
                output_tokens=raw.output_tokens,
                cost_usd=raw.cost_usd,
                flags=(*flags, *found),
            )
            runtime.budget.add(response)
            if text:
                return response
            if attempt == runtime.max_attempts:
                raise ModelFailure(
                    f"Calling {self.name}: expected text, got none ({', '.join(found)}) in {attempt} attempts."
                )
            flags.append(f"retried:{found[-1]}")
            # With the same seed, the answer would most likely be empty again.
            if request.seed is not None:
                parameters["seed"] = request.seed + attempt
            if "truncated" in found and limit in parameters:
                parameters[limit] *= request.more_room
        raise AssertionError("unreachable")


def _wait(attempt: int, retry_after: float | None, jitter: Random) -> float:
    """Return the seconds to wait: what the service asks for, else exponential back-off with full jitter."""
    if retry_after is not None:
        return min(retry_after, LONGEST_WAIT) + jitter.uniform(0, 0.1)
    return jitter.uniform(0.1, 1.0) * min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1))
