"""JSON values by key in a SQLite file."""

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from elicit_gym.errors import SettingError, StorageError
from elicit_gym.strict_json import json_text, parse_json

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
        self.path = path
        try:
            if path is not None:
                Path(path).parent.mkdir(parents=True, exist_ok=True)
            where = ":memory:" if path is None else str(path)
            self._db = sqlite3.connect(where, timeout=60, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS entries (key TEXT PRIMARY KEY, value TEXT NOT NULL)")
        except (OSError, ValueError, sqlite3.Error) as error:  # ValueError: a NUL in the path
            raise SettingError(
                f"Opening the cache {path}: expected a SQLite file, got {error}. Check the path."
            ) from error
        self._lock = Lock()

    def get(self, keys: Sequence[str]) -> dict[str, Any]:
        """Return the values of those keys that are in the store.

        Raises:
            StorageError: the file is damaged, or a value in it is not JSON.
        """
        found: dict[str, Any] = {}
        for start in range(0, len(keys), _AT_ONCE):
            some = keys[start : start + _AT_ONCE]
            marks = ",".join("?" * len(some))
            with self._lock, self._attributed("Reading"):
                rows = self._db.execute(f"SELECT key, value FROM entries WHERE key IN ({marks})", some).fetchall()
            found.update({key: self._value(key, value) for key, value in rows})
        return found

    def _value(self, key: str, value: Any) -> Any:
        try:
            if not isinstance(value, str):
                raise ValueError(f"a value of the type {type(value).__name__}")
            return parse_json(value)
        except ValueError as error:
            raise self.unfit(key, f"JSON text, got {error}") from error

    def unfit(self, key: str, rule_and_found: str) -> StorageError:
        """Return the error for a value that is not what was kept: somebody else wrote to the file."""
        return StorageError(
            f"Reading the cache {self.path}: expected {rule_and_found} (key {key[:16]!r}). "
            "Delete the file, which costs its answers, or use another."
        )

    def put(self, values: Mapping[str, Any]) -> None:
        """Keep values of JSON types, either all or none of them; a key that is there keeps its value.

        Raises:
            StorageError: the file is damaged or cannot be written, or a number is not finite.
        """
        rows = [(key, json_text(value)) for key, value in values.items()]
        with self._lock, self._attributed("Writing to"), self._db:
            self._db.execute("BEGIN")
            self._db.executemany("INSERT OR IGNORE INTO entries VALUES (?, ?)", rows)

    @contextmanager
    def _attributed(self, doing: str) -> Iterator[None]:
        try:
            yield
        except sqlite3.ProgrammingError:  # the caller's mistake, not the file's
            raise
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise StorageError(
                f"{doing} the cache {self.path}: expected a sound SQLite file, got {error}. "
                "Delete the file, which costs its answers, or use another."
            ) from error

    def __len__(self) -> int:
        with self._lock, self._attributed("Reading"):
            return int(self._db.execute("SELECT COUNT(*) FROM entries").fetchone()[0])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._db.close()
