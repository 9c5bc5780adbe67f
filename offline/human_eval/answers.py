"""Answers as they come back, and the workers who can be trusted."""

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from elicit_gym.errors import SettingError, StorageError
from elicit_gym.file_limits import current_limits, read_bytes
from elicit_gym.offline.human_eval.forms import answer_columns
from elicit_gym.offline.human_eval.scales import SCALES

__all__ = ["Answers", "Rating", "WorkerCheck", "check_workers", "read_answers"]

_ID, _WORKER, _SECONDS = "Input.task_id", "WorkerId", "WorkTimeInSeconds"


@dataclass(frozen=True, kw_only=True, slots=True)
class Rating:
    """One number from one person.

    Attributes:
        worker: the person's id.
        task: the task's id.
        source: whose utterance was rated.
        scale: the scale's key.
        value: the rating, from 1 to 5.
    """

    worker: str
    task: str
    source: str
    scale: str
    value: int


@dataclass(frozen=True, kw_only=True)
class Answers:
    """All that came back and can be read.

    Attributes:
        ratings: the ratings of complete tasks.
        seconds: the time of each task by worker; None if it is unknown.
        rejected: one line per row that does not count, with the reason.
    """

    ratings: tuple[Rating, ...]
    seconds: Mapping[str, tuple[float | None, ...]]
    rejected: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class WorkerCheck:
    """What speaks for or against a worker.

    Attributes:
        worker: the person's id.
        num_tasks: the number of tasks rated completely.
        median_seconds: the median time per task; None if it is unknown.
        same_everywhere: the share of tasks in which all ratings are the same number.
        agreement: the Pearson correlation with the mean of the others on what both rated; None with fewer than 20 such
            ratings, or if one of the two does not vary.
        reason: why the worker is left out; None for one who counts.
    """

    worker: str
    num_tasks: int
    median_seconds: float | None
    same_everywhere: float
    agreement: float | None
    reason: str | None


def read_answers(files: Sequence[Path], key: Mapping[str, Mapping[str, Any]]) -> Answers:
    """Read answers, from Mechanical Turk or from the form: the columns are the same.

    A row that lacks a rating, names an unknown task, or repeats one is left out and reported; the others count.

    Args:
        files: the CSV files.
        key: the batch's key; see `elicit_gym.offline.human_eval.tasks.read_key`.

    Raises:
        StorageError: a file cannot be read or lacks the columns, or no row counts.
    """
    ratings: list[Rating] = []
    seconds: dict[str, list[float | None]] = defaultdict(list)
    rejected: list[str] = []
    seen: set[tuple[str, str]] = set()
    for where, row in _rows(files):
        worker, task_id = (row[_WORKER] or "").strip(), (row[_ID] or "").strip()
        task = key.get(task_id)
        if not worker or task is None:
            rejected.append(
                f"{where}: " + (f"unknown task {task_id[:40]!r}, of another batch?" if worker else "no worker")
            )
        elif (row.get("AssignmentStatus") or "").strip() == "Rejected":
            rejected.append(f"{where}: rejected by the requester")
        elif (worker, task_id) in seen:
            rejected.append(f"{where}: {worker[:40]!r} rated {task_id} before")
        else:
            values = [_value(row, column) for column in answer_columns(len(task["sources"]))]
            missing = sum(value is None for value in values)
            if missing:
                rejected.append(f"{where}: {missing} of {len(values)} ratings are missing or not numbers from 1 to 5")
                continue
            seen.add((worker, task_id))
            seconds[worker].append(_number(row.get(_SECONDS)))
            places = [(source, scale.key) for source in task["sources"] for scale in SCALES]
            ratings += [
                Rating(worker=worker, task=task_id, source=source, scale=scale, value=value)
                for (source, scale), value in zip(places, values, strict=True)
                if value is not None
            ]
    if not ratings:
        listed = "\n".join(f"  {line}" for line in rejected[:5]) or "  no rows"
        raise StorageError(f"Scoring answers: expected at least one whole task of this batch, got none:\n{listed}")
    return Answers(ratings=tuple(ratings), seconds={w: tuple(s) for w, s in seconds.items()}, rejected=tuple(rejected))


