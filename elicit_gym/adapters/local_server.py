"""The checks that every server of this package makes before its own code sees a request.

A browser sends requests to a server on its own machine for any page that asks for it: a page elsewhere, or one whose
name was made to point here (DNS rebinding). Both are told by the headers Origin and Host, which such a page cannot
forge. No cookie, key or form is involved: whoever is let in may use the server.
"""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from typing import Any, Final, TypeAlias
from urllib.parse import urlsplit

__all__ = ["AccessRules", "Guard", "text_problem"]

MEGABYTE = 1_000_000
BODY_SECONDS: Final = 30.0
"""How long the body of a request may take to come."""
_LOCAL = ("localhost", "127.0.0.1", "::1")
_CHANGES_NOTHING = ("GET", "HEAD", "OPTIONS")

Message: TypeAlias = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class AccessRules:
    """Who may use a server, and how much of it.

    Attributes:
        bound: the address that the server listens at, which is a name for it too.
        hosts: other names under which it may be called, beside those of this machine.
        origins: the origins of pages elsewhere that may use it, such as ``https://example.org``.
        max_bytes: the largest body of a request and the largest message over a WebSocket.
        idle_s: after how many seconds without a message a WebSocket is closed, and what hangs on it forgotten.

    Raises:
        ValueError: an origin is none that a page can have.
    """

    bound: str = "127.0.0.1"
    hosts: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()
    max_bytes: int = MEGABYTE
    idle_s: float = 1800.0

    def __post_init__(self) -> None:
        """Refuse origins that no page can have, and `*`, which would be every page."""
        for origin in self.origins:
            parts = urlsplit(origin)
            if parts.scheme not in ("http", "https") or not parts.netloc or parts.path.strip("/") or "*" in origin:
                raise ValueError(
                    f"Starting a server: expected an origin such as 'https://example.org', got {origin!r:.80}. "
                    "Give scheme, host and, where there is one, port."
                )

    def problem(self, method: str, headers: list[tuple[bytes, bytes]]) -> tuple[int, str] | None:
        """Return the status and the sentence with which a request is refused; None lets it in.

        Args:
            method: of the request; ``WEBSOCKET`` for one that opens a WebSocket.
            headers: of the request, names in lower case.
        """
        host = _only(headers, b"host")
        if host is None or not self._is_own(host):
            return 403, (
                f"Calling this server: expected one of its names in the header Host, got {host!r:.80}. If it is one of "
                "them, start the server with --allow-host NAME."
            )
        origin = _only(headers, b"origin")
        # Sent by browsers only, and by no script: a page elsewhere cannot leave it out.
        site = _only(headers, b"sec-fetch-site") if method not in _CHANGES_NOTHING and origin is None else None
        foreign = origin is not None and not self._may(origin, host)
        if foreign or _count(headers, b"origin") > 1 or site not in (None, "same-origin", "none"):
            found = origin if origin is not None else f"a page that is {site}"
            return 403, (
                f"Calling this server: expected no web page or one of its own, got {found!r:.80} (Origin). If you "
                "trust that page, start the server with --allow-origin ORIGIN."
            )
        if method in (*_CHANGES_NOTHING, "WEBSOCKET"):
            return None
        kind = (_only(headers, b"content-type") or "").partition(";")[0].strip().lower()
        if kind != "application/json":
            return 415, f"Calling this server: expected a body of application/json, got {kind!r:.80}. Send JSON."
        length = _only(headers, b"content-length") or "0"
        if not (length.isascii() and length.isdigit()) or int(length[:20]) > self.max_bytes:
            return 413, self.too_large(length)
        return None

    def too_large(self, found: str) -> str:
        """Return the sentence that refuses a body."""
        return (
            f"Calling this server: expected at most {self.max_bytes:,} bytes, got {found:.20}. Send less, or start it "
            "with a larger --max-message-mb."
        )

    def _is_own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
            urlsplit(f"//{host}").port  # noqa: B018 - raises where it is no number
        except ValueError:
            return False
        if name in _LOCAL or name in (self.bound.lower(), *(each.lower() for each in self.hosts)):
            return True
        # Listening everywhere means being called by any address; a page that rebinds a name has that name there.
        return _is_address(name) and _is_address(self.bound) and ip_address(self.bound).is_unspecified

    def _may(self, origin: str, host: str) -> bool:
        own = {f"{scheme}://{host}".lower() for scheme in ("http", "https")}
        return origin.lower() in own | {each.lower().rstrip("/") for each in self.origins}


