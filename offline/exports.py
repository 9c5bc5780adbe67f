"""Exports to other formats and back, without loss: published rows, Hugging Face datasets, Minari."""

import string
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from gymnasium.envs.registration import EnvSpec

from elicit_gym.errors import MissingExtraError, SettingError, StorageError
from elicit_gym.files import replacing, writing
from elicit_gym.json_files import read_records
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.episodes import OfflineEpisode, checked_episode
from elicit_gym.offline.minari_metadata import create_minari_dataset
from elicit_gym.offline.windows import Window, window_from_row, window_to_row
from elicit_gym.strict_json import json_text, parse_json, typed
from elicit_gym.types import Message, Role

__all__ = [
    "check_minari_id",
    "from_huggingface",
    "from_minari",
    "read_published",
    "to_huggingface",
    "to_minari",
    "write_huggingface",
    "write_published",
]


def write_published(
    windows: Iterable[Window], path: str | Path, *, experimental: bool = True, inputs: Iterable[Path] = ()
) -> int:
    """Write windows as the released JSON lines, in strict UTF-8.

    Args:
        windows: the windows to write.
        path: the file.
        experimental: whether to write score and return, which the fine-tuning rows do not have.
        inputs: see `elicit_gym.files.check_output`.

    Returns:
        The number of windows.

    Raises:
        SettingError: a text holds half of a surrogate pair, which no reader of JSON lines takes; nothing is written.
    """
    count = 0
    with writing(Path(path), inputs=inputs) as file:
        for window in windows:
            file.write(json_text(window_to_row(window, experimental=experimental), ascii_only=False) + "\n")
            count += 1
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
        "id": json_text(episode.id),
        "domain": episode.domain,
        "split": episode.split,
        "licence": episode.licence,
        "messages": json_text([[m.role, m.content] for m in episode.messages]),
        "turn_ids": list(episode.turn_ids),
        "rewards": list(episode.rewards),
        "returns_to_go": list(episode.returns_to_go),
        "terminated": episode.terminated,
        "truncated": episode.truncated,
        "behaviour_log_probs": None if episode.behaviour_log_probs is None else list(episode.behaviour_log_probs),
    }


