"""Load scenarios by name or path, and check a file for everything that is wrong with it."""

from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

from elicit_gym.errors import ScenarioError, SettingError
from elicit_gym.json_files import read_lines
from elicit_gym.scenarios.depth import depth_problems, set_problems
from elicit_gym.scenarios.derived import derived_scenario, rarity_of
from elicit_gym.scenarios.hub import published_folder
from elicit_gym.scenarios.published import is_published_folder, load_published
from elicit_gym.scenarios.schema import is_written_out, problems_of_row, scenario_from_row
from elicit_gym.types import Scenario

__all__ = ["BUNDLED", "load_scenarios", "scenarios_sha256", "validate_scenarios"]

BUNDLED = Path(__file__).parent / "data" / "bundled.jsonl"


def load_scenarios(source: str | Path = "bundled", split: str | None = None) -> tuple[Scenario, ...]:
    """Load scenarios.

    Args:
        source: ``bundled`` (120 scenarios written for this package), ``infoquest`` (the published 1,000, from the
            Hugging Face hub or ``$ELICIT_GYM_DATA``), a JSON lines file in our format, or a folder with the published
            InfoQuest files.
        split: ``train`` or ``test``; None for all. The published set has no splits.

    Returns:
        The scenarios in the order of the file. Loading the same unchanged source again returns the same objects.

    Raises:
        ScenarioError: the file breaks a rule; the message names file, line, field, what was expected and found.
        SettingError: no such split.
    """
    path = _path_of(source)
    scenarios = _load(path.resolve(), _stamp(path))
    if split is None:
        return scenarios
    chosen = tuple(scenario for scenario in scenarios if scenario.split == split)
    if not chosen:
        known = sorted({scenario.split for scenario in scenarios if scenario.split})
        raise SettingError(
            f"Loading scenarios from {source}: expected a split of {known or 'none (this set has no splits)'}, "
            f"got {split!r}. Choose one of these or leave the split out."
        )
    return chosen


def validate_scenarios(source: str | Path) -> tuple[str, ...]:
    """Return everything that is wrong with a scenario file or folder, one line each; empty when it is sound.

    Scenarios that bring facts and items are held to the rules of depth as well (`elicit_gym.scenarios.depth`).
    """
    path = _path_of(source)
    try:
        scenarios = _load.__wrapped__(path, ())
    except ScenarioError as error:
        return error.problems
    written = [scenario for scenario in scenarios if not scenario.derived]
    problems = [f"{path}: {s.id}: {problem}" for s in written for problem in depth_problems(s)]
    return (*problems, *(f"{path}: {problem}" for problem in set_problems(written)))


def scenarios_sha256(scenarios: Sequence[Scenario]) -> str:
    """Return a hash of the content of these scenarios, whatever file they came from."""
    digest = sha256()
    for scenario in scenarios:
        digest.update(repr(scenario).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _path_of(source: str | Path) -> Path:
    if str(source) == "bundled":
        return BUNDLED
    return published_folder() if str(source) == "infoquest" else Path(source)


def _stamp(path: Path) -> tuple[tuple[str, int, int], ...]:
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    return tuple((f.name, f.stat().st_mtime_ns, f.stat().st_size) for f in files if f.exists())


@lru_cache(maxsize=16)
def _load(path: Path, stamp: tuple[Any, ...]) -> tuple[Scenario, ...]:
    if is_published_folder(path):
        return tuple(load_published(path))
    if path.is_dir():
        raise ScenarioError(
            [
                f"{path}: expected a JSON lines file or a folder with settings.jsonl, got a folder without. "
                "Check the path."
            ]
        )
    problems: list[str] = []
    rows = list(read_lines(path, problems=problems))
    seen: dict[str, int] = {}
    for line, row in rows:
        problems += [f"{path}:{line}: {problem}" for problem in problems_of_row(row)]
        row_id = row.get("id") if isinstance(row, dict) else None
        if isinstance(row_id, str):
            if row_id in seen:
                problems.append(
                    f"{path}:{line}: 'id' must be unique, got {row_id!r} as in line {seen[row_id]}. Rename it."
                )
            seen.setdefault(row_id, line)
    if problems:
        raise ScenarioError(problems)
    if not rows:
        raise ScenarioError([f"{path}: expected at least one scenario, got an empty file. Add lines."])
    rarity = rarity_of([row for _, row in rows])
    return tuple(scenario_from_row(row) if is_written_out(row) else derived_scenario(row, rarity) for _, row in rows)
