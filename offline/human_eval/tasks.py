"""Annotation tasks: windows drawn by strata, with what each policy said to them, blinded and in random order."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from random import Random
from typing import Any, Literal

from elicit_gym.errors import SettingError, StorageError
from elicit_gym.json_files import read_json, read_records, write_json
from elicit_gym.strict_json import from_json, typed

__all__ = ["Allocation", "Task", "allocate", "make_tasks", "read_key", "read_samples", "write_key"]

Allocation = Literal["proportional", "equal"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Task:
    """One window to rate.

    Attributes:
        id: the task's id, which says nothing about the window or the order.
        block_id: the window's id.
        domain: the domain, which the rater is told.
        context: the role and text of the turns before, without the system line.
        sources: who said what, in the order shown; the rater does not see it.
        responses: what they said, in the same order.
    """

    id: str
    block_id: str
    domain: str
    context: tuple[tuple[str, str], ...]
    sources: tuple[str, ...]
    responses: tuple[str, ...]

    @property
    def dialogue(self) -> str:
        """The interview that the window is of."""
        return self.block_id.rsplit(":", 1)[0]


def read_samples(folder: Path) -> list[dict[str, Any]]:
    """Read what was said from the folder of an evaluation.

    Raises:
        StorageError: there is nothing, or a line cannot be read.
    """
    path = folder / "samples.jsonl"

    advice = "Evaluate again into another folder."
    rows = list(read_records(path, _sample, what="a window with what was said", advice=advice)) if path.exists() else []
    if not rows:
        raise StorageError(
            f"Reading {path}: expected what policies said to windows, got nothing. "
            "Make it with: elicit-gym evaluate-yield ... --out FOLDER"
        )
    return rows


def _sample(row: Mapping[str, Any]) -> dict[str, Any]:
    context = [
        typed(tuple[str, ...], turn, f"context[{i}]")
        for i, turn in enumerate(typed(list[Any], row["context"], "context"))
    ]
    if any(len(turn) != 2 for turn in context):
        raise TypeError("context: expected a role and a text for each turn, got something else")
    return {
        "block_id": typed(str, row["block_id"], "block_id"),
        "domain": typed(str, row["domain"], "domain"),
        "context": context,
        "said": typed(dict[str, str | None], row["said"], "said"),
    }


def allocate(sizes: Mapping[str, int], count: int, allocation: Allocation) -> dict[str, int]:
    """Return the number of windows to draw from each stratum.

    Args:
        sizes: the number of windows in each stratum.
        count: the number of windows to draw.
        allocation: ``proportional`` to the sizes (at least one each, as far as `count` goes), or ``equal``.

    Raises:
        SettingError: there are fewer than `count`.
    """
    total = sum(sizes.values())
    if not 1 <= count <= total:
        raise SettingError(f"Drawing windows: expected between 1 and {total} (as many as there are), got {count}.")
    drawn = dict.fromkeys(sizes, 0)
    for _ in range(count):
        # Each window goes to the stratum that is furthest below its share, and none to one that is used up.
        open_ones = [name for name in sizes if drawn[name] < sizes[name]]
        weight = {name: sizes[name] if allocation == "proportional" else 1 for name in open_ones}
        drawn[min(open_ones, key=lambda name: (drawn[name] > 0, (drawn[name] + 0.5) / weight[name], name))] += 1
    return drawn


def make_tasks(
    samples: Sequence[Mapping[str, Any]],
    count: int,
    *,
    seed: int = 0,
    allocation: Allocation = "proportional",
    sources: Sequence[str] | None = None,
) -> list[Task]:
    """Draw windows by domain and blind what was said to them.

    Args:
        samples: what was said; see `read_samples`.
        count: the number of windows.
        seed: the seed of the draw and of every order; a window's own order derives from (seed, block id).
        allocation: how windows are shared out among the domains; see `allocate`.
        sources: whose utterances to rate; by default all, the human's (``real``) included.

    Raises:
        SettingError: there are too few windows, or a source said nothing.

    References:
        YIELD, Section 6.6: 100 windows by stratified sampling, the sources in random order.
    """
    there = list(samples[0]["said"])
    chosen = list(sources or there)
    unknown = [source for source in chosen if source not in there]
    if unknown or len(set(chosen)) < len(chosen):
        raise SettingError(
            f"Making tasks: expected sources among {', '.join(there)}, each once, got {', '.join(chosen)}."
        )
    by_domain: dict[str, list[Mapping[str, Any]]] = {}
    for sample in samples:
        if any(sample["said"].get(source) is None for source in chosen):
            continue  # a policy failed there, so that there is nothing to rate
        by_domain.setdefault(sample["domain"], []).append(sample)
    shares = allocate({domain: len(rows) for domain, rows in by_domain.items()}, count, allocation)
    drawn = [s for d in sorted(by_domain) for s in Random(_bytes(f"{seed}/{d}")).sample(by_domain[d], shares[d])]
    Random(f"{seed}/order").shuffle(drawn)
    return [_task(sample, chosen, seed) for sample in drawn]


def _task(sample: Mapping[str, Any], sources: Sequence[str], seed: int) -> Task:
    order = list(sources)
    Random(_bytes(f"{seed}/{sample['block_id']}")).shuffle(order)
    return Task(
        id="task-" + sha256(_bytes(f"{seed}/{sample['block_id']}")).hexdigest()[:12],
        block_id=sample["block_id"],
        domain=sample["domain"],
        context=tuple((role, text) for role, text in sample["context"] if role != "system"),
        sources=tuple(order),
        responses=tuple(sample["said"][source] for source in order),
    )


@dataclass(frozen=True, kw_only=True)
class _Blinded:
    """What a batch's key says of one task."""

    block_id: str
    domain: str
    dialogue: str
    sources: list[str]


@dataclass(frozen=True, kw_only=True)
class _Key:
    """A batch's key, as it is written."""

    format: int
    seed: int
    tasks: Mapping[str, _Blinded]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # names come from files, and may hold half of a surrogate pair


def write_key(path: Path, tasks: Sequence[Task], seed: int) -> None:
    """Write what the raters must not see: which source stands where."""
    rows = {
        task.id: {"block_id": task.block_id, "domain": task.domain, "dialogue": task.dialogue, "sources": task.sources}
        for task in tasks
    }
    write_json(path, {"format": 1, "seed": seed, "tasks": rows})


def read_key(folder: Path) -> dict[str, dict[str, Any]]:
    """Read the key of a batch.

    Raises:
        StorageError: there is none, or it is not the key that `write_key` writes.
    """
    path = folder / "key.json"
    key = from_json(_Key, read_json(path, "the key of a batch, which 'human-eval export' wrote"), str(path))
    return {name: asdict(task) for name, task in key.tasks.items()}