class Guard:
    """Put the checks around an ASGI app.

    Args:
        app: whose requests are checked.
        rules: what is let through.
        answer: for a text that came over a WebSocket, what is sent back in its place; None hands it to the app.
    """

    def __init__(self, app: Any, rules: AccessRules, answer: Callable[[str], str | None] = lambda text: None) -> None:
        self._app = app
        self._rules = rules
        self._answer = answer

    async def __call__(self, scope: Message, receive: Any, send: Any) -> None:
        """Serve one connection."""
        if scope["type"] == "http":
            await self._http(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            await self._app(scope, receive, send)

    async def _http(self, scope: Message, receive: Any, send: Any) -> None:
        problem = self._rules.problem(scope["method"], scope["headers"])
        body = b""
        if problem is None:
            try:
                async with asyncio.timeout(BODY_SECONDS):
                    body, whole = await self._body(receive)
            except TimeoutError:
                problem = 408, f"Calling this server: expected a body within {BODY_SECONDS:g} s, got none. Send it."
            else:
                if not whole:
                    problem = 413, self._rules.too_large("more")
        if problem is not None:
            await _refuse(send, *problem)
            return
        waiting = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return waiting.pop() if waiting else await receive()

        await self._app(scope, replay, send)

    async def _body(self, receive: Any) -> tuple[bytes, bool]:
        """Return the body of a request and whether it is within the limit."""
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._rules.max_bytes:
                return b"", False
            if not message.get("more_body", False):
                return b"".join(parts), True

    async def _websocket(self, scope: Message, receive: Any, send: Any) -> None:
        problem = self._rules.problem("WEBSOCKET", scope["headers"])
        if problem is not None:
            await receive()
            if "websocket.http.response" in scope.get("extensions", {}):
                await _refuse(send, *problem, kind="websocket.http.response")
            else:
                await send({"type": "websocket.close", "code": 1008})
            return
        closed = False

        async def close(code: int, reason: str) -> Message:
            nonlocal closed
            closed = True
            await send({"type": "websocket.close", "code": code, "reason": reason})
            return {"type": "websocket.disconnect", "code": code, "reason": reason}

        async def checked_receive() -> Message:
            while True:
                try:
                    async with asyncio.timeout(self._rules.idle_s):
                        message: Message = await receive()
                except TimeoutError:
                    return await close(1001, f"Nothing was said for {self._rules.idle_s:g} s. Connect again.")
                if message["type"] != "websocket.receive":
                    return message
                text = message.get("text")
                if text is None:
                    return await close(1003, "Expected text, got bytes. Send JSON.")
                if len(text.encode("utf-8", "replace")) > self._rules.max_bytes:
                    return await close(1009, f"Expected at most {self._rules.max_bytes:,} bytes. Send less.")
                answer = self._answer(text)
                if answer is None:
                    return message
                await send({"type": "websocket.send", "text": answer})

        async def checked_send(message: Message) -> None:
            if not closed:  # the app may have been about to answer
                await send(message)

        await self._app(scope, checked_receive, checked_send)


def text_problem(text: str) -> str | None:
    """Say what is wrong with a message that should be a JSON object which can be sent back; None if nothing is."""
    doing = "Reading a message"
    try:
        value = json.loads(text)
        if not isinstance(value, dict):
            return f"{doing}: expected a JSON object, got {type(value).__name__}. Send an object."
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError:
        return f"{doing}: expected text, got half of a surrogate pair. Leave it out."
    except RecursionError:
        return f"{doing}: expected JSON that can be read, got too many brackets within each other. Send less."
    except ValueError as error:
        return f"{doing}: expected JSON, got text that does not parse ({error!s:.100}). Send JSON."
    return None


def _only(headers: list[tuple[bytes, bytes]], name: bytes) -> str | None:
    """Return the value of a header that occurs once."""
    found = [value.decode("latin-1") for key, value in headers if key == name]
    return found[0] if len(found) == 1 else None


def _count(headers: list[tuple[bytes, bytes]], name: bytes) -> int:
    return sum(key == name for key, _ in headers)


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


async def _refuse(send: Any, status: int, sentence: str, kind: str = "http.response") -> None:
    body = json.dumps({"detail": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": f"{kind}.start", "status": status, "headers": headers})
    await send({"type": f"{kind}.body", "body": body})
