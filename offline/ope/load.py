"""Dialogues for off-policy evaluation, from wherever they lie."""

from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.load_dataset import load_dataset
from elicit_gym.rollout.storage import load_run

__all__ = ["load_dialogues"]


def load_dialogues(
    data: str,
    split: str | None = None,
    *,
    acted: str | None = None,
    path: Path | None = None,
    reward: str = "factual_novelty",
    cache: Path | None = None,
) -> OfflineDataset:
    """Load whole dialogues with rewards.

    Args:
        data: a dataset id, a built Arrow file, or the folder of a run in InfoQuest.
        split: the part to use; None for all. Runs have none.
        acted: whose episodes of a run are used; None if there is one policy only.
        path: a local copy of the corpus, for dataset ids.
        reward: the reward of a turn, for dataset ids.
        cache: a SQLite file that keeps entities.

    Raises:
        SettingError: there are no dialogues, or a run has several policies and none of them is named.
    """
    place = Path(data)
    if place.is_dir():
        records, _ = load_run(place)
        names = sorted({record.policy for record in records})
        if acted is None and len(names) > 1:
            raise SettingError(
                f"Reading the run in {data}: expected one policy, got {', '.join(names)}. Name the one that acted "
                "(--behaviour)."
            )
        if acted is not None and acted not in names:
            raise SettingError(f"Reading the run in {data}: expected episodes of {acted!r}, got {', '.join(names)}.")
        dataset = OfflineDataset.from_records([r for r in records if acted in (None, r.policy)], name=data)
    elif place.is_file():
        dataset = OfflineDataset.open(place)
        dataset = dataset.filter(split=split) if split else dataset
    else:
        dataset = load_dataset(data, split=split, path=path, reward=reward, cache=cache)
    if not len(dataset):
        raise SettingError(f"Loading dialogues from {data}: expected some in split {split!r}, got none.")
    return dataset
