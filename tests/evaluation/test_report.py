"""The report: self-contained, complete, and safe with hostile text; opened in a real browser where there is one."""

import json
import re
import shutil
from pathlib import Path

import pytest
from rich.console import Console

from elicit_gym import Comparison, compare, load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import ManifestMismatchError, SettingError
from elicit_gym.evaluation.compare import compare_runs
from elicit_gym.evaluation.tables import print_comparison
from elicit_gym.reporting.terminal import printable
from elicit_gym.types import ChatHistory, JudgeRequest, UserReply, UserTurn, Verdict
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


WRITTEN = "Reasoning: <b>the money</b> is {what}asked for. \ud83d\nResult: {answer}"


class Writing:
    """Replies as a judging model does: yes on the first item at first, then no, then nothing clear."""

    name = "writing"

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        """Return a verdict with a raw reply for each pending item."""
        sure = request.user_message == SCENARIO.opening_message
        return tuple(
            Verdict(
                satisfied=i == 0 if sure else None,
                reason=None if sure else "no result line",
                raw=WRITTEN.format(what="" if i == 0 else "not ", answer="Yes" if i == 0 else "No" if sure else "hm"),
                earlier=() if sure else ("I am not sure about it.",),
                flags=("judge:retried:no_verdict",) if not sure and i == 1 else (),
            )
            for i in request.pending
        )


class Repaired:
    """Says what had to be repaired."""

    name = "repaired"

    def reply(self, turn: UserTurn) -> UserReply:
        """Reply, with a flag."""
        return UserReply(text="Well, well.", flags=("user_simulator:retried:several_facts",))


SCENARIO = load_scenarios()[0]


def written_run(folder: Path) -> Comparison:
    return compare(
        [load_policy("ask-one")],
        env_kwargs={
            "judge": "tests.evaluation.test_report:Writing",
            "user_simulator": "tests.evaluation.test_report:Repaired",
            "max_turns": 3,
        },
        scenario_ids=[SCENARIO.id],
        out=folder,
        repeats=1,
    )


def test_what_a_judge_wrote_is_kept_compressed_and_read_back(tmp_path: Path) -> None:
    comparison = written_run(tmp_path / "run")
    (record,) = comparison.records
    first, second, _ = (turn.judged for turn in record.episode.turns)
    assert [(j.item, j.satisfied) for j in first] == [(0, True), *((i, False) for i in range(1, 5))]
    assert first[0].replies == (WRITTEN.format(what="", answer="Yes"),)
    assert second[0].item == 1
    assert second[0].reason == "no result line"
    assert second[0].replies == ("I am not sure about it.", WRITTEN.format(what="not ", answer="hm"))
    again = compare_runs([tmp_path / "run"])
    assert again.records == comparison.records
    line = (tmp_path / "run" / "episodes.jsonl").read_text(encoding="utf-8")
    assert "the money" not in line
    assert len(json.loads(line)["judged"]) < 0.25 * sum(
        len(r) for t in record.episode.turns for j in t.judged for r in j.replies
    )
    broken = json.loads(line)
    broken["judged"] = broken["judged"][:-4]
    with pytest.raises(TypeError, match="cannot be unpacked"):
        EpisodeRecord.from_row(broken)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_a_verdict_can_be_audited_on_the_page_and_flags_stand_beside_the_message(tmp_path: Path) -> None:
    written_run(tmp_path / "run")
    dom = dumped_dom(tmp_path / "run" / "report.html", tmp_path)
    chat = dom.split('id="episode">', 1)[1].split("<script", 1)[0]
    tick = re.search(
        r'<div class="tick">✓ ([^<]*)<details class="written"><summary>([^<]*)</summary><pre>([^<]*)</pre>', chat
    )
    assert tick is not None
    assert tick[1] == SCENARIO.checklist[0].question
    assert tick[3] == "Reasoning: &lt;b&gt;the money&lt;/b&gt; is asked for. ?\nResult: Yes"
    assert "<summary>not met: 4</summary>" in chat
    assert chat.count("asked again after") == chat.count("I am not sure about it.") == 8
    assert chat.count("? unscored: ") == 8
    assert '>Well, well.</div><div class="flags user_simulator">retried: several facts</div>' in chat
    assert '<div class="flags judge">retried: no verdict</div>' in chat


def test_printable_replaces_what_a_terminal_cannot_show() -> None:
    assert printable("a\ud83d\x1b[31mb\n") == "a?\\x1b[31mb\n"
