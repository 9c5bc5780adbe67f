"""Options become arguments of the environment: those that were given, to the part that takes them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from elicit_gym.cli.options import env_kwargs, seat_kwargs, without_judge_replies
from elicit_gym.errors import SettingError, UnknownNameError
from elicit_gym.judges.llm import LLMJudge
from elicit_gym.judges.scripted import ScriptedJudge

NONE: dict[str, Any] = {"model": None, "api_base": None, "max_new_tokens": None, "prompts": None}


class OwnJudge(LLMJudge):
    """Takes what the built-in judge takes."""


class Counting(ScriptedJudge):
    def __init__(self, max_tokens: int = 3) -> None:
        self.max_tokens = max_tokens


@pytest.fixture
def variant() -> Iterator[str]:
    kwargs = {"judge": "llm", "judge_kwargs": {"model": "openai/a", "mode": "checklist"}}
    gym.register(id="tests/Judged-v0", entry_point="elicit_gym.envs.infoquest:InfoQuestEnv", kwargs=kwargs)
    yield "tests/Judged-v0"
    del gym.registry["tests/Judged-v0"]


def test_only_what_was_given(tmp_path: Path) -> None:
    assert env_kwargs(None, None, None) == {}
    assert env_kwargs("bundled", "test", 10) == {"scenarios": "bundled", "split": "test", "max_turns": 10}
    (tmp_path / "mine.jsonl").touch()
    assert env_kwargs(str(tmp_path / "mine.jsonl"), None, None) == {"scenarios": str(tmp_path / "mine.jsonl")}
    assert seat_kwargs("judge", None, env="elicit_gym/InfoQuest-v0", **NONE) == {}
    assert seat_kwargs("judge", "embedding", env="elicit_gym/InfoQuest-v0", **NONE) == {"judge": "embedding"}


def test_who_holds_a_model_is_asked_of_the_part(variant: str, tmp_path: Path) -> None:
    given = {**NONE, "model": "openai/b", "max_new_tokens": 7, "prompts": tmp_path}
    wanted = {"model": "openai/b", "max_tokens": 7, "prompts": str(tmp_path)}
    for env, before in (("elicit_gym/InfoQuestLLM-v0", {}), (variant, {"mode": "checklist"})):
        assert seat_kwargs("judge", None, env=env, **given) == {"judge_kwargs": {**before, **wanted}}
    own = "tests.cli.test_options:OwnJudge"
    for env in ("elicit_gym/InfoQuest-v0", variant, None):
        assert seat_kwargs("judge", own, env=env, **given) == {"judge": own, "judge_kwargs": wanted}
    # What is for every seat goes to those that take it; a model for a seat without one is a mistake.
    plain = {**given, "model": None}
    assert seat_kwargs("judge", "scripted", env=None, **plain) == {"judge": "scripted"}
    counting = "tests.cli.test_options:Counting"
    assert seat_kwargs("judge", counting, env=None, **plain)["judge_kwargs"] == {"max_tokens": 7}
    for name in ("scripted", counting, None):
        with pytest.raises(SettingError, match="expected a seat that holds a model"):
            seat_kwargs("judge", name, env="elicit_gym/InfoQuest-v0", **given)
    with pytest.raises(SettingError, match="expected a seat that holds a model, got 'embedding'"):
        seat_kwargs("judge", "embedding", env=None, **{**NONE, "api_base": "http://localhost:1"})
    # Another part does not inherit the arguments of the one in whose place it sits.
    assert seat_kwargs("judge", "scripted", env=variant, **NONE) == {"judge": "scripted", "judge_kwargs": {}}
    with pytest.raises(UnknownNameError, match="Did you mean 'scripted'"):
        seat_kwargs("judge", "scriptd", env=None, **NONE)


def test_judge_replies_are_left_out_where_a_judge_writes_any(variant: str) -> None:
    llm = "elicit_gym/InfoQuestLLM-v0"
    assert without_judge_replies({}, llm)["judge_kwargs"] == {"keep_replies": False}
    assert without_judge_replies({"judge_kwargs": {"mode": "item"}}, llm)["judge_kwargs"]["mode"] == "item"
    of_variant = without_judge_replies({}, variant)["judge_kwargs"]
    assert of_variant == {"model": "openai/a", "mode": "checklist", "keep_replies": False}
    assert without_judge_replies({"judge": "llm"}, None)["judge_kwargs"] == {"keep_replies": False}
    assert without_judge_replies({"max_turns": 3}, "elicit_gym/InfoQuest-v0") == {"max_turns": 3}
    assert without_judge_replies({"judge": "scripted"}, variant) == {"judge": "scripted"}
