"""Calls to an OpenAI-compatible server without litellm in between: opt-in, for when litellm's own CPU is the limit."""

import asyncio
import os
import weakref
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from elicit_gym.errors import MissingExtraError
from elicit_gym.llm.reachability import check_reachable, hint_at_path
from elicit_gym.llm.refusals import failure_kind
from elicit_gym.llm.reply_fields import number_or_none, parse_retry_after
from elicit_gym.llm.transport import RawReply, TransportError, split_user
from elicit_gym.redaction import redact_message

__all__ = ["HTTPTransport"]


class HTTPTransport:
    """One model on an OpenAI-compatible server (vLLM, llama.cpp, ``transformers serve``, ...), over aiohttp.

    Args:
        model: the name under which the server knows it.
        api_base: the server's URL, for example ``http://localhost:8000/v1``.
        api_key_env: the environment variable that holds the key; None if the server needs no key.
        timeout: the time limit of a call, in seconds.
        connections: the largest number of connections at once.
    """

    def __init__(
        self, model: str, *, api_base: str, api_key_env: str | None, timeout: float, connections: int = 1024
    ) -> None:
        self.model = model
        self._api_base = api_base.rstrip("/")
        base, self._user = split_user(api_base)
        path, mark, query = (base or "").partition("?")
        self._url = f"{path.rstrip('/')}/chat/completions{mark}{query}"
        self._api_key_env = api_key_env
        self._timeout = timeout
        self._connections = connections
        self._session: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_session": None}  # connections stay behind when a policy is sent to another process

    def check(self) -> None:
        """Raise if the server cannot be reached or the key is missing."""
        self._headers()
        check_reachable(self.model, self._api_base)

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return None: what a server of one's own costs is not known here."""
        return None

    def _headers(self) -> dict[str, str]:
        if self._api_key_env is None:
            return self._user
        key = os.environ.get(self._api_key_env)
        if not key:
            raise TransportError(
                f"Calling {self.model}: expected a key in ${self._api_key_env}, got none. Set the variable.", "hopeless"
            )
        return {"Authorization": f"Bearer {key}"}

    def takes_schema(self) -> bool:
        """Say no: what a server of one's own accepts is for its owner to say."""
        return False

    async def send(self, messages: list[dict[str, str]], parameters: Mapping[str, Any]) -> RawReply:
        """Send one request, on the one background loop, whose session it keeps."""
        try:
            import aiohttp
        except ImportError as error:
            raise MissingExtraError("Calling a language model", "llm") from error
        if self._session is None or self._session.closed:
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=self._connections),
                timeout=aiohttp.ClientTimeout(total=self._timeout),
            )
            # It is closed with the transport or at the end of the process, so that it does not warn that it is open.
            weakref.finalize(self, _close, self._session, asyncio.get_running_loop())
        body = {"model": self.model, "messages": messages, **parameters}
        headers = {**(body.pop("extra_headers", None) or {}), **self._headers()}
        try:
            async with self._session.post(self._url, json=body, headers=headers) as response:
                if response.status != 200:
                    raise self._refused(response.status, await response.text(), response.headers.get("Retry-After"))
                return self._unpack(await response.json(content_type=None))
        except (TimeoutError, aiohttp.ClientError, ValueError, RecursionError) as error:
            raise TransportError(f"Calling {self.model}: {type(error).__name__}: {error}", "passing") from None

    def _refused(self, status: int, text: str, retry_after: str | None) -> TransportError:
        return TransportError(
            f"Calling {self.model}: status {status}: {redact_message(text)}{hint_at_path(status, self._api_base)}",
            failure_kind(status, text),
            retry_after=parse_retry_after(retry_after),
        )

    def _unpack(self, reply: Any) -> RawReply:
        error = reply.get("error") if isinstance(reply, dict) else None
        if isinstance(error, dict) and not reply.get("choices"):  # some gateways refuse with status 200
            code = error.get("code")
            raise self._refused(code if isinstance(code, int) else 400, str(error), None)
        try:
            choice = reply["choices"][0]
            message = choice["message"]
            usage = reply.get("usage") or {}
            content, reasoning = message.get("content"), message.get("reasoning_content")
            if content is not None and not isinstance(content, str):
                raise TypeError("the content is not text")
            return RawReply(
                content=content,
                reasoning=reasoning,
                finish_reason=str(choice.get("finish_reason") or "stop"),
                model=self.model,
                input_tokens=number_or_none(usage.get("prompt_tokens")),
                output_tokens=number_or_none(usage.get("completion_tokens")),
            )
        except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError) as wrong:
            raise TransportError(
                f"Calling {self.model}: the answer is not a chat completion ({type(wrong).__name__}: {wrong}).",
                "passing",
            ) from wrong


def _close(session: Any, loop: asyncio.AbstractEventLoop) -> None:
    if session.closed or not loop.is_running():
        return
    closing = asyncio.run_coroutine_threadsafe(session.close(), loop)
    try:
        inside = asyncio.get_running_loop() is loop
    except RuntimeError:
        inside = False
    if not inside:  # on the loop itself, waiting would block it
        with suppress(TimeoutError):
            closing.result(timeout=2)
