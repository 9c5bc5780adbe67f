"""The published InfoQuest files."""

import json
import shutil
from pathlib import Path

import pytest

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.errors import ScenarioError, SettingError
from elicit_gym.scenarios.load import load_scenarios, validate_scenarios


def test_the_papers_two_scenarios(paper_example: Path) -> None:
    first, second = load_scenarios(paper_example)
    assert (first.id, second.id) == ("0-1", "0-2")
    assert first.opening_message == second.opening_message
    assert first.persona.startswith("a social media influencer")
    assert second.goal == "build a supportive social circle"
    assert second.traits == ("uses casual spelling", "includes many emojis", 'ends messages with "thanks"')
    assert [item.kind for item in first.checklist] == ["ask", "ask", "ask", "advice", "advice"]
    assert first.checklist[2].facts == ("constraint_5",)
    assert first.derived
    assert second.derived
    assert not any(fact.questions for scenario in (first, second) for fact in scenario.facts)


def test_the_scripted_judge_refuses_them_unless_told_otherwise(paper_example: Path) -> None:
    kwargs = {"scenarios": str(paper_example)}
    with pytest.raises(SettingError, match="expected examples of questions, got none"):
        collect_episodes(load_policy("ask-one"), env_kwargs=kwargs)
    records = collect_episodes(load_policy("oracle"), env_kwargs={**kwargs, "judge_kwargs": {"allow_derived": True}})
    assert all(record.failure is None for record in records)
    assert max(record.episode.total_reward for record in records) >= 1


@pytest.mark.parametrize("name", ["seed_messages.jsonl", "traits.jsonl"])
def test_a_missing_file_is_named(paper_example: Path, tmp_path: Path, name: str) -> None:
    folder = shutil.copytree(paper_example, tmp_path / "set")
    (folder / name).unlink()
    with pytest.raises(ScenarioError, match=f"'{name}' is missing"):
        load_scenarios(folder)


def test_rows_in_any_order_and_what_is_wrong_with_them(paper_example: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(paper_example, tmp_path / "set")
    rows = {
        name: json.loads((folder / f"{name}.jsonl").read_text(encoding="utf-8"))
        for name in ("settings", "traits", "seed_messages")
    }
    for name, row in rows.items():
        ids = (7, 0) if name == "settings" else (0, 7)
        (folder / f"{name}.jsonl").write_text(
            "".join(json.dumps({**row, "id": i}) + "\n" for i in ids), encoding="utf-8"
        )
    assert [s.id for s in load_scenarios(folder)] == ["0-1", "0-2", "7-1", "7-2"]
    bad = {**rows["settings"], "setting2": {**rows["settings"]["setting2"], "constraints": ["one"]}}
    (folder / "settings.jsonl").write_text(
        json.dumps(bad) + "\n" + json.dumps({**bad, "id": "x"}) + "\n", encoding="utf-8"
    )
    problems = validate_scenarios(folder)
    assert any("setting2: 'constraints' must be 5 non-empty strings, got 1" in problem for problem in problems)
    assert any("'id' must be an integer" in problem for problem in problems)
