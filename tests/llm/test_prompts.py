"""Prompt files."""

from pathlib import Path

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.judges.llm import LLMJudge
from elicit_gym.llm.prompts import Prompt, load_prompt
from elicit_gym.llm.scripted import ScriptedChatModel
from tests.conftest import ROOT, SHARED


def test_braces_in_values_stay_what_they_are() -> None:
    prompt = Prompt("p", 'Say {a} and {b}. JSON: {"x": 1} {unknown}')
    assert prompt.fill(a="{b}", b='{"json": [1]}') == 'Say {b} and {"json": [1]}. JSON: {"x": 1} {unknown}'


def test_a_folder_of_ones_own_comes_first(tmp_path: Path) -> None:
    (tmp_path / "judge_item.txt").write_text(
        "{fence} {context} {user_message} {assistant_message} {question} MINE", encoding="utf-8"
    )
    mine = LLMJudge(ScriptedChatModel([]), prompts=str(tmp_path))
    theirs = LLMJudge(ScriptedChatModel([]))
    assert mine.prompts[0].text.endswith("MINE")
    assert mine.prompts[0].sha256 != theirs.prompts[0].sha256


def test_a_missing_placeholder_is_named(tmp_path: Path) -> None:
    (tmp_path / "judge_item.txt").write_text("{fence} {context} {user_message} {question}", encoding="utf-8")
    with pytest.raises(
        SettingError, match=r"judge_item.txt: expected every placeholder .* without \{assistant_message\}"
    ):
        LLMJudge(ScriptedChatModel([]), prompts=str(tmp_path))
    (tmp_path / "judge_item.txt").write_bytes(b"{fence}\xff\xfe")
    with pytest.raises(SettingError, match="expected UTF-8 or UTF-16 text"):
        LLMJudge(ScriptedChatModel([]), prompts=str(tmp_path))
    with pytest.raises(SettingError, match="expected a folder"):
        load_prompt("elicit_gym.judges", "judge_item", (), tmp_path / "nowhere")


def test_no_sentence_of_a_prompt_is_the_papers() -> None:
    folder = SHARED.parent / "papers"
    if not folder.is_dir():
        pytest.skip("the papers are not on this machine")
    paper = " ".join(" ".join(path.read_text(encoding="utf-8").split()) for path in folder.glob("*.txt")).lower()
    for path in [*ROOT.glob("elicit_gym/*/prompts/*.txt"), *ROOT.glob("agents/prompts/*.txt")]:
        words = " ".join(path.read_text(encoding="utf-8").split()).lower().split()
        for i in range(len(words) - 11):
            phrase = " ".join(words[i : i + 12])
            assert phrase not in paper, f"{path.name}: {phrase!r}"
