"""Built datasets: one Arrow file with one episode per row, memory-mapped when opened.

Arrow's own reader trusts the offsets in a file, and a wrong one ends the interpreter. A file is therefore checked as a
whole before the first episode is read from it, and whatever is packed, or not as it is written here, is refused.
"""

import struct
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any, get_args

from elicit_gym.errors import MissingExtraError, SettingError, StorageError
from elicit_gym.file_limits import check_size, current_limits
from elicit_gym.files import writing
from elicit_gym.lazy_sequence import LazySequence
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.types import Message, Role

__all__ = ["ArrowEpisodes", "write_episodes"]

ROWS_A_BATCH = 16
"""The number of rows per batch; it is small, since reading an episode costs its whole batch."""
_MAGIC = b"ARROW1\x00\x00"
_ADDED = "behaviour_log_probs"
"""The column that older files lack."""


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


def write_episodes(episodes: Iterable[OfflineEpisode], path: Path, *, inputs: Iterable[Path] = ()) -> Path:
    """Write episodes as they come, in bounded memory; the file appears once it is complete.

    Args:
        episodes: in the order of the rows.
        path: the Arrow file.
        inputs: see `elicit_gym.files.check_output`.

    Returns:
        The path.

    Raises:
        SettingError: the file cannot be written, or an episode's id or domain is not text that Arrow can keep.
    """
    pa = _pyarrow()
    schema = _schema(pa)
    with writing(path, binary=True, inputs=inputs) as sink, pa.ipc.new_file(sink, schema) as writer:
        rows: list[dict[str, Any]] = []
        for episode in episodes:
            rows.append(_row(episode))
            if len(rows) == ROWS_A_BATCH:
                writer.write_batch(_batch(pa, rows, schema, path))
                rows = []
        if rows:
            writer.write_batch(_batch(pa, rows, schema, path))
    return path


def _batch(pa: Any, rows: list[dict[str, Any]], schema: Any, path: Path) -> Any:
    try:
        return pa.RecordBatch.from_pylist(rows, schema=schema)
    except (UnicodeEncodeError, OverflowError, TypeError, pa.ArrowException) as error:
        raise SettingError(
            f"Building {path}: expected ids and domains without halves of surrogate pairs, and numbers of 64 bits, got "
            f"{error} (in one of {rows[0]['id']!r:.60} to {rows[-1]['id']!r:.60}). Correct the corpus."
        ) from error


class ArrowEpisodes(LazySequence[OfflineEpisode]):
    """The episodes of a built dataset, each of which is read when it is asked for.

    Args:
        path: the Arrow file; it is read once, from end to end, to be checked.

    Raises:
        StorageError: it cannot be read, or it is not a built dataset.
    """

    def __init__(self, path: Path) -> None:
        self._pa = _pyarrow()
        self._schema = _schema(self._pa)
        limit = current_limits().records
        try:
            with path.open("rb") as file:
                check_size(path, file, limit)
            self._messages = list(self._checked_messages(path))
        except StorageError:
            raise
        except (OSError, ValueError, struct.error, self._pa.ArrowException) as error:
            found = getattr(error, "strerror", None) or str(error)[:200]
            raise StorageError(
                f"Opening {path}: expected a built dataset (an Arrow file), got {found}. Build it again."
            ) from error
        self._starts = [0, *accumulate(rows for _, rows in self._messages)]

    def __len__(self) -> int:
        return self._starts[-1]

    def _make(self, index: int) -> OfflineEpisode:
        number = bisect_right(self._starts, index) - 1
        batch = self._pa.ipc.read_record_batch(self._messages[number][0], self._schema)
        return _episode(batch.slice(index - self._starts[number], 1).to_pylist()[0])

    def _checked_messages(self, path: Path) -> Iterator[tuple[Any, int]]:
        """Yield the batches, as messages that lie in the mapped file, and their numbers of rows."""
        ipc = self._pa.ipc
        source = self._pa.memory_map(str(path), "r")
        if source.read(len(_MAGIC)) != _MAGIC:
            raise StorageError(f"Opening {path}: expected a built dataset (an Arrow file), got another kind of file.")
        # Batches are taken one after the other, as they were written: where the index at the file's end says that they
        # lie is not believed, only how many there are, so that a file that was cut off is noticed.
        expected = ipc.open_file(self._pa.memory_map(str(path), "r")).num_record_batches
        messages = iter(ipc.MessageReader.open_stream(source))
        first = next(messages, None)
        found = ipc.read_schema(first) if first is not None and first.type == "schema" else None
        older = self._schema.remove(self._schema.get_field_index(_ADDED))
        if found not in (self._schema, older):
            raise StorageError(f"Opening {path}: expected the columns of a built dataset, got others. Build it again.")
        self._schema = found
        number = 0
        for number, message in enumerate(messages, 1):
            where = f"Opening {path}: expected a sound built dataset, got"
            if message.type != "record batch" or _is_packed(message.metadata.to_pybytes()):
                raise StorageError(f"{where} one that is packed or of another kind (batch {number}). Build it again.")
            batch = ipc.read_record_batch(message, self._schema)
            batch.validate(full=True)
            problem = next(_problems(self._pa, batch), None)
            if problem is not None:
                raise StorageError(f"{where} {problem} (batch {number}). Build it again.")
            yield message, int(batch.num_rows)
        if number != expected:
            raise StorageError(
                f"Opening {path}: expected {expected} batches, as its index says, got {number}. Get the file again."
            )


