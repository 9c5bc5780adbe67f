"""What a transport returns, and how its failures differ."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import urlsplit

from elicit_gym.errors import PortableError

__all__ = ["RawReply", "Transport", "TransportError", "redact", "server_of", "without_secrets"]

_KEY_NAME = re.compile(r"KEY|TOKEN|SECRET|PASSWORD", re.IGNORECASE)
_SECRET_NAME = re.compile(
    r"key$|^token$|(?:auth|access|api|bearer)[_-]?token|secret|password|authorization|headers|cookie", re.IGNORECASE
)
_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|hf|xai|key)[-_][A-Za-z0-9_\-*]{6,}|\bAIza[A-Za-z0-9_\-]{10,}|Bearer\s+\S+")


def redact(text: str) -> str:
    """Remove from a message whatever is or looks like a key, and cut it to a readable length."""
    for name, value in os.environ.items():
        if len(value) >= 6 and _KEY_NAME.search(name):
            text = text.replace(value, "[key]")
    text = _KEY_LIKE.sub("[key]", text)
    return text if len(text) <= 600 else text[:600] + " ..."


def server_of(api_base: str | None) -> str | None:
    """Return where a server is, as scheme, host and port: no user, password, path or query."""
    if api_base is None:
        return None
    try:
        parts = urlsplit(api_base)
    except ValueError:  # no address at all: the first call says so
        return None
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def without_secrets(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters for a manifest: values under names of secrets, such as headers with a key, are left out."""
    return {
        name: "[secret]" if _SECRET_NAME.search(name) else value if not isinstance(value, Mapping) else
        without_secrets(value)
        for name, value in parameters.items()
    }  # fmt: skip


@dataclass(frozen=True, kw_only=True, slots=True)
class RawReply:
    """A service's answer, before it is processed.

    Attributes:
        cost_usd: None when the price is unknown.
    """

    content: str | None
    reasoning: str | None
    finish_reason: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None


class TransportError(PortableError):
    """A call failed.

    Attributes:
        retriable: whether trying again can help (429, 5xx, timeout, dropped connection, an unusable answer).
        fatal: whether no call of this run can succeed (400, 401, 403, 404).
        retry_after: the seconds that the service asked to wait; None if it did not ask.
    """

    def __init__(self, message: str, *, retriable: bool, fatal: bool = False, retry_after: float | None = None) -> None:
        super().__init__(redact(message))
        self.retriable = retriable
        self.fatal = fatal
        self.retry_after = retry_after


class Transport(Protocol):
    """Sends one request to a service; knows nothing of retries, caches or budgets."""

    async def send(self, messages: list[dict[str, str]], parameters: Mapping[str, Any]) -> RawReply:
        """Send one request.

        Args:
            messages: the role and content of each message.
            parameters: sampling parameters, seed and the like.

        Raises:
            TransportError: it failed.
        """
        ...

    def check(self) -> None:
        """Raise if no call can succeed, without sending one.

        Raises:
            TransportError: no call can succeed; the error is fatal and its message one sentence.
        """
        ...

    def takes_schema(self) -> bool:
        """Say whether the service is known to accept a JSON schema for its answer."""
        ...
