"""JSON values by key in a SQLite file."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

from elicit_gym.errors import SettingError

__all__ = ["KeyValueStore"]

_AT_ONCE = 500
"""The largest number of keys per query: old versions of SQLite take no more than 999."""


class KeyValueStore:
    """A store of values by key that several threads and processes may share; nothing in it is ever unpickled.

    Args:
        path: the SQLite file, created if it does not exist; None keeps everything in memory.

    Raises:
        SettingError: it cannot be opened.
    """

    def __init__(self, path: str | Path | None) -> None:
        try:
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            where = ":memory:" if path is None else str(path)
            self._db = sqlite3.connect(where, timeout=60, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        except (OSError, sqlite3.Error) as error:
            raise SettingError(
                f"Opening the cache {path}: expected a SQLite file, got {error}. Check the path."
            ) from error
        self._lock = Lock()

    def get(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return the values of those keys that are in the store."""
        found: dict[str, Any] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            with self._lock:
                rows = self._db.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", some).fetchall()
            found.update({key: json.loads(value) for key, value in rows})
        return found

    def put(self, values: Mapping[str, Any]) -> None:
        """Keep values of JSON types, either all or none of them; a key that is there keeps its value."""
        rows = [(key, json.dumps(value)) for key, value in values.items()]
        with self._lock, self._db:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT OR IGNORE INTO entries VALUES (?, ?)", rows)

    def __len__(self) -> int:
        with self._lock:
            return int(self._db.execute("SELECT COUNT(*) FROM entries").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
