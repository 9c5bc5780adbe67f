"""Options become arguments of the environment: those that were given."""

from pathlib import Path

from elicit_gym.cli.options import env_kwargs


def test_only_what_was_given(tmp_path: Path) -> None:
    assert env_kwargs(None, None, None) == {}
    assert env_kwargs("bundled", "test", 10) == {"scenarios": "bundled", "split": "test", "max_turns": 10}
    (tmp_path / "mine.jsonl").touch()
    assert env_kwargs(str(tmp_path / "mine.jsonl"), None, None) == {"scenarios": str(tmp_path / "mine.jsonl")}
