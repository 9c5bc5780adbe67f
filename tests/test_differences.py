"""The record of deliberate differences: every switch that it names exists."""

import inspect
import re
from typing import Any

import pytest
import typer

from elicit_gym.cli.app import app
from elicit_gym.registry import load_object
from tests.conftest import ROOT

TEXT = (ROOT / "docs" / "differences.md").read_text(encoding="utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split(" | ")]
    for line in TEXT.splitlines()
    if line.startswith("| ") and not line.startswith("| what")
]
COMMAND = re.compile(r"(?P<command>[a-z -]+?) (?P<option>--[a-z0-9-]+)")
OBJECT = re.compile(r"(?P<target>[\w.]+:\w+)\((?P<argument>\w+)\)")


def commands(group: Any = None, before: tuple[str, ...] = ()) -> dict[str, Any]:
    """Return every command by what a user types."""
    group = group or typer.main.get_command(app)
    found: dict[str, Any] = {}
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            found |= commands(command, (*before, name))
        else:
            found[" ".join((*before, name))] = command
    return found


COMMANDS = commands()


def test_the_record_has_rows_with_a_switch_each() -> None:
    assert len(ROWS) >= 40
    for row in ROWS:
        assert len(row) == 4, row
        assert all(row), row
        assert "`" in row[3] or row[3].startswith("no switch: "), row


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_every_switch_exists(row: list[str]) -> None:
    if row[3].startswith("no switch: "):
        return
    spans = re.findall(r"`([^`]+)`", re.sub(r"\([^()]*`[^()]*\)", "", row[3]))
    assert spans
    for span in spans:
        option, target = COMMAND.fullmatch(span), OBJECT.fullmatch(span)
        assert option or target, span
        if option:
            command = COMMANDS[option["command"]]
            assert option["option"] in {name for parameter in command.params for name in parameter.opts}, span
        elif target:
            made = load_object("switch", target["target"])
            assert target["argument"] in inspect.signature(made).parameters, span


def test_the_readme_names_the_record() -> None:
    assert "docs/differences.md" in (ROOT / "README.md").read_text(encoding="utf-8")