def _rows(files: Sequence[Path]) -> Iterator[tuple[str, dict[str, str]]]:
    limits = current_limits()
    for path in files:
        try:
            text = read_bytes(path, limits).decode("utf-8-sig")
            reader = csv.DictReader(io.StringIO(text, newline=""))
            lacking = [column for column in (_WORKER, _ID) if column not in (reader.fieldnames or ())]
            if lacking:
                raise StorageError(
                    f"Reading {path}: expected the columns of Mechanical Turk's results or of the form, got none "
                    f"named {' and '.join(lacking)}. Give the CSV files as they were downloaded."
                )
            for row in reader:
                yield f"{path.name}:{reader.line_num}", row
        except SettingError as error:
            raise StorageError(str(error)) from error
        except (UnicodeDecodeError, csv.Error) as error:
            raise StorageError(f"Reading {path}: expected a CSV file in UTF-8, got {error}. Check the path.") from error


def _value(row: Mapping[str, Any], column: str) -> int | None:
    """Return a rating from a column with the number, or from the five true/false columns that Turk makes of buttons."""
    text = (row.get(f"Answer.{column}") or "").strip()
    if not text:
        ticked = [str(i) for i in range(1, 6) if (row.get(f"Answer.{column}.{i}") or "").strip().lower() == "true"]
        text = ticked[0] if len(ticked) == 1 else ""
    return int(text) if text in ("1", "2", "3", "4", "5") else None


def _number(text: str | None) -> float | None:
    """Return the time that a task took; None where the cell says none, or no number of seconds."""
    try:
        seconds = float(text or "")
    except ValueError:
        return None
    return seconds if math.isfinite(seconds) else None


def check_workers(
    answers: Answers, *, min_seconds: float, min_agreement: float, keep_all: bool = False
) -> list[WorkerCheck]:
    """Check every worker; `WorkerCheck.reason` names the rule that excludes one.

    Args:
        answers: the answers; see `read_answers`.
        min_seconds: workers with a shorter median time are left out.
        min_agreement: workers with a lower correlation with the others are left out.
        keep_all: whether to report the reasons without leaving anybody out.

    Raises:
        SettingError: no worker is left.
    """
    values: dict[tuple[str, str, str], dict[str, int]] = defaultdict(dict)
    tasks: dict[str, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for rating in answers.ratings:
        values[rating.task, rating.source, rating.scale][rating.worker] = rating.value
        tasks[rating.worker][rating.task].append(rating.value)
    checks = [
        _check(worker, own, answers.seconds[worker], values, min_seconds, min_agreement)
        for worker, own in tasks.items()
    ]
    if not keep_all and all(check.reason for check in checks):
        listed = "\n".join(f"  {check.worker}: {check.reason}" for check in checks)
        raise SettingError(
            f"Scoring answers: expected a worker who can be trusted, got none:\n{listed}\n"
            "Lower the bars, or keep all (--keep-all)."
        )
    return checks


def _check(
    worker: str,
    own: Mapping[str, Sequence[int]],
    seconds: Sequence[float | None],
    values: Mapping[tuple[str, str, str], Mapping[str, int]],
    min_seconds: float,
    min_agreement: float,
) -> WorkerCheck:
    known = [s for s in seconds if s is not None]
    pace = median(known) if known else None
    same = sum(len(set(ratings)) == 1 for ratings in own.values()) / len(own)
    both = [
        (given[worker], float(np.mean([v for w, v in given.items() if w != worker])))
        for given in values.values()
        if worker in given and len(given) > 1
    ]
    agreement = None
    if len(both) >= 20:
        mine, others = np.array(both).T
        if mine.std() and others.std():
            agreement = float(np.corrcoef(mine, others)[0, 1])
    reasons = []
    if pace is not None and pace < min_seconds:
        reasons.append(f"{pace:.0f} s per task, under {min_seconds:g}")
    if same > 0.5:
        reasons.append(f"the same number throughout in {same:.0%} of the tasks")
    if agreement is not None and agreement < min_agreement:
        reasons.append(f"correlation with the others {agreement:.2f}, under {min_agreement:g}")
    return WorkerCheck(
        worker=worker, num_tasks=len(own), median_seconds=pace, same_everywhere=same, agreement=agreement,
        reason="; ".join(reasons) or None,
    )  # fmt: skip
