"""Windows from any source: a dataset id, dialogues of your own, a built file, or released rows."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.dialogue_rewards import ReplyLength
from elicit_gym.offline.exports import read_published
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.load_dataset import corpus_and_domain, load_dataset
from elicit_gym.offline.released_rows import EXPERIMENTAL, read_experimental
from elicit_gym.offline.windows import Window, WindowRules, chat_template_counter
from elicit_gym.strict_json import parse_json

__all__ = ["has_splits", "load_shuffled_windows", "load_tokenizer", "load_windows", "window_rules"]

_DIALOGUES = (".json", ".jsonl", ".zip")


def load_tokenizer(name: str) -> Any:
    """Load a tokenizer by hub id or folder.

    Raises:
        MissingExtraError: transformers is not installed.
        SettingError: there is no such tokenizer, or it has no chat template.
    """
    try:
        from transformers import AutoTokenizer
    except ImportError as error:
        raise MissingExtraError("Counting a model's tokens", "train") from error
    try:
        tokenizer = AutoTokenizer.from_pretrained(name, trust_remote_code=False)
    except Exception as error:  # transformers and the hub raise the errors of half a dozen libraries
        raise SettingError(
            f"Loading the tokenizer {name!r}: expected a folder or an id on the Hugging Face hub, got "
            f"{type(error).__name__}. Check the name and the network."
        ) from error
    if getattr(tokenizer, "chat_template", None) is None:
        raise SettingError(
            f"Loading the tokenizer {name!r}: expected one with a chat template, got one without. Choose another."
        )
    return tokenizer


def window_rules(tokenizer: Any = None, max_tokens: int | None = 512) -> WindowRules:
    """Return the published rules, with a limit on tokens counted by a tokenizer.

    Args:
        tokenizer: the tokenizer whose chat template counts, or its name; None counts words and punctuation.
        max_tokens: longer windows are left out; None for no limit.
    """
    if tokenizer is None:
        return WindowRules(max_tokens=max_tokens)
    loaded = load_tokenizer(tokenizer) if isinstance(tokenizer, str) else tokenizer
    return WindowRules(max_tokens=max_tokens, count_tokens=chat_template_counter(loaded))


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
        data: a dataset id; ``yield/experimental-v1``; your own name beside `path`; a built Arrow file; released JSON
            lines (which have no split); or a file or folder with dialogues.
        split: the part to use; None for all.
        path: a local copy of the corpus, or of the released rows.
        reward: the reward of a turn, for dialogues.
        cache: a SQLite file that keeps entities.
        max_tokens: longer windows are left out, whatever the data.
        limit: the largest number of windows.
        tokenizer: see `window_rules`.

    Raises:
        SettingError: there are no windows.
    """
    rules = window_rules(tokenizer, max_tokens)
    counts: Counter[str] = Counter()
    windows: Iterable[Window]
    if data == EXPERIMENTAL:
        windows = _short_enough(read_experimental(split, path=path), rules, counts)
    elif not has_splits(data, path):
        windows = _short_enough(read_published(data), rules, counts)
    else:
        dataset = _dataset(data, split, path, reward, cache)
        counts["episodes"] = len(dataset)
        windows = dataset.windows(rules, counts)
    kept = list(windows)
    if not kept:
        raise _none_left(data, split, counts)
    return kept[:limit]


def has_splits(data: str, path: Path | None = None) -> bool:
    """Say whether the data of `load_windows` have splits: all have but a file of released JSON lines."""
    return path is not None or not data.endswith(".jsonl") or _holds_dialogues(Path(data))


def _dataset(data: str, split: str | None, path: Path | None, reward: str, cache: Path | None) -> OfflineDataset:
    own = Path(data)
    if path is None and own.is_file() and own.suffix not in _DIALOGUES:
        return OfflineDataset.open(data).filter(split=split)
    if path is None and own.exists():
        data, path = own.name, own
    return load_dataset(data, split=split, path=path, reward=reward, cache=cache)


def _holds_dialogues(path: Path) -> bool:
    """Say whether the first row of JSON lines is a dialogue; whatever cannot be read is left to the reader of rows."""
    try:
        with path.open(encoding="utf-8-sig") as file:
            first = parse_json(next(line for line in file if line.strip()))
    except (OSError, ValueError, StopIteration):
        return False
    return isinstance(first, dict) and "turns" in first


def _short_enough(windows: Iterable[Window], rules: WindowRules, counts: Counter[str]) -> Iterator[Window]:
    for window in windows:
        counts["actions"] += 1
        if rules.max_tokens is not None and rules.count_tokens(window.messages) > rules.max_tokens:
            counts["too_long"] += 1
        else:
            yield window


def _none_left(data: str, split: str | None, counts: Counter[str]) -> SettingError:
    part = "" if split is None else f" in split {split!r}"
    doing = f"Loading windows from {data}: expected some{part}, got"
    if not counts["actions"]:
        return SettingError(
            f"{doing} no dialogue there with an action. Choose another split, add dialogues, or split them anew "
            "(elicit-gym data build --split 80/10/10)."
        )
    dropped = ", ".join(f"{name.replace('_', ' ')} {count}" for name, count in counts.items() if name != "episodes")
    return SettingError(
        f"{doing} none ({dropped}). A window needs six turns, an action of three words or more, and at most as many "
        "tokens as --max-window-tokens. Check the data."
    )


def load_shuffled_windows(
    data: str,
    split: str | None,
    *,
    path: Path | None = None,
    max_tokens: int = 512,
    limit: int | None = None,
    tokenizer: Any = None,
) -> list[Window] | None:
    """Load windows of the shuffled control corpus; or None if the data do not hold whole dialogues, or too short ones.

    Args:
        data: see `load_windows`.
        split: the part to use; None for all.
        path: a local copy of the corpus.
        max_tokens: longer windows are left out.
        limit: the largest number of windows.
        tokenizer: see `window_rules`.

    References:
        YIELD, Section 6.5.2.
    """
    if data == EXPERIMENTAL or (path is None and Path(data).is_file() and not _is_corpus(Path(data))):
        return None
    if path is None and Path(data).exists():
        data, path = Path(data).name, Path(data)
    corpus, domain = corpus_and_domain(data, path)
    dialogues = load_corpus(corpus, split, path=path)
    chosen = dialogues if domain is None else dialogues.filter(domain=domain)
    dataset = OfflineDataset.from_dialogues(chosen.shuffled(), ReplyLength())
    return list(dataset.windows(window_rules(tokenizer, max_tokens)))[:limit] or None


def _is_corpus(path: Path) -> bool:
    return path.suffix in _DIALOGUES and (path.suffix != ".jsonl" or _holds_dialogues(path))
