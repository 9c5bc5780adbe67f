"""A cache of responses in SQLite: safe with several processes, plain JSON inside, nothing is ever unpickled."""

import json
import sqlite3
from hashlib import sha256
from pathlib import Path
from threading import Lock
from typing import Any, Literal, get_args

from elicit_gym.errors import SettingError
from elicit_gym.llm.types import ChatRequest, ChatResponse

__all__ = ["CacheMode", "ResponseCache", "cache_key"]

CacheMode = Literal["off", "read-write", "replay"]


def cache_key(model_settings: dict[str, Any], request: ChatRequest) -> str:
    """Return a hash over everything that can change the answer."""
    material = {
        "model": model_settings,
        "messages": [[m.role, m.content] for m in request.messages],
        "seed": request.seed,
        "repeat": request.repeat,
        "json_schema": request.json_schema,
    }
    return sha256(json.dumps(material, sort_keys=True).encode("ascii")).hexdigest()


class ResponseCache:
    """Answers by key.

    Args:
        path: the SQLite file; made if need be.
        mode: ``read-write``, or ``replay``: a miss is then an error, so that a rerun never calls a model.

    Raises:
        SettingError: there is no such mode, or no file to replay from.
    """

    def __init__(self, path: str | Path, mode: CacheMode = "read-write") -> None:
        if mode not in get_args(CacheMode) or mode == "off":
            raise SettingError(f"Opening a cache: expected mode 'read-write' or 'replay', got {mode!r}. Choose one.")
        self.path = Path(path)
        self.mode = mode
        if mode == "replay" and not self.path.is_file():
            raise SettingError(f"Replaying from {path}: expected a cache file, got none. Check the path.")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(self.path, timeout=60, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS responses (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        except (OSError, sqlite3.Error) as error:
            raise SettingError(
                f"Opening the cache {path}: expected a SQLite file, got {error}. Check the path."
            ) from error
        self._lock = Lock()

    def get(self, key: str) -> ChatResponse | None:
        """Return the response for a key, None for a miss."""
        with self._lock:
            row = self._db.execute("SELECT value FROM responses WHERE key = ?", (key,)).fetchone()
        if row is None:
            return None
        value = json.loads(row[0])
        return ChatResponse(**{**value, "flags": tuple(value["flags"]), "cached": True})

    def put(self, key: str, response: ChatResponse) -> None:
        """Keep a response; the first one for a key stays."""
        value = {
            "text": response.text,
            "finish_reason": response.finish_reason,
            "model": response.model,
            "input_tokens": response.input_tokens,
            "output_tokens": response.output_tokens,
            "cost_usd": response.cost_usd,
            "flags": list(response.flags),
        }
        with self._lock:
            self._db.execute("INSERT OR IGNORE INTO responses VALUES (?, ?)", (key, json.dumps(value)))

    def __len__(self) -> int:
        with self._lock:
            return int(self._db.execute("SELECT COUNT(*) FROM responses").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
