"""Check whether a server listens, without sending it a request."""

import socket
from urllib.parse import urlsplit

from elicit_gym.llm.transport import TransportError

__all__ = ["check_reachable", "hint_at_path"]


def check_reachable(model: str, api_base: str, *, timeout: float = 5.0) -> None:
    """Open and close a connection.

    Raises:
        TransportError: nothing listens there; its message is one sentence.
    """
    parts = urlsplit(api_base)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise TransportError(
            f"Calling {model}: expected an api_base such as http://localhost:8000/v1, got {api_base!r}. Fix it.",
            "hopeless",
        )
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((parts.hostname, port), timeout=timeout).close()
    except (OSError, ValueError) as error:  # ValueError: a port that is none
        found = getattr(error, "strerror", None) or error
        raise TransportError(
            f"Calling {model}: expected a server at {api_base}, got {found}. Start it, or fix the api_base.",
            "hopeless",
        ) from error


def hint_at_path(status: int | None, api_base: str | None) -> str:
    """Return a sentence on an address without a version, where a server that listens knows no such path."""
    if api_base is None or status not in (404, 405) or urlsplit(api_base).path.rstrip("/").split("/")[-1][:1] == "v":
        return ""
    where = f"{api_base.partition('?')[0].rstrip('/')}/chat/completions"
    return f" The server answers, but not under {where}: an api_base mostly ends in /v1."
