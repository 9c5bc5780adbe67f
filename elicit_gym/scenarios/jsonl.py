"""Read JSON lines, with the line number of whatever cannot be read."""

import json
from pathlib import Path
from typing import Any

from elicit_gym.errors import ScenarioError

__all__ = ["read_rows"]


def read_rows(path: Path) -> tuple[list[tuple[int, Any]], list[str]]:
    """Return the rows of a JSON lines file with their line numbers, and one problem for each unreadable line.

    Raises:
        ScenarioError: there is no such file, or it is no UTF-8 text.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ScenarioError([f"Reading {path}: expected a file, got {error.strerror}. Check the path."]) from error
    except UnicodeDecodeError as error:
        raise ScenarioError([f"Reading {path}: expected UTF-8 text, got {error.reason}. Convert the file."]) from error
    rows: list[tuple[int, Any]] = []
    problems: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            rows.append((number, json.loads(line)))
        except ValueError as error:
            problems.append(
                f"{path}:{number}: expected one JSON object, got text that does not parse ({error}). Fix the line."
            )
    return rows, problems