def _is_packed(metadata: bytes) -> bool:
    """Say whether a batch is compressed: unpacked, it may be of any size, which only Arrow would find out.

    References:
        Apache Arrow's format, ``Message.fbs``: a message's header is its third field, a batch's compression its fourth.
    """

    def field(table: int, index: int) -> int:
        names = table - struct.unpack_from("<i", metadata, table)[0]
        (size,) = struct.unpack_from("<H", metadata, names)
        at = 4 + 2 * index
        return int(struct.unpack_from("<H", metadata, names + at)[0]) if at < size else 0

    (root,) = struct.unpack_from("<I", metadata, 0)
    header = root + field(root, 2)
    return field(header + struct.unpack_from("<I", metadata, header)[0], 3) != 0


def _problems(pa: Any, batch: Any) -> Iterator[str]:
    """Yield what is wrong with a batch whose offsets are sound; the rules are those of `checked_episode`."""
    import numpy as np
    import pyarrow.compute as pc

    columns = {name: batch.column(name) for name in batch.schema.names}
    for name, column in columns.items():
        holes = column.null_count + (column.values.null_count if pa.types.is_list(column.type) else 0)
        if name == _ADDED:
            holes = column.values.null_count  # where nothing is known of an episode there is no list
        if holes and name != "split":
            yield f"a hole in the column {name!r}"
            return
    # (rows,) each: how many messages, actions and numbers there are in a row.
    lengths = {
        name: pc.list_value_length(c).to_numpy(zero_copy_only=False)
        for name, c in columns.items()
        if pa.types.is_list(c.type)
    }
    roles = columns["roles"]
    acts = pc.equal(roles.values, "assistant").to_numpy(zero_copy_only=False)
    before = np.concatenate([[0], np.cumsum(acts)])[roles.offsets.to_numpy()]
    wanted = {
        "contents": lengths["roles"], "turn_ids": lengths["roles"], "rewards": np.diff(before),
        "returns_to_go": np.diff(before),
    }  # fmt: skip
    if _ADDED in columns:
        known = columns[_ADDED].is_valid().to_numpy(zero_copy_only=False)
        wanted[_ADDED] = np.where(known, np.diff(before), lengths[_ADDED])
    for name, counts in wanted.items():
        if not np.array_equal(lengths[name], counts, equal_nan=True):
            yield f"another number of {name} than belong to the messages"
    if not pc.all(pc.is_in(roles.values, pa.array(get_args(Role)))).as_py() and len(roles.values):
        yield "a role that is none of " + ", ".join(get_args(Role))
    for name in ("rewards", "returns_to_go", *({_ADDED} & columns.keys())):
        if not pc.all(pc.is_finite(columns[name].values), min_count=0).as_py():
            yield f"NaN or an infinite number in the column {name!r}"
    yield from _problems_of_text(pa, columns["contents"].values)


def _problems_of_text(pa: Any, contents: Any) -> Iterator[str]:
    try:
        contents.cast(pa.large_string())
    except pa.ArrowInvalid:  # halves of surrogate pairs may stand there, which Arrow does not take for text
        for content in contents:
            try:
                content.as_py().decode("utf-8", "surrogatepass")
            except UnicodeDecodeError:
                yield "a message that is not UTF-8"
                return
