"""The page "Trust": every promise names a test, and every test named exists."""

import ast
import re

import pytest

from tests.conftest import ROOT

PAGE = (ROOT / "docs" / "trust.md").read_text(encoding="utf-8")
LINES = [line for line in PAGE.partition("## Promises")[2].splitlines() if line.startswith("|")]
ROWS = [[cell.strip() for cell in line.strip("|").split("|")] for line in LINES[2:]]


def functions_in(path: str) -> set[str]:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    return {node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def test_the_table_is_one() -> None:
    assert LINES[:2] == ["| Promise | Test |", "|---|---|"]
    assert len(ROWS) >= 35
    assert len({test for _, test in ROWS}) == len(ROWS)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row[0])
def test_a_promise_names_a_test_that_exists(row: list[str]) -> None:
    promise, test = row
    assert promise.endswith(".")
    found = re.fullmatch(r"`(tests/[\w/]+\.py)::(test_\w+)`", test)
    assert found is not None, test
    assert found[2] in functions_in(found[1])


def test_every_test_of_trust_is_promised() -> None:
    """A promise without a line on the page would be nobody's."""
    promised = {test.strip("`") for _, test in ROWS}
    own = {"tests/test_trust.py": {"test_the_watch_sees_an_attack"}}
    for path, of_the_test in own.items():
        assert {f"{path}::{name}" for name in functions_in(path) - of_the_test} <= promised


@pytest.mark.parametrize("part", ["What may come from strangers", "What may not", "How to report a hole", "Promises"])
def test_the_page_has_its_parts(part: str) -> None:
    assert f"\n## {part}\n" in PAGE
