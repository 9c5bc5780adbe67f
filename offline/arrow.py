"""Built datasets: one Arrow file with one episode per row, memory-mapped when opened."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from elicit_gym.errors import MissingExtraError, StorageError
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.offline.lazy_sequence import LazySequence
from elicit_gym.types import Message

__all__ = ["ArrowEpisodes", "write_episodes"]

ROWS_A_BATCH = 16
"""The number of rows per batch; it is small, since reading an episode costs its whole batch."""


_ADDED = "behaviour_log_probs"


def _pyarrow() -> Any:
    try:
        import pyarrow
    except ImportError as error:
        raise MissingExtraError("Building or opening a dataset", "yield") from error
    return pyarrow


def _schema(pa: Any) -> Any:
    return pa.schema(
        [
            ("id", pa.string()),
            ("domain", pa.string()),
            ("split", pa.string()),
            ("licence", pa.string()),
            ("roles", pa.list_(pa.string())),
            ("contents", pa.list_(pa.large_binary())),  # bytes, since lone surrogates are not valid UTF-8
            ("turn_ids", pa.list_(pa.int64())),
            ("rewards", pa.list_(pa.float64())),
            ("returns_to_go", pa.list_(pa.float64())),
            ("terminated", pa.bool_()),
            ("truncated", pa.bool_()),
            (_ADDED, pa.list_(pa.float64())),
        ]
    )


def _readable(pa: Any, schema: Any) -> bool:
    """Say whether a file has the columns of a built dataset; older ones lack the last."""
    now = _schema(pa)
    return bool(schema == now or schema == now.remove(now.get_field_index(_ADDED)))


def _row(episode: OfflineEpisode) -> dict[str, Any]:
    return {
        "id": episode.id,
        "domain": episode.domain,
        "split": episode.split,
        "licence": episode.licence,
        "roles": [message.role for message in episode.messages],
        "contents": [message.content.encode("utf-8", "surrogatepass") for message in episode.messages],
        "turn_ids": list(episode.turn_ids),
        "rewards": list(episode.rewards),
        "returns_to_go": list(episode.returns_to_go),
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        _ADDED: None if episode.behaviour_log_probs is None else list(episode.behaviour_log_probs),
    }


def _episode(row: dict[str, Any]) -> OfflineEpisode:
    return OfflineEpisode(
        id=row["id"],
        domain=row["domain"],
        split=row["split"],
        licence=row["licence"],
        messages=tuple(
            Message(role=role, content=content.decode("utf-8", "surrogatepass"))
            for role, content in zip(row["roles"], row["contents"], strict=True)
        ),
        turn_ids=tuple(row["turn_ids"]),
        rewards=tuple(row["rewards"]),
        returns_to_go=tuple(row["returns_to_go"]),
        terminated=row["terminated"],
        truncated=row["truncated"],
        behaviour_log_probs=None if row.get(_ADDED) is None else tuple(row[_ADDED]),
    )


def write_episodes(episodes: Iterable[OfflineEpisode], path: Path) -> Path:
    """Write episodes as they come, in bounded memory; the file appears once it is complete.

    Returns:
        The path.
    """
    pa = _pyarrow()
    schema = _schema(pa)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(path.name + ".tmp")
    with pa.OSFile(str(temporary), "wb") as sink, pa.ipc.new_file(sink, schema) as writer:
        rows: list[dict[str, Any]] = []
        for episode in episodes:
            rows.append(_row(episode))
            if len(rows) == ROWS_A_BATCH:
                writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
                rows = []
        if rows:
            writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=schema))
    temporary.replace(path)
    return path


class ArrowEpisodes(LazySequence[OfflineEpisode]):
    """The episodes of a built dataset, each of which is read when it is asked for.

    Args:
        path: the Arrow file.

    Raises:
        StorageError: it cannot be read.
    """

    def __init__(self, path: Path) -> None:
        pa = _pyarrow()
        try:
            self._reader = pa.ipc.open_file(pa.memory_map(str(path), "r"))
        except (OSError, pa.ArrowException) as error:
            raise StorageError(f"Opening {path}: expected a built dataset (an Arrow file), got {error}.") from error
        if not _readable(pa, self._reader.schema):
            raise StorageError(f"Opening {path}: expected the columns of a built dataset, got others. Build it again.")
        batches = self._reader.num_record_batches
        last = int(self._reader.get_batch(batches - 1).num_rows) if batches else 0
        self._length: int = max(0, batches - 1) * ROWS_A_BATCH + last

    def __len__(self) -> int:
        return self._length

    def _make(self, index: int) -> OfflineEpisode:
        batch = self._reader.get_batch(index // ROWS_A_BATCH)
        return _episode(batch.slice(index % ROWS_A_BATCH, 1).to_pylist()[0])
