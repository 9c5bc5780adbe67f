"""A cache of responses, which saves the second call for the same answer."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal, get_args

from elicit_gym.errors import SettingError
from elicit_gym.key_value import KeyValueStore
from elicit_gym.llm.types import ChatRequest, ChatResponse
from elicit_gym.strict_json import json_text, typed

__all__ = ["CacheMode", "ResponseCache", "cache_key"]

CacheMode = Literal["read-write", "replay"]


def cache_key(model_settings: dict[str, Any], request: ChatRequest) -> str:
    """Return a hash over everything that can change the answer."""
    material = {
        "model": model_settings,
        "messages": [[m.role, m.content] for m in request.messages],
        "seed": request.seed,
        "repeat": request.repeat,
        "json_schema": request.json_schema,
        **({} if request.max_tokens is None else {"max_tokens": request.max_tokens}),
    }
    return sha256(json_text(material, sort_keys=True).encode("ascii")).hexdigest()


class ResponseCache:
    """Responses by key.

    Args:
        path: the SQLite file, created if it does not exist.
        mode: ``read-write``, or ``replay``: a miss is then an error, so that a rerun never calls a model.

    Raises:
        SettingError: the mode is unknown, or there is no file to replay from.
    """

    def __init__(self, path: str | Path, mode: CacheMode = "read-write") -> None:
        if mode not in get_args(CacheMode):
            raise SettingError(f"Opening a cache: expected mode 'read-write' or 'replay', got {mode!r}. Choose one.")
        self.path = Path(path)
        self.mode = mode
        if mode == "replay" and not self.path.is_file():
            raise SettingError(f"Replaying from {path}: expected a cache file, got none. Check the path.")
        self._store = KeyValueStore(path)

    def get(self, key: str) -> ChatResponse | None:
        """Return the response for a key, None for a miss.

        Raises:
            StorageError: the file is damaged, or what it holds is not a response.
        """
        found = self._store.get([key])
        if key not in found:
            return None
        try:
            response: ChatResponse = typed(ChatResponse, found[key], "")
        except TypeError as error:
            raise self._store.unfit(key, f"a response, got another value ({error})") from error
        return replace(response, cached=True)

    def put(self, key: str, response: ChatResponse) -> None:
        """Keep a response; a key that is there keeps its response."""
        value = {
            "text": response.text,
            "finish_reason": response.finish_reason,
            "model": response.model,
            "input_tokens": response.input_tokens,
            "output_tokens": response.output_tokens,
            "cost_usd": response.cost_usd,
            "flags": list(response.flags),
            "calls": response.calls,
        }
        self._store.put({key: value})

    def __len__(self) -> int:
        return len(self._store)

    def close(self) -> None:
        """Close the file."""
        self._store.close()
