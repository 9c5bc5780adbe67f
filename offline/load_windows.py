"""Windows from any source: a dataset id, a built file, or released rows."""

from pathlib import Path
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.dialogue_rewards import ReplyLength
from elicit_gym.offline.exports import read_published
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.load_dataset import load_dataset
from elicit_gym.offline.windows import Window, WindowRules, chat_template_counter

__all__ = ["load_shuffled_windows", "load_windows"]


def load_windows(
    data: str,
    split: str | None,
    *,
    path: Path | None = None,
    reward: str = "factual_novelty",
    cache: Path | None = None,
    max_tokens: int = 512,
    limit: int | None = None,
    tokenizer: Any = None,
) -> list[Window]:
    """Load windows.

    Args:
        data: a dataset id, a built Arrow file, or released JSON lines (which have no split).
        split: the part to use; None for all.
        path: a local copy of the corpus.
        reward: the reward of a turn, for dataset ids.
        cache: a SQLite file that keeps entities.
        max_tokens: longer windows are left out.
        limit: the largest number of windows.
        tokenizer: the tokenizer whose chat template counts the tokens; without it, words and punctuation are counted.

    Raises:
        SettingError: there are no windows.
    """
    if data.endswith(".jsonl"):
        windows = list(read_published(data))
    else:
        if Path(data).is_file():
            dataset = OfflineDataset.open(data).filter(split=split)
        else:
            dataset = load_dataset(data, split=split, path=path, reward=reward, cache=cache)
        rules = WindowRules(max_tokens=max_tokens)
        if tokenizer is not None:
            rules = WindowRules(max_tokens=max_tokens, count_tokens=chat_template_counter(tokenizer))
        windows = list(dataset.windows(rules))
    if not windows:
        raise SettingError(f"Loading windows from {data}: expected some in split {split!r}, got none. Check the data.")
    return windows[:limit]


def load_shuffled_windows(
    data: str, split: str | None, *, path: Path | None = None, max_tokens: int = 512, limit: int | None = None
) -> list[Window] | None:
    """Load windows of the shuffled control corpus; or None if the data are a file, which does not hold whole dialogues.

    Args:
        data: see `load_windows`.
        split: the part to use; None for all.
        path: a local copy of the corpus.
        max_tokens: longer windows are left out.
        limit: the largest number of windows.

    References:
        YIELD, Section 6.5.2.
    """
    if Path(data).is_file():
        return None
    corpus, _, part = data.partition("/")
    dialogues = load_corpus(corpus, split, path=path)
    domain = part.removesuffix("-v1")
    chosen = dialogues if domain == "all" else dialogues.filter(domain=domain)
    dataset = OfflineDataset.from_dialogues(chosen.shuffled(), ReplyLength())
    return list(dataset.windows(WindowRules(max_tokens=max_tokens)))[:limit] or None
