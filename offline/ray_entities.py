"""Entities over a Ray cluster."""

from collections import deque
from collections.abc import Iterator, Sequence
from typing import Any

from elicit_gym.offline.ner import read_entities
from elicit_gym.rollout.ray_cluster import connect

__all__ = ["entities_on_ray"]

CHUNK = 512


def entities_on_ray(model: str, texts: Sequence[str], address: str | None = None) -> Iterator[list[str]]:
    """Yield the entities of each text, in order; a chunk that is lost with its worker is read again by another.

    Args:
        model: a spaCy pipeline that is installed on every machine; each worker loads it once.
        texts: the texts, shape (n,).
        address: the cluster's address; None starts one on this machine.

    Raises:
        MissingExtraError: the extra ``ray`` is not installed.
        SettingError: there is no cluster at the address, or no such pipeline.
    """
    ray = connect(address)
    read = ray.remote(num_cpus=1, max_retries=5)(_read_chunk)
    chunks = iter([list(texts[i : i + CHUNK]) for i in range(0, len(texts), CHUNK)])
    ahead = 2 * max(1, int(ray.cluster_resources().get("CPU", 1)))
    pending: deque[Any] = deque()
    for chunk in chunks:
        pending.append(read.remote(model, chunk))
        if len(pending) >= ahead:
            yield from _take(ray, pending)
    while pending:
        yield from _take(ray, pending)


def _take(ray: Any, pending: "deque[Any]") -> list[list[str]]:
    try:
        taken: list[list[str]] = ray.get(pending.popleft())
    except ray.exceptions.RayTaskError as error:
        raise error.cause if isinstance(error.cause, Exception) else error from None
    return taken


def _read_chunk(model: str, texts: list[str]) -> list[list[str]]:
    return list(read_entities(model, texts, num_processes=1))
