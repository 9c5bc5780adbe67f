"""What a transport returns, and how its failures differ."""

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote, urlsplit

from elicit_gym.errors import PortableError
from elicit_gym.llm.refusals import FailureKind
from elicit_gym.redaction import redact_message

__all__ = ["RawReply", "Transport", "TransportError", "server_of", "split_user"]


def server_of(api_base: str | None) -> str | None:
    """Return where a server is, as scheme, host and port: no user, password, path or query."""
    if api_base is None:
        return None
    try:
        parts = urlsplit(api_base)
    except ValueError:  # no address at all: the first call says so
        return None
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


def split_user(api_base: str | None) -> tuple[str | None, dict[str, str]]:
    """Return an address without the user and password in it, and the header that says them to the server."""
    start, scheme, rest = (api_base or "").partition("://")
    user, at, host = rest.partition("/")[0].rpartition("@")
    if not at:
        return api_base, {}
    code = base64.b64encode(unquote(user).encode("utf-8")).decode("ascii")
    return f"{start}{scheme}{host}{rest[len(user) + 1 + len(host) :]}", {"Authorization": f"Basic {code}"}


@dataclass(frozen=True, kw_only=True, slots=True)
class RawReply:
    """A service's answer, before it is processed.

    Attributes:
        input_tokens: None where the service does not say.
        output_tokens: likewise.
    """

    content: str | None
    reasoning: str | None
    finish_reason: str
    model: str
    input_tokens: int | None
    output_tokens: int | None


class TransportError(PortableError):
    """A call failed.

    Attributes:
        kind: what that says of other calls; see `elicit_gym.llm.refusals`.
        retry_after: the seconds that the service asked to wait; None if it did not ask.
    """

    def __init__(self, message: str, kind: FailureKind, *, retry_after: float | None = None) -> None:
        super().__init__(redact_message(message, 1000))
        self.kind: FailureKind = kind
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
            TransportError: no call can succeed; its message is one sentence.
        """
        ...

    def takes_schema(self) -> bool:
        """Say whether the service is known to accept a JSON schema for its answer."""
        ...

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return what these tokens cost in US dollars, None where the price is unknown."""
        ...
