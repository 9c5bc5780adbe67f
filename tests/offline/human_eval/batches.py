"""Answers to a batch, as workers would give them."""

import csv
from pathlib import Path
from random import Random
from typing import Any

from elicit_gym.offline.human_eval.forms import answer_columns
from elicit_gym.offline.human_eval.scales import SCALES

QUALITY = {"real": 4, "prompted": 5, "sft": 3, "awr": 2}


def rows_of(key: dict[str, Any], worker: str, rate: Any, seconds: float = 90) -> list[dict[str, Any]]:
    rows = []
    for task, entry in key.items():
        values = [rate(source, scale.key) for source in entry["sources"] for scale in SCALES]
        columns = [f"Answer.{name}" for name in answer_columns(len(entry["sources"]))]
        rows.append(
            {
                "WorkerId": worker,
                "WorkTimeInSeconds": seconds,
                "Input.task_id": task,
                **dict(zip(columns, values, strict=True)),
            }
        )
    return rows


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def noisy(seed: int) -> Any:
    rng = Random(seed)
    return lambda source, scale: min(5, max(1, QUALITY[source] + rng.choice((-1, 0, 0, 0, 1))))
