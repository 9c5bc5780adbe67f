"""Check whether a server listens, without sending it a request."""

import socket
from urllib.parse import urlsplit

from elicit_gym.llm.transport import TransportError

__all__ = ["check_reachable"]


def check_reachable(model: str, api_base: str, *, timeout: float = 5.0) -> None:
    """Open and close a connection.

    Raises:
        TransportError: nothing listens there; the error is fatal and its message one sentence.
    """
    parts = urlsplit(api_base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TransportError(
            f"Calling {model}: expected an api_base such as http://localhost:8000/v1, got {api_base!r}. Fix it.",
            retriable=False,
            fatal=True,
        )
    port = parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((parts.hostname, port), timeout=timeout).close()
    except OSError as error:
        raise TransportError(
            f"Calling {model}: expected a server at {api_base}, got {error.strerror or error}. Start it, or fix the "
            "api_base.",
            retriable=False,
            fatal=True,
        ) from error
