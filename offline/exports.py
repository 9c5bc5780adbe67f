"""Exports to other formats and back, without loss: published rows, Hugging Face datasets, Minari."""

import json
import string
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from elicit_gym.errors import MissingExtraError, SettingError, StorageError
from elicit_gym.json_files import read_records
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.offline.windows import Window, window_from_row, window_to_row
from elicit_gym.types import Message

__all__ = [
    "from_huggingface", "from_minari", "read_published", "to_huggingface", "to_minari", "write_published",
]  # fmt: skip


def write_published(windows: Iterable[Window], path: str | Path, *, experimental: bool = True) -> int:
    """Write windows as the released JSON lines.

    Args:
        windows: the windows to write.
        path: the file.
        experimental: whether to write score and return, which the fine-tuning rows do not have.

    Returns:
        The number of windows.
    """
    count = 0
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = target.with_name(target.name + ".tmp")
    with temporary.open("w", encoding="utf-8", errors="surrogatepass", newline="\n") as file:
        for window in windows:
            file.write(json.dumps(window_to_row(window, experimental=experimental), ensure_ascii=False) + "\n")
            count += 1
    temporary.replace(target)
    return count


def read_published(path: str | Path) -> Iterator[Window]:
    """Read windows from released JSON lines, of either kind.

    Raises:
        StorageError: there is no such file, or a line cannot be read; the error names it.
    """
    what = "a released row with block_id, domain and messages"
    return read_records(Path(path), window_from_row, what=what)


def _episode_row(episode: OfflineEpisode) -> dict[str, Any]:
    # Texts are JSON with escapes: Arrow's strings and HDF5 accept valid UTF-8 only, which lone surrogates are not.
    return {
        "id": json.dumps(episode.id),
        "domain": episode.domain,
        "split": episode.split,
        "licence": episode.licence,
        "messages": json.dumps([[m.role, m.content] for m in episode.messages]),
        "turn_ids": list(episode.turn_ids),
        "rewards": list(episode.rewards),
        "returns_to_go": list(episode.returns_to_go),
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "behaviour_log_probs": None if episode.behaviour_log_probs is None else list(episode.behaviour_log_probs),
    }


def _episode_from_row(row: dict[str, Any]) -> OfflineEpisode:
    return OfflineEpisode(
        id=json.loads(row["id"]),
        domain=row["domain"],
        split=row["split"],
        licence=row["licence"],
        messages=tuple(Message(role=role, content=content) for role, content in json.loads(row["messages"])),
        turn_ids=tuple(int(i) for i in row["turn_ids"]),
        rewards=tuple(float(r) for r in row["rewards"]),
        returns_to_go=tuple(float(r) for r in row["returns_to_go"]),
        terminated=bool(row["terminated"]),
        truncated=bool(row["truncated"]),
        behaviour_log_probs=(
            None if row.get("behaviour_log_probs") is None else tuple(float(p) for p in row["behaviour_log_probs"])
        ),
    )


def to_huggingface(dataset: OfflineDataset) -> Any:
    """Return the episodes as a `datasets.Dataset`, to be pushed to a hub or written as Parquet."""
    datasets = _huggingface()
    features = datasets.Features(
        {
            **{name: datasets.Value("string") for name in ("id", "domain", "split", "licence", "messages")},
            "turn_ids": datasets.Sequence(datasets.Value("int64")),
            "rewards": datasets.Sequence(datasets.Value("float64")),
            "returns_to_go": datasets.Sequence(datasets.Value("float64")),
            "terminated": datasets.Value("bool"),
            "truncated": datasets.Value("bool"),
            "behaviour_log_probs": datasets.Sequence(datasets.Value("float64")),
        }
    )
    return datasets.Dataset.from_list([_episode_row(episode) for episode in dataset], features=features)


def from_huggingface(table: Any, name: str = "huggingface") -> OfflineDataset:
    """Invert `to_huggingface`.

    Raises:
        StorageError: its columns are not those of an export.
    """
    try:
        return OfflineDataset([_episode_from_row(row) for row in table], name)
    except (KeyError, TypeError, ValueError) as error:
        raise StorageError(
            f"Reading a Hugging Face dataset: expected the columns of an exported one, got {type(error).__name__}: "
            f"{error}."
        ) from error


def _huggingface() -> Any:
    try:
        import datasets
    except ImportError as error:
        raise MissingExtraError("Exporting to Hugging Face datasets", "yield") from error
    return datasets


def _minari() -> Any:
    try:
        import minari
    except ImportError as error:
        raise MissingExtraError("Exporting to Minari", "minari") from error
    return minari


def to_minari(dataset: OfflineDataset, dataset_id: str, *, context: int | None = 5) -> Any:
    """Create a Minari dataset.

    Minari has no space for a sequence of messages, so that observations and actions are JSON text in ASCII. Each
    step's ``infos`` hold the return-to-go; the first observation's info holds the whole episode as JSON, so that
    `from_minari` recovers every field.

    Args:
        dataset: a dataset with at least one episode that has an action.
        dataset_id: Minari's id, such as ``yield/oral-history-v1``.
        context: the largest number of messages per observation.

    Returns:
        The `minari.MinariDataset`.

    Raises:
        SettingError: there is nothing to export.
    """
    minari = _minari()
    import numpy as np
    from gymnasium import spaces
    from minari.data_collector.episode_buffer import EpisodeBuffer

    playable = [episode for episode in dataset if len(episode)]
    if not playable:
        raise SettingError(f"Exporting to Minari: expected an episode with an action, got none in {dataset!r}.")
    buffers = []
    longest = 1
    for number, episode in enumerate(playable):
        observations = [json.dumps([[m.role, m.content] for m in o]) for o in episode.observations(context)]
        actions = [json.dumps(action) for action in episode.actions]
        longest = max(longest, *map(len, observations), *map(len, actions))
        whole = [json.dumps(_episode_row(episode))] + [""] * len(episode)
        buffers.append(
            EpisodeBuffer(
                id=number,
                observations=observations,
                actions=actions,
                rewards=list(episode.rewards),
                terminations=[False] * (len(episode) - 1) + [episode.terminated],
                truncations=[False] * (len(episode) - 1) + [episode.truncated or not episode.terminated],
                infos={
                    "return_to_go": [*map(np.float64, episode.returns_to_go), np.float64(0.0)],
                    "episode": whole,
                },
            )
        )
    text = spaces.Text(max_length=longest, min_length=0, charset=string.printable)
    return minari.create_dataset_from_buffers(
        dataset_id,
        buffers,
        observation_space=text,
        action_space=text,
        algorithm_name="human",
        description=f"{dataset.name}: histories and actions as JSON text, exported by elicit-gym",
    )


def from_minari(minari_dataset: Any, name: str = "minari") -> OfflineDataset:
    """Invert `to_minari`.

    Raises:
        StorageError: it was not made by `to_minari`.
    """
    episodes = []
    for episode in minari_dataset.iterate_episodes():
        try:
            whole = episode.infos["episode"][0]
            episodes.append(_episode_from_row(json.loads(whole.decode("utf-8") if isinstance(whole, bytes) else whole)))
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise StorageError(
                f"Reading a Minari dataset: expected one exported by elicit-gym, got {type(error).__name__}: {error}."
            ) from error
    return OfflineDataset(episodes, name)
