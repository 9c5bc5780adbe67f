"""The dataset as offline reinforcement learning knows it: episodes, transitions, windows, D4RL dictionaries."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any, overload

import numpy as np
from numpy.typing import NDArray

from elicit_gym.episode import EpisodeRecord, Transition
from elicit_gym.errors import SettingError
from elicit_gym.offline.dialogue_rewards import DialogueReward
from elicit_gym.offline.episodes import CONTEXT, OfflineEpisode, episode_of_dialogue, episode_of_record
from elicit_gym.offline.licences import COMMERCIAL
from elicit_gym.offline.schema import Dialogue
from elicit_gym.offline.windows import Window, WindowRules, make_windows
from elicit_gym.strict_json import json_text
from elicit_gym.types import ChatHistory

if TYPE_CHECKING:
    from elicit_gym.offline.arrays import ActionView, ArrayDataset, TextEncoder

__all__ = ["OfflineDataset", "history_text", "qlearning_dataset", "sequence_dataset"]


def history_text(history: ChatHistory) -> str:
    """Write a history as JSON text, from which `json.loads` gets it back: ``[["user", "..."], ...]``."""
    return json_text([[message.role, message.content] for message in history], ascii_only=False)


class OfflineDataset(Sequence[OfflineEpisode]):
    """A dataset of episodes, in memory or read from a memory-mapped file when they are asked for.

    Args:
        episodes: the episodes; the sequence is not copied.
        name: the dataset's name in reports.
    """

    def __init__(self, episodes: Sequence[OfflineEpisode], name: str = "dataset") -> None:
        self._episodes = episodes
        self.name = name

    @classmethod
    def from_dialogues(
        cls,
        dialogues: Iterable[Dialogue],
        reward: DialogueReward,
        *,
        gamma: float = 0.9,
        published: bool = False,
        name: str = "dataset",
    ) -> "OfflineDataset":
        """Build a dataset from dialogues; see `elicit_gym.offline.episodes.episode_of_dialogue`."""
        return cls([episode_of_dialogue(d, reward, gamma=gamma, published=published) for d in dialogues], name)

    @classmethod
    def from_records(
        cls, records: Iterable[EpisodeRecord], *, gamma: float = 0.9, name: str = "infoquest"
    ) -> "OfflineDataset":
        """Build a dataset from episodes collected in InfoQuest; failed ones and empty ones are left out."""
        return cls([episode_of_record(r, gamma=gamma) for r in records if r.failure is None and r.episode.turns], name)

    @classmethod
    def open(cls, path: str | Path) -> "OfflineDataset":
        """Open a built dataset without reading it.

        Raises:
            StorageError: it cannot be read.
        """
        from elicit_gym.offline.arrow import ArrowEpisodes

        return cls(ArrowEpisodes(Path(path)), Path(path).stem)

    def save(self, path: str | Path) -> Path:
        """Write the dataset to one Arrow file, to be opened memory-mapped."""
        from elicit_gym.offline.arrow import write_episodes

        return write_episodes(self._episodes, Path(path))

    def __len__(self) -> int:
        return len(self._episodes)

    @overload
    def __getitem__(self, index: int) -> OfflineEpisode: ...

    @overload
    def __getitem__(self, index: slice) -> "OfflineDataset": ...

    def __getitem__(self, index: int | slice) -> "OfflineEpisode | OfflineDataset":
        if isinstance(index, slice):
            return self._pick(range(*index.indices(len(self))))
        return self._episodes[index]

    def __repr__(self) -> str:
        return f"OfflineDataset({self.name!r}, {len(self)} episodes)"

    def _pick(self, indexes: Iterable[int]) -> "OfflineDataset":
        return OfflineDataset([self._episodes[i] for i in indexes], self.name)

    def filter(
        self,
        *,
        domain: str | None = None,
        split: str | None = None,
        licence: str | None = None,
        commercial: bool = False,
        where: Callable[[OfflineEpisode], bool] | None = None,
    ) -> "OfflineDataset":
        """Return the episodes that meet every condition given."""
        return OfflineDataset(
            [
                e
                for e in self._episodes
                if (domain is None or e.domain == domain)
                and (split is None or e.split == split)
                and (licence is None or e.licence == licence)
                and (not commercial or e.licence in COMMERCIAL)
                and (where is None or where(e))
            ],
            self.name,
        )

    def split(self) -> "dict[str, OfflineDataset]":
        """Return the dataset by split; episodes without one are under ``none``."""
        names = dict.fromkeys(episode.split or "none" for episode in self._episodes)
        return {
            name: self.filter(where=lambda episode, name=name: (episode.split or "none") == name)  # type: ignore[misc]
            for name in names
        }

    def sample(self, count: int, seed: int = 0) -> "OfflineDataset":
        """Return `count` episodes drawn without replacement, in their order.

        Raises:
            SettingError: there are fewer.
        """
        if not 0 <= count <= len(self):
            raise SettingError(f"Sampling episodes: expected at most {len(self)}, got {count}. Ask for fewer.")
        return self._pick(sorted(Random(seed).sample(range(len(self)), count)))

    def transitions(self, context: int | None = CONTEXT) -> Iterator[Transition]:
        """Yield every transition.

        Args:
            context: the largest number of messages per observation; None for all, which is quadratic in the length of a
                dialogue.
        """
        for episode in self._episodes:
            yield from episode.transitions(context)

    def windows(self, rules: WindowRules | None = None, counts: Counter[str] | None = None) -> Iterator[Window]:
        """Yield the windows; see `elicit_gym.offline.windows.make_windows`."""
        return make_windows(self._episodes, rules, counts)

    def to_d4rl(self, context: int | None = CONTEXT) -> dict[str, NDArray[Any]]:
        """Return the dataset as one dictionary of arrays, N transitions long.

        Returns:
            ``observations``, ``actions``, ``next_observations`` (object arrays of text; observations by
            `history_text`), ``rewards``, ``returns_to_go`` (float32), ``terminals``, ``timeouts`` (bool) and
            ``episode_ids`` (object), each of shape (N,); and ``behaviour_log_probs`` (float64) where every episode has
            them.

        References:
            D4RL's datasets; theirs hold vectors where these hold text.
        """
        columns: dict[str, list[Any]] = {key: [] for key in (*_TEXT_COLUMNS, *_NUMBER_COLUMNS, *_FLAG_COLUMNS)}
        for episode in self._episodes:
            for transition, return_ in zip(episode.transitions(context), episode.returns_to_go, strict=True):
                columns["observations"].append(history_text(transition.observation))
                columns["actions"].append(transition.action)
                columns["next_observations"].append(history_text(transition.next_observation))
                columns["rewards"].append(transition.reward)
                columns["returns_to_go"].append(return_)
                columns["terminals"].append(transition.terminated)
                columns["timeouts"].append(transition.truncated)
                columns["episode_ids"].append(episode.id)
        made: dict[str, NDArray[Any]] = {}
        for key, values in columns.items():
            kind = np.float32 if key in _NUMBER_COLUMNS else np.bool_ if key in _FLAG_COLUMNS else object
            made[key] = np.empty(len(values), dtype=kind)
            made[key][:] = values
        known = [episode.behaviour_log_probs for episode in self._episodes]
        if all(log_probs is not None for log_probs in known):
            made["behaviour_log_probs"] = np.array(
                [p for log_probs in known for p in log_probs or ()], dtype=np.float64
            )
        return made

    def to_arrays(
        self,
        encoder: "TextEncoder | Any",
        *,
        actions: "ActionView" = "embedding",
        num_actions: int = 32,
        action_texts: Sequence[str] | None = None,
        context: int | None = CONTEXT,
        seed: int = 0,
    ) -> "ArrayDataset":
        """Return the dataset as vectors, for libraries such as d3rlpy: ``to_arrays(...).to_mdp_dataset()``.

        Args:
            encoder: from texts to vectors: a function, or a sentence-transformers model;
                `elicit_gym.offline.arrays.HashingEncoder` needs no model.
            actions: ``embedding`` for encoded utterances; ``discrete`` for numbers.
            num_actions: the largest number of discrete actions: where more different utterances were said, they are
                clustered by k-means on their vectors.
            action_texts: what the numbers stand for, where it is known, such as a question bank.
            context: the largest number of messages per observation.
            seed: the seed of the clustering.

        Returns:
            All transitions of all episodes, in order.

        Raises:
            SettingError: there is no action, one is not in `action_texts`, or the encoder gives no vectors.
        """
        from elicit_gym.offline.arrays import episodes_to_arrays

        return episodes_to_arrays(
            self._episodes, encoder, actions=actions, num_actions=num_actions, action_texts=action_texts,
            context=context, seed=seed,
        )  # fmt: skip

    def tokenize(
        self, tokenizer: Any, max_length: int = 512, rules: WindowRules | None = None
    ) -> dict[str, NDArray[Any]]:
        """Return the windows as token ids, ready for a causal language model.

        Prompt, action and the end token after it are those of `elicit_gym.offline.model_input`, as trainers, policies
        and evaluation use them. Windows longer than `max_length` are left out.

        Args:
            tokenizer: a Hugging Face tokenizer with a chat template.
            max_length: the largest number of tokens per window.
            rules: the rules for the windows, except for their token limit, which is `max_length`.

        Returns:
            ``input_ids``, ``attention_mask``, ``action_mask`` (int64, shape (N, L) with L the longest; right-padded),
            ``rewards``, ``returns_to_go`` (float32, shape (N,)) and ``block_ids`` (object, shape (N,)).

        Raises:
            SettingError: the tokenizer has no chat template or no end token.
        """
        from elicit_gym.offline.tokenizing import tokenize_windows

        return tokenize_windows(list(self.windows(rules or WindowRules(max_tokens=None))), tokenizer, max_length)


_TEXT_COLUMNS = ("observations", "actions", "next_observations", "episode_ids")
_NUMBER_COLUMNS = ("rewards", "returns_to_go")
_FLAG_COLUMNS = ("terminals", "timeouts")


def qlearning_dataset(dataset: OfflineDataset, context: int | None = CONTEXT) -> dict[str, NDArray[Any]]:
    """Return what D4RL's function of this name returns: transitions without those cut off by a timeout."""
    columns = dataset.to_d4rl(context)
    keep = ~columns["timeouts"]
    keys = ("observations", "actions", "next_observations", "rewards", "terminals")
    return {key: columns[key][keep] for key in keys}


def sequence_dataset(dataset: OfflineDataset, context: int | None = CONTEXT) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield what D4RL's function of this name yields: one dictionary of arrays per episode."""
    for i in range(len(dataset)):
        yield dataset[i : i + 1].to_d4rl(context)
