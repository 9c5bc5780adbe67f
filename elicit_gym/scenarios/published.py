"""The published InfoQuest files: `seed_messages.jsonl`, `settings.jsonl`, `traits.jsonl`, joined by id.

Rows are not in id order. The set has neither facts nor example questions; `elicit_gym.scenarios.derived` makes what its
texts allow, so that the scripted user can play it too.

References:
    `bryanlincoln/infoquest` on the Hugging Face hub (MIT). Differences: a scenario's id is ``<row id>-<1 or 2>``.
"""

import re
from pathlib import Path
from typing import Any

from elicit_gym.errors import ScenarioError
from elicit_gym.json_files import read_lines
from elicit_gym.scenarios.derived import derived_scenario, rarity_of
from elicit_gym.scenarios.schema import problems_of_row
from elicit_gym.types import Scenario

__all__ = ["is_published_folder", "load_published"]

_FILES = ("seed_messages.jsonl", "settings.jsonl", "traits.jsonl")
_COMMA = re.compile(",")
_COMMA_OUTSIDE_QUOTES = re.compile(r',(?=(?:[^"]*"[^"]*")*[^"]*$)')


def is_published_folder(path: Path) -> bool:
    """Say whether `path` is a folder with the published files."""
    return path.is_dir() and (path / "settings.jsonl").is_file()


def load_published(folder: Path) -> list[Scenario]:
    """Read the published files from a folder.

    Returns:
        Two scenarios for each row, in the order of the ids.

    Raises:
        ScenarioError: a file is missing, or a row breaks a rule; lists all of them.
    """
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise ScenarioError([f"{folder}: expected {', '.join(_FILES)}, {missing[0]!r} is missing. Add it."])
    tables: dict[str, dict[Any, tuple[int, dict[str, Any]]]] = {}
    problems: list[str] = []
    for name in _FILES:
        tables[name] = {}
        for line, row in read_lines(folder / name, problems=problems):
            if not isinstance(row, dict) or type(row.get("id")) is not int:
                problems.append(f"{folder / name}:{line}: 'id' must be an integer, got {row!r:.60}. Fix the line.")
            else:
                tables[name][row["id"]] = (line, row)
    rows_out: list[dict[str, Any]] = []
    for row_id, (line, setting) in sorted(tables["settings.jsonl"].items()):
        where = f"{folder / 'settings.jsonl'}:{line}"
        for name in ("seed_messages.jsonl", "traits.jsonl"):
            if row_id not in tables[name]:
                problems.append(f"{where}: id {row_id} must be in {name} too, got no such row. Add it.")
        seed = tables["seed_messages.jsonl"].get(row_id, (0, {}))[1]
        traits = tables["traits.jsonl"].get(row_id, (0, {}))[1]
        for k in (1, 2):
            row = _join(row_id, k, setting, seed, traits)
            found = list(problems_of_row(row))
            problems += [f"{where}: setting{k}: {problem}" for problem in found]
            if not found:
                rows_out.append(row)
    if problems:
        raise ScenarioError(problems)
    if not rows_out:
        raise ScenarioError([f"{folder / 'settings.jsonl'}: expected at least one row, got none. Check the file."])
    rarity = rarity_of(rows_out)
    return [derived_scenario(row, rarity) for row in rows_out]


def _join(row_id: int, k: int, setting: Any, seed: Any, traits: Any) -> dict[str, Any]:
    half, person = setting.get(f"setting{k}"), seed.get(f"persona{k}")
    half, person = (value if isinstance(value, dict) else {} for value in (half, person))
    text = str(traits.get(f"traits{k}", ""))
    splits = ([part.strip() for part in comma.split(text) if part.strip()] for comma in (_COMMA_OUTSIDE_QUOTES, _COMMA))
    listed = next((parts for parts in splits if len(parts) == 3), None)
    return {
        **{field: half.get(field) for field in ("description", "goal", "obstacle", "constraints", "solution")},
        "id": f"{row_id}-{k}",
        "opening_message": setting.get("seed_message") or seed.get("seed_message"),
        "persona": half.get("persona") or person.get("persona"),
        "checklist": half.get("checklist"),
        # A model wrote the traits: where it gave more or fewer than three, the whole text stands for all.
        "traits": listed or [str(traits.get(f"traits{k}") or "plain style")] * 3,
        "split": None,
    }