def _episode_from_row(row: Mapping[str, Any]) -> OfflineEpisode:
    log_probs = row.get("behaviour_log_probs")
    messages = typed(list[tuple[str, ...]], parse_json(row["messages"]), "messages")
    return checked_episode(
        OfflineEpisode(
            id=typed(str, parse_json(row["id"]), "id"),
            domain=typed(str, row["domain"], "domain"),
            split=typed(str | None, row["split"], "split"),
            licence=typed(str, row["licence"], "licence"),
            messages=tuple([Message(role=typed(Role, role, "role"), content=content) for role, content in messages]),
            turn_ids=tuple([int(i) for i in row["turn_ids"]]),
            rewards=tuple([float(r) for r in row["rewards"]]),
            returns_to_go=tuple([float(r) for r in row["returns_to_go"]]),
            terminated=bool(row["terminated"]),
            truncated=bool(row["truncated"]),
            behaviour_log_probs=None if log_probs is None else tuple([float(p) for p in log_probs]),
        )
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
    except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
        raise StorageError(
            f"Reading a Hugging Face dataset: expected the columns of an exported one, got {type(error).__name__}: "
            f"{error}."
        ) from error


def write_huggingface(dataset: OfflineDataset, path: Path, *, inputs: Iterable[Path] = ()) -> int:
    """Write episodes for Hugging Face datasets: as Parquet where the path ends in ``.parquet``, else as a folder.

    Args:
        dataset: the episodes.
        path: the file, or a folder that is new, empty or such an export.
        inputs: see `elicit_gym.files.check_output`.

    Returns:
        The number of episodes.

    Raises:
        SettingError: it cannot be written there.
    """
    if path.is_dir() and any(path.iterdir()) and not (path / "dataset_info.json").is_file():
        raise SettingError(
            f"Writing {path}: expected a new folder or an earlier export, got one with other files. Choose another."
        )
    in_folder = path.suffix != ".parquet"
    table = to_huggingface(dataset)
    with replacing(path, folder=in_folder, inputs=inputs) as beside:
        table.save_to_disk(beside) if in_folder else table.to_parquet(beside)
    return len(dataset)


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


def check_minari_id(dataset_id: str) -> None:
    """Check that a Minari dataset of this id can be made, before the work whose result it is to hold.

    Raises:
        MissingExtraError: the extra ``minari`` is not installed.
        SettingError: it is no id of Minari's, or there is such a dataset already.
    """
    minari = _minari()
    from minari.dataset.minari_dataset import parse_dataset_id

    try:
        parse_dataset_id(dataset_id)
    except (ValueError, TypeError) as error:
        raise SettingError(
            "Exporting to Minari: expected an id such as 'yield/oral-history-v0' (a name of letters, digits, - and _, "
            f"with a version; a namespace in front has two letters or more), got {dataset_id!r}. Choose another --out."
        ) from error
    if dataset_id in minari.list_local_datasets():
        raise SettingError(
            f"Exporting to Minari: expected a new id, got {dataset_id!r}, which is there already. Choose another name "
            f"or version, or delete it (minari delete {dataset_id})."
        )


def to_minari(
    dataset: OfflineDataset,
    dataset_id: str,
    *,
    context: int | None = 5,
    env: str | EnvSpec | None = None,
    author: str = "elicit-gym",
    contact: str | None = None,
    algorithm: str | None = None,
) -> Any:
    """Create a Minari dataset.

    Minari has no space for a sequence of messages, so that observations and actions are JSON text in ASCII. Each
    step's ``infos`` hold the return-to-go; each episode's metadata hold the whole episode as JSON text, so that
    `from_minari` recovers every field. (In ``infos`` Minari gives text back as bytes.)

    Args:
        dataset: a dataset with at least one episode that has an action.
        dataset_id: Minari's id, such as ``yield/oral-history-v1``.
        context: the largest number of messages per observation.
        env: the environment that `minari.MinariDataset.recover_environment` gives back: its id, or its spec with
            arguments. By default, InfoQuest for episodes played there, and the replay of a dataset that has an id;
            corpora of your own have none.
        author: who made the data, for the metadata.
        contact: how to reach them; by default, where the package is found.
        algorithm: who acted, for the metadata; by default, ``human``, or the policies of the episodes played.

    Returns:
        The `minari.MinariDataset`.

    Raises:
        SettingError: there is nothing to export, or the id is none; see `check_minari_id`.
    """
    check_minari_id(dataset_id)
    import numpy as np
    from gymnasium import spaces
    from minari.data_collector.episode_buffer import EpisodeBuffer

    playable = [episode for episode in dataset if len(episode)]
    if not playable:
        raise SettingError(f"Exporting to Minari: expected an episode with an action, got none in {dataset!r}.")
    buffers = []
    longest = 1
    for number, episode in enumerate(playable):
        observations = [json_text([[m.role, m.content] for m in o]) for o in episode.observations(context)]
        actions = [json_text(action) for action in episode.actions]
        longest = max(longest, *map(len, observations), *map(len, actions))
        buffers.append(
            EpisodeBuffer(
                id=number,
                observations=observations,
                actions=actions,
                rewards=list(episode.rewards),
                terminations=[False] * (len(episode) - 1) + [episode.terminated],
                truncations=[False] * (len(episode) - 1) + [episode.truncated or not episode.terminated],
                infos={"return_to_go": [*map(np.float64, episode.returns_to_go), np.float64(0.0)]},
            )
        )
    text = spaces.Text(max_length=longest, min_length=0, charset=string.printable)
    made = create_minari_dataset(
        dataset_id, buffers, text, playable, dataset.name, env=env, author=author, contact=contact, algorithm=algorithm
    )
    rows = [{"episode": json_text(_episode_row(episode))} for episode in playable]
    made.storage.update_episode_metadata(rows, range(len(playable)))
    return made


def from_minari(minari_dataset: Any, name: str = "minari") -> OfflineDataset:
    """Invert `to_minari`.

    Raises:
        StorageError: it was not made by `to_minari`.
    """
    episodes = []
    for metadata in minari_dataset.storage.get_episode_metadata(minari_dataset.episode_indices):
        try:
            episodes.append(_episode_from_row(parse_json(metadata["episode"])))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise StorageError(
                f"Reading a Minari dataset: expected one exported by elicit-gym, got {type(error).__name__}: {error}."
            ) from error
    return OfflineDataset(episodes, name)
