"""The report: self-contained, complete, and safe with hostile text; opened in a real browser where there is one."""

import json
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from elicit_gym import Comparison, compare, load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.errors import ManifestMismatchError, SettingError
from elicit_gym.evaluation.compare import compare_runs
from elicit_gym.evaluation.tables import print_comparison
from elicit_gym.reporting.terminal import printable
from elicit_gym.types import ChatHistory
from tests.browser import CHROMIUM, dumped_dom
from tests.envs.parts import registered_parts

HOSTILE = "</script><img src=x onerror=\"document.body.dataset.owned='yes'\">{{7*7}}<b>What is your budget?</b> \ud83d"


class Hostile:
    name = "<i>hostile</i>"

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return HOSTILE


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("report") / "run"
    ids = [scenario.id for scenario in load_scenarios()[:12]]
    compare([load_policy("ask-one"), load_policy("oracle"), Hostile()], scenario_ids=ids, out=out)
    return out


def test_the_folder_is_complete(folder: Path) -> None:
    for name in ("report.html", "summary.json", "episodes.jsonl", "manifest.json"):
        assert (folder / name).stat().st_size > 0
    for name in ("cumulative_reward", "worst_quarter", "best_lengths", "differences"):
        assert (folder / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert (folder / "figures" / f"{name}.svg").read_text(encoding="utf-8").startswith("<?xml")
    summary = json.loads((folder / "summary.json").read_text(encoding="utf-8"))
    assert [policy["policy"] for policy in summary["policies"]] == ["ask-one", "oracle", "<i>hostile</i>"]
    assert len(summary["pairs"]) == 3


def test_the_page_needs_nothing_else_and_escapes_what_it_shows(folder: Path) -> None:
    page = (folder / "report.html").read_text(encoding="utf-8")
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:)", page)
    assert "http://" not in re.sub(r"data:[^\"]+", "", page)
    assert "<i>hostile</i>" not in page
    assert "&lt;i&gt;hostile&lt;/i&gt;" in page
    assert "onerror" not in page  # conversations are compressed data, never markup


def test_few_opening_messages_are_told_on_the_page_and_in_the_summary(tmp_path: Path) -> None:
    ids = [scenario.id for scenario in load_scenarios()[:4]]
    compare([load_policy("ask-one"), load_policy("oracle")], scenario_ids=ids, out=tmp_path / "run")
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert page.count("(no interval: 2 opening messages)") >= 4
    assert "cannot be significant with 2 opening messages" in page
    text = (tmp_path / "run" / "summary.json").read_text(encoding="utf-8")
    assert "NaN" not in text
    summary = json.loads(text)
    assert summary["policies"][0]["metrics"]["return"]["reason"] == "no interval: 2 opening messages"
    assert summary["pairs"][0]["test_reason"] == "cannot be significant with 2 opening messages"


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_browser_shows_it(folder: Path, tmp_path: Path) -> None:
    dom = dumped_dom(folder / "report.html", tmp_path)
    assert 'data-ready="true"' in dom
    assert "data-owned" not in dom
    assert "36 of 36" in dom
    assert dom.count('class="bubble user"') >= 5
    assert dom.count("<button") == 36


def test_saved_runs_are_compared_and_different_ones_refused(tmp_path: Path) -> None:
    ids = [scenario.id for scenario in load_scenarios()[:4]]
    both = compare([load_policy("ask-one"), load_policy("oracle")], scenario_ids=ids)
    compare([load_policy("ask-one")], scenario_ids=ids, out=tmp_path / "one")
    compare([load_policy("oracle")], scenario_ids=ids, out=tmp_path / "two")
    merged = compare_runs([tmp_path / "one", tmp_path / "two"])
    assert isinstance(merged, Comparison)
    assert merged.to_row() == both.to_row()
    assert [policy.privileged for policy in merged.policies] == [False, True]
    compare([load_policy("naive")], scenario_ids=ids, out=tmp_path / "other", env_kwargs={"max_turns": 4})
    with pytest.raises(ManifestMismatchError, match="environment.max_turns: 10 there, 4 here"):
        compare_runs([tmp_path / "one", tmp_path / "other"])
    with pytest.raises(SettingError, match="'ask-one' in"):
        compare_runs([tmp_path / "one", shutil.copytree(tmp_path / "one", tmp_path / "again")])


def test_who_was_left_by_the_user_is_said_on_the_page_and_in_the_terminal(tmp_path: Path) -> None:
    ids = [scenario.id for scenario in load_scenarios()[:12]]
    with registered_parts():
        comparison = compare(
            [load_policy("ask-one")], scenario_ids=ids, env_kwargs={"user_simulator": "leaving"}, out=tmp_path / "run"
        )
        assert compare_runs([tmp_path / "run"]).to_row() == comparison.to_row()
    left = sum(record.episode.left for record in comparison.records)
    assert 0 < left < 12
    assert f"left by the user: {left}" in (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    console = Console(width=120)
    with console.capture() as capture:
        print_comparison(comparison, console)
    assert f"ask-one: left by the user: {left}" in capture.get()


def test_printable_replaces_what_a_terminal_cannot_show() -> None:
    assert printable("a\ud83d\x1b[31mb\n") == "a?\\x1b[31mb\n"
