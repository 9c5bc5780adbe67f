"""Published conversations as records."""

import json
import shutil
from pathlib import Path

import pytest

from elicit_gym.errors import StorageError
from elicit_gym.evaluation.saved import load_any_run
from elicit_gym.rollout.published_chats import load_published_chats, policy_of_chats

NAME = "chats-gemini_2_0_flash_001-gpt_4o_mini-AtlaAI_Selene_1_Mini_Llama_3_1_8B-0.jsonl"


def test_the_sample(paper_example: Path) -> None:
    (first,) = load_published_chats(paper_example / NAME, {"0-1": "Hello."})  # the other conversation is empty
    assert (first.policy, first.scenario_id) == ("gpt_4o_mini", "0-1")
    assert first.episode.opening_message == "Hello."
    assert first.episode.turns[0].action.startswith("Connecting with others")
    assert (
        first.episode.turns[0].reply
        == "Thanks for the suggestions! I’ve tried a few things, but it’s tough finding the right fit."
    )
    assert first.episode.turns[-1].reply is None
    assert len(first.episode.turns) == 10
    row = json.loads((paper_example / NAME).read_text(encoding="utf-8"))
    assert first.episode.total_reward == row["evaluations1"][-1]["total_reward"]
    assert first.episode.truncated != first.episode.terminated
    roles = [message.role for message in first.episode.history]
    assert roles == ["user", "assistant"] * 10


@pytest.mark.parametrize("form", ["bool", "Yes/No", "object"])
def test_answers_in_any_form(paper_example: Path, tmp_path: Path, form: str) -> None:
    row = json.loads((paper_example / NAME).read_text(encoding="utf-8"))
    questions = list(row["evaluations1"][0]["questions"])
    for i, evaluation in enumerate(row["evaluations1"]):
        yes = {q: i >= 2 + k for k, q in enumerate(questions)}
        forms = {"bool": bool, "Yes/No": lambda v: "Yes" if v else "No", "object": lambda v: {"result": v, "why": "x"}}
        evaluation["questions"] = {q: forms[form](v) for q, v in yes.items()}
        evaluation["total_reward"] = sum(yes.values())
        evaluation["done"] = all(yes.values())
    path = tmp_path / NAME
    path.write_text(json.dumps(row), encoding="utf-8")
    record = load_published_chats(path, {})[0]
    assert [turn.newly_satisfied for turn in record.episode.turns][2:7] == [(0,), (1,), (2,), (3,), (4,)]
    assert record.episode.total_reward == 5
    assert record.episode.terminated


def test_what_cannot_be_read_is_named(paper_example: Path, tmp_path: Path) -> None:
    row = json.loads((paper_example / NAME).read_text(encoding="utf-8"))
    del row["user_history1"]
    path = tmp_path / NAME
    path.write_text(json.dumps(row), encoding="utf-8")
    with pytest.raises(StorageError, match=r":1: expected a published conversation in user_history1"):
        load_published_chats(path, {})


def test_they_are_summarised_and_shown_in_a_report(paper_example: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(paper_example, tmp_path / "set")
    loaded = load_any_run(folder / NAME)
    assert loaded.comparison.policies[0].num_episodes == 1
    report = loaded.comparison.save(tmp_path / "report")
    assert "gpt_4o_mini" in report.read_text(encoding="utf-8")
    assert policy_of_chats(Path(NAME)) == "gpt_4o_mini"
