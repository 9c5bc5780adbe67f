"""Calling a server as a program does, and as a page in a browser makes a browser do."""

import http.client
import json
import socket
from typing import Any

from websockets.sync.client import ClientConnection, connect

EVIL = "https://evil.example"


def listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def call(
    port: int, method: str, path: str, body: bytes | None = None, *, host: str | None = None, **headers: str
) -> tuple[int, str]:
    """Return the status and the sentence or the body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, {"Host": host or f"127.0.0.1:{port}", **named})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    try:
        return answer.status, json.loads(text)["detail"]
    except (ValueError, KeyError, TypeError):
        return answer.status, text


def opened(port: int, *, host: str | None = None, **settings: Any) -> ClientConnection:
    """Open a WebSocket under a name that may not be the server's."""
    return connect(
        f"ws://{host or f'127.0.0.1:{port}'}/ws", sock=socket.create_connection(("127.0.0.1", port)), **settings
    )
