"""Messages with a label for each checklist item, and the scenarios that they belong to."""

import json
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from elicit_gym.scenarios.derived import derived_scenario, rarity_of
from elicit_gym.scenarios.load import BUNDLED
from elicit_gym.types import Scenario

__all__ = ["FOLDER", "LabelledMessage", "SetName", "derived_scenarios", "labels_sha256", "load_messages"]

FOLDER = Path(__file__).parent.parent / "tests" / "data"

SetName = Literal["fit_labels", "blind_labels"]


@dataclass(frozen=True)
class LabelledMessage:
    """One message of an agent's, judged by a person who had not seen the scenario's examples.

    Attributes:
        form: how it is said: ``paraphrase``, ``near_miss``, ``advice_contrary``, ...
        items: one label for each checklist item.
        facts: what its first question asks for, best first.
    """

    scenario_id: str
    form: str
    message: str
    items: tuple[bool, ...]
    facts: tuple[str, ...]


def labels_sha256(name: str) -> str:
    """Return the hash of a labelled set's file."""
    return sha256((FOLDER / f"{name}.jsonl").read_bytes()).hexdigest()


def load_messages(name: str) -> list[LabelledMessage]:
    """Read a labelled set from `tests/data`."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [_message(json.loads(line)) for line in lines if line]


def _message(row: dict[str, Any]) -> LabelledMessage:
    return LabelledMessage(row["scenario_id"], row["form"], row["message"], tuple(row["items"]), tuple(row["facts"]))


def derived_scenarios() -> list[Scenario]:
    """Return the bundled scenarios as if they had been published: without facts, items and examples."""
    rows = [json.loads(line) for line in BUNDLED.read_text(encoding="utf-8").splitlines()]
    rarity = rarity_of(rows)
    return [derived_scenario(row, rarity) for row in rows]
