"""Numeric views: dialogues as vectors, for libraries of offline reinforcement learning that know nothing of text."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from elicit_gym.errors import SettingError
from elicit_gym.offline.episodes import CONTEXT, OfflineEpisode
from elicit_gym.types import ChatHistory

__all__ = ["ActionView", "ArrayDataset", "HashingEncoder", "TextEncoder", "encode_histories", "episodes_to_arrays"]

Vectors: TypeAlias = NDArray[np.float32]
TextEncoder: TypeAlias = Callable[[Sequence[str]], NDArray[Any]]
"""From n texts to vectors, shape (n, D). A sentence-transformers model is one by its method ``encode``."""
ActionView = Literal["embedding", "discrete"]


class HashingEncoder:
    """Counts words and pairs of neighbours in `size` buckets by a fixed hash, and scales the vector to length 1.

    It needs no model and no fitting, and gives the same vectors everywhere: for first runs and for tests. A sentence
    encoder knows more.

    Args:
        size: the length of the vectors.

    References:
        Weinberger et al. (2009), "Feature hashing for large scale multitask learning".
    """

    def __init__(self, size: int = 128) -> None:
        self._size = size

    def __call__(self, texts: Sequence[str]) -> Vectors:
        """Return one vector for each text, shape (n, size)."""
        vectors = np.zeros((len(texts), self._size), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            words = text.lower().split()
            for piece in (*words, *map(" ".join, pairwise(words))):
                code = crc32(piece.encode("utf-8", "surrogatepass"))
                row[(code >> 1) % self._size] += 1.0 if code & 1 else -1.0
        norms = np.linalg.norm(vectors, axis=1, keepdims=True)
        np.divide(vectors, norms, out=vectors, where=norms > 0)
        return vectors


@dataclass(frozen=True, kw_only=True)
class ArrayDataset:
    """N transitions as numbers, in the order of the episodes.

    Attributes:
        observations: the encoded history before each action, shape (N, D).
        actions: the encoded utterances, shape (N, E), or their numbers, shape (N,).
        rewards: shape (N,).
        next_observations: the encoded history before the next action; in the end, after the last reply. Shape (N, D).
        terminals: 1 where an episode ended by itself, shape (N,).
        timeouts: 1 where it was cut off, or goes on unrecorded, shape (N,). Each episode's last transition has one of
            the two.
        episode_ids: shape (N,).
        steps: the number of the action in its episode, shape (N,).
        action_texts: what the number of an action stands for: the utterance itself, or the one nearest to the middle of
            its cluster; None for embeddings.
    """

    observations: Vectors
    actions: Vectors | NDArray[np.int64]
    rewards: Vectors
    next_observations: Vectors
    terminals: Vectors
    timeouts: Vectors
    episode_ids: NDArray[Any]
    steps: NDArray[np.int64]
    action_texts: tuple[str, ...] | None = None

    def __len__(self) -> int:
        return len(self.rewards)

    def to_mdp_dataset(self) -> Any:
        """Return the transitions as d3rlpy's ``MDPDataset``.

        Raises:
            SettingError: d3rlpy is not installed.
        """
        try:
            import d3rlpy
        except ImportError as error:
            raise SettingError(
                "Making an MDPDataset: expected d3rlpy, got no such package. Install it: pip install d3rlpy"
            ) from error
        discrete = self.action_texts is not None
        space = d3rlpy.ActionSpace.DISCRETE if discrete else d3rlpy.ActionSpace.CONTINUOUS
        actions = self.actions[:, None] if discrete else self.actions
        return d3rlpy.dataset.MDPDataset(
            self.observations, actions, self.rewards, self.terminals, self.timeouts, action_space=space,
            action_size=len(self.action_texts) if self.action_texts is not None else self.actions.shape[1],
        )  # fmt: skip


def _encode(encoder: TextEncoder | Any, texts: Sequence[str]) -> Vectors:
    encode = encoder if callable(encoder) and not hasattr(encoder, "encode") else encoder.encode
    vectors = np.asarray(encode(list(texts)), dtype=np.float32)
    if vectors.ndim != 2 or len(vectors) != len(texts):
        raise SettingError(
            f"Encoding text: expected one vector for each of {len(texts)} texts, got an array of shape "
            f"{vectors.shape}. Give a function from texts to an array of shape (n, D)."
        )
    return vectors


def encode_histories(encoder: TextEncoder | Any, histories: Sequence[ChatHistory]) -> Vectors:
    """Return one vector for each history: the latest message's and, behind it, that of all before it, shape (n, 2 D).

    Args:
        encoder: a `TextEncoder`, or an object with such a method ``encode``.
        histories: the histories.
    """
    last = [history[-1].content if history else "" for history in histories]
    before = ["\n".join(f"{m.role}: {m.content}" for m in history[:-1]) for history in histories]
    texts = list(dict.fromkeys((*last, *before)))  # an observation is the next one of the transition before it
    vectors = _encode(encoder, texts) if texts else np.zeros((0, 0), dtype=np.float32)
    places = {text: place for place, text in enumerate(texts)}
    rows = [vectors[[places[text] for text in column]] for column in (last, before)]
    return np.hstack(rows)


def episodes_to_arrays(
    episodes: Sequence[OfflineEpisode],
    encoder: TextEncoder | Any,
    *,
    actions: ActionView = "embedding",
    num_actions: int = 32,
    action_texts: Sequence[str] | None = None,
    context: int | None = CONTEXT,
    seed: int = 0,
) -> ArrayDataset:
    """Turn episodes into vectors; see `elicit_gym.offline.dataset.OfflineDataset.to_arrays`."""
    acted = [episode for episode in episodes if len(episode)]
    if not acted:
        raise SettingError("Making arrays: expected episodes with actions, got none. Check the data.")
    said = [action for episode in acted for action in episode.actions]
    if actions == "embedding":
        taken: Vectors | NDArray[np.int64] = _encode(encoder, said)
        texts = None
    elif action_texts is not None:
        taken, texts = _numbers_of(said, action_texts), tuple(action_texts)
    else:
        taken, texts = _clusters(said, encoder, num_actions, seed)
    observed = encode_histories(encoder, [h for e in acted for h in e.observations(context)])  # T + 1 per episode
    lengths = np.array([len(episode) for episode in acted])
    starts = np.concatenate([[0], np.cumsum(lengths + 1)[:-1]])
    at = np.concatenate([start + np.arange(n) for start, n in zip(starts, lengths, strict=True)])
    last = np.cumsum(lengths) - 1
    terminals, timeouts = np.zeros(len(said), dtype=np.float32), np.zeros(len(said), dtype=np.float32)
    terminals[last] = [float(episode.terminated) for episode in acted]
    timeouts[last] = 1.0 - terminals[last]
    ids = np.empty(len(said), dtype=object)
    ids[:] = [episode.id for episode in acted for _ in range(len(episode))]
    return ArrayDataset(
        observations=observed[at], actions=taken,
        rewards=np.array([r for episode in acted for r in episode.rewards], dtype=np.float32),
        next_observations=observed[at + 1], terminals=terminals, timeouts=timeouts, episode_ids=ids,
        steps=np.concatenate([np.arange(n, dtype=np.int64) for n in lengths]), action_texts=texts,
    )  # fmt: skip


def _numbers_of(said: Sequence[str], texts: Sequence[str]) -> NDArray[np.int64]:
    places = {text: place for place, text in enumerate(texts)}
    strange = next((action for action in said if action not in places), None)
    if strange is not None:
        raise SettingError(
            f"Numbering actions: expected one of the {len(texts)} in action_texts, got {strange[:60]!r}. Add it, or "
            "leave action_texts out, so that utterances are clustered."
        )
    return np.array([places[action] for action in said], dtype=np.int64)


def _clusters(
    said: Sequence[str], encoder: TextEncoder | Any, num_actions: int, seed: int
) -> tuple[NDArray[np.int64], tuple[str, ...]]:
    """Number utterances: each its own number if there are few, else by k-means on their vectors."""
    from scipy.cluster.vq import kmeans2, vq

    different = list(dict.fromkeys(said))
    if len(different) <= num_actions:
        return _numbers_of(said, different), tuple(different)
    vectors = _encode(encoder, different).astype(np.float64)
    centres, _ = kmeans2(vectors, num_actions, minit="++", seed=seed)
    nearest, distances = vq(vectors, centres)
    used, numbers = np.unique(nearest, return_inverse=True)  # a centre that nothing is nearest to is left out
    names = tuple(different[int(np.where(nearest == centre, distances, np.inf).argmin())] for centre in used)
    of = {text: int(number) for text, number in zip(different, numbers, strict=True)}
    return np.array([of[text] for text in said], dtype=np.int64), names
