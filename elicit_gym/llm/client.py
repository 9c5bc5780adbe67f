"""The chat model that calls a service: cache, budget, limits and retries around a transport."""

import asyncio
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from elicit_gym.errors import EpisodeFailure, FatalModelError, ModelFailure
from elicit_gym.llm.cache import cache_key
from elicit_gym.llm.content import clean_content
from elicit_gym.llm.meter import Meter
from elicit_gym.llm.runtime import Runtime, current_runtime, run_on_loop
from elicit_gym.llm.spending import Spent
from elicit_gym.llm.transport import Transport, TransportError, server_of
from elicit_gym.llm.types import ChatRequest, ChatResponse
from elicit_gym.redaction import redact, without_secrets
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

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return what these tokens cost by the provider's list of prices, None where it is unknown."""
        return self._transport.price_usd(input_tokens, output_tokens)

    def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request."""
        runtime = current_runtime()
        return run_on_loop(self._complete(request, runtime, Meter(runtime, self.name, self.price_usd)))

    def complete_batch(self, requests: Sequence[ChatRequest]) -> list[ChatResponse | EpisodeFailure]:
        """Answer many requests at once."""
        runtime = current_runtime()
        return run_on_loop(self._complete_all(requests, runtime, Meter(runtime, self.name, self.price_usd)))

    async def _complete_all(
        self, requests: Sequence[ChatRequest], runtime: Runtime, meter: Meter
    ) -> list[ChatResponse | EpisodeFailure]:
        async def one(request: ChatRequest) -> ChatResponse | EpisodeFailure:
            try:
                return await self._complete(request, runtime, meter)
            except EpisodeFailure as failure:
                failure.seat = failure.seat or meter.seat
                return failure

        return list(await asyncio.gather(*map(one, requests)))

    async def _complete(self, request: ChatRequest, runtime: Runtime, meter: Meter) -> ChatResponse:
        key = cache_key(self._identity, request) if runtime.cache is not None else ""
        if runtime.cache is not None:
            found = runtime.cache.get(key)
            if found is not None:
                return meter.cached(found)
            if runtime.cache.mode == "replay":
                raise FatalModelError(
                    f"Replaying {self.name} from {runtime.cache.path}: expected every response in the cache, got a "
                    "miss. Run with --cache once under the same settings."
                )
        response = await self._call(request, runtime, meter)
        if runtime.cache is not None:
            runtime.cache.put(key, response)
        return response

    def _takes_schema(self) -> bool:
        return self._transport.takes_schema() if self._send_schema is None else self._send_schema

    def _sent(self, request: ChatRequest) -> tuple[list[dict[str, str]], dict[str, Any]]:
        """Return the messages and parameters of a request as they are sent."""
        messages = [{"role": message.role, "content": message.content} for message in request.messages]
        parameters = dict(self._parameters)
        if request.seed is not None:
            parameters["seed"] = request.seed
        if request.max_tokens is not None:
            parameters[_length_limit(parameters)] = request.max_tokens
        if request.json_schema is not None and self._takes_schema():
            parameters["response_format"] = {
                "type": "json_schema",
                "json_schema": {"name": "answer", "schema": dict(request.json_schema), "strict": True},
            }
        return messages, parameters

    async def _call(self, request: ChatRequest, runtime: Runtime, meter: Meter) -> ChatResponse:
        messages, parameters = self._sent(request)
        jitter = Random(request.seed)
        own, everyone = runtime.limits(self.name)
        server = f"{self.name} at {server_of(self._identity.get('api_base'))}"
        flags: list[str] = []
        spent = Spent()
        for attempt in range(1, runtime.max_attempts + 1):
            try:
                with meter.call():
                    async with own, everyone:
                        runtime.breaker.check(server)  # it may have opened while this call waited for its turn
                        raw = await self._transport.send(messages, parameters)
                    spent += meter.charge(raw, request)
            except TransportError as error:
                meter.failed()
                if error.kind == "passing" and attempt < runtime.max_attempts:
                    flags.append("retried:service")
                    await asyncio.sleep(_wait(attempt, error.retry_after, jitter))
                    continue
                runtime.breaker.failed(server, error.kind, str(error))
                runtime.breaker.check(server)
                tries = f" (attempt {attempt} of {runtime.max_attempts})" if error.kind == "passing" else ""
                raise ModelFailure(f"{error}{tries}") from None
            runtime.breaker.answered(server)
            text, found = clean_content(raw.content, raw.reasoning, raw.finish_reason)
            if text:
                return ChatResponse(
                    text=redact(text),  # a server that echoes a key tells it nobody else
                    finish_reason=raw.finish_reason,
                    model=raw.model,
                    input_tokens=spent.input_tokens,
                    output_tokens=spent.output_tokens,
                    cost_usd=None if spent.unpriced_calls else spent.cost_usd,
                    flags=(*flags, *found),
                    calls=spent.calls,
                )
            if attempt == runtime.max_attempts:
                raise ModelFailure(
                    f"Calling {self.name}: expected text, got none ({', '.join(found)}; finish reason "
                    f"{raw.finish_reason!r}) in {attempt} attempts."
                )
            flags.append(f"retried:{found[-1]}")
            # With the same seed, the answer would most likely be empty again.
            if request.seed is not None:
                parameters["seed"] = request.seed + attempt
            if "truncated" in found and _length_limit(parameters) in parameters:
                parameters[_length_limit(parameters)] *= request.more_room
        raise AssertionError("unreachable")


def _length_limit(parameters: Mapping[str, Any]) -> str:
    """Return the name of the parameter that limits an answer's length: the one that is there, else the usual one."""
    return next((name for name in _LENGTH_LIMITS if name in parameters), _LENGTH_LIMITS[0])


def _wait(attempt: int, retry_after: float | None, jitter: Random) -> float:
    """Return the seconds to wait: what the service asks for, else exponential back-off with full jitter."""
    if retry_after is not None:
        return min(retry_after, LONGEST_WAIT) + jitter.uniform(0, 0.1)
    return jitter.uniform(0.1, 1.0) * min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (attempt - 1))
