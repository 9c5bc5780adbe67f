"""The one door through which text leaves this program: nothing that is a secret goes through it.

What is secret is known by its value: keys in the environment, passwords and queries of servers' addresses, headers.
Files of a run, pages and whatever the command line prints go through `redact`; messages of errors, which may quote keys
that nobody has told us, through `redact_message`.
"""

import base64
import html
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from json.encoder import encode_basestring_ascii
from typing import Any, TextIO, cast
from urllib.parse import parse_qsl, quote, unquote, urlsplit

__all__ = [
    "guarded_streams",
    "learn_environment",
    "public_addresses",
    "redact",
    "redact_json",
    "redact_message",
    "remember_address",
    "remember_headers",
    "remember_secret",
    "without_secrets",
]

MARK = "[key]"
SHORTEST = 6
"""The length from which a text is replaced wherever it stands; a shorter one would be found within ordinary words."""

_ENV_NAME = re.compile(r"(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD)$", re.IGNORECASE)
_SECRET_NAME = re.compile(
    r"key$|^token$|(?:auth|access|api|bearer)[_-]?token|secret|passw(?:or)?d|authorization|headers|cookie",
    re.IGNORECASE,
)
_SECRET_HEADER = re.compile(r"auth|key|token|secret|cookie|passw|credential", re.IGNORECASE)
_KEY_LIKE = re.compile(r"\b(?:sk|pk|gsk|hf|xai|key)[-_][A-Za-z0-9_\-*]{6,}|\bAIza[A-Za-z0-9_\-]{10,}|Bearer\s+\S+")
_WORD = re.compile(r"[^\s'\"]+")
_USER = re.compile(r"(://)[^/@]*@")
_QUERY = re.compile(r"\?[^)]*")

_known: dict[str, None] = {}


def remember_secret(value: str | None) -> None:
    """Let a text be replaced from now on, in every form in which JSON, HTML, addresses and Python write it."""
    if value is None or len(value) < SHORTEST or value in _known:
        return
    forms = (
        value,
        encode_basestring_ascii(value)[1:-1],
        html.escape(value),
        quote(value, safe=""),
        unquote(value),
        repr(value)[1:-1],
    )
    for form in sorted({form for form in forms if len(form) >= SHORTEST}, key=len, reverse=True):
        _known[form] = None


def remember_address(address: str | None) -> None:
    """Let the password and the query's values of a server's address be replaced from now on."""
    try:
        parts = urlsplit(address or "")
        user, password = parts.username or "", parts.password
    except ValueError:  # no address at all: the first call says so
        return
    if password is not None:
        remember_secret(password)
        remember_secret(base64.b64encode(f"{unquote(user)}:{unquote(password)}".encode()).decode("ascii"))
    elif len(user) > 16:  # a token in the place of a user's name
        remember_secret(user)
    for _, value in parse_qsl(parts.query):
        remember_secret(value)


def remember_headers(parameters: Mapping[str, Any]) -> None:
    """Let what stands under the names of secrets, at any depth, be replaced from now on."""
    for name, value in parameters.items():
        if isinstance(value, Mapping):
            remember_headers(value)
        elif isinstance(value, str) and _SECRET_HEADER.search(name):
            remember_secret(value)
            for word in value.split():
                remember_secret(word if word not in ("Bearer", "Basic") else None)


def learn_environment() -> None:
    """Remember the values of environment variables that are named as keys are."""
    for name, value in os.environ.items():
        if _ENV_NAME.search(name) and len(value) >= 8:
            remember_secret(value)


def redact(text: str) -> str:
    """Return a text without the secrets that are known."""
    for secret in _known:
        if secret in text:
            text = text.replace(secret, MARK)
    return text


def redact_json(value: Any) -> Any:
    """Return JSON types whose texts hold no known secret; a number that reads like one stays a number."""
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(name) if isinstance(name, str) else name: redact_json(inner) for name, inner in value.items()}
    return [redact_json(inner) for inner in value] if isinstance(value, list | tuple) else value


def redact_message(text: str, most: int = 600) -> str:
    """Return a message without what is or looks like a key, and cut to a readable length.

    Args:
        text: from a server or a library.
        most: characters that are kept.
    """
    learn_environment()
    text = _KEY_LIKE.sub(MARK, public_addresses(redact(text)))
    return text if len(text) <= most else text[:most] + " ..."


def public_addresses(text: str) -> str:
    """Return a text without users, passwords and queries in the addresses in it."""
    return _WORD.sub(lambda found: _public_word(found[0]), text) if "://" in text else text


def _public_word(word: str) -> str:
    # Word by word, each of which is gone through once: a pattern for the whole would try each "://" to the end.
    scheme, found, rest = _USER.sub(r"\1", word).partition("://")
    return scheme + found + _QUERY.sub("", rest)


def without_secrets(value: Any) -> Any:
    """Return JSON types for a manifest: values under names of secrets are left out, and addresses' secrets, too."""
    if isinstance(value, Mapping):
        return {
            name: "[secret]" if isinstance(name, str) and _SECRET_NAME.search(name) else without_secrets(inner)
            for name, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [without_secrets(inner) for inner in value]
    return redact(public_addresses(value)) if isinstance(value, str) else value


class _Guarded:
    """A stream that writes no secrets."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        self._stream.write(redact(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def guarded_streams() -> Iterator[None]:
    """Write no secret to standard output and standard error within the block."""
    learn_environment()
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast(TextIO, _Guarded(stream)) for stream in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
