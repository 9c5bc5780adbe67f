"""Result files that several runs write into."""

import json
from pathlib import Path

import pytest

from benchmarks import common


def test_entries_are_merged_each_with_its_own_provenance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(common, "RESULTS", tmp_path)
    common.merge_results("kinds", {"first": {"value": 1}, "second": {"value": 2}})
    monkeypatch.setattr(common, "_commit", lambda: "another")
    path = common.merge_results("kinds", {"second": {"value": 3}})
    found = json.loads(path.read_text(encoding="utf-8"))
    assert (found["first"]["value"], found["second"]["value"]) == (1, 3)
    assert found["first"]["measured"]["commit"] != "another"
    assert found["second"]["measured"]["commit"] == found["commit"] == "another"
    assert {"command", "commit", "created", "machine", "versions"} <= set(found)
