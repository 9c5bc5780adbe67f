"""Objects by name: one grammar, one resolver, one suggestion, here and in other processes."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cloudpickle
import gymnasium as gym
import pytest

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.agents.llm_policy import LLMPolicy
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.errors import ElicitGymError, SettingError, UnknownNameError
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.llm.make import make_chat_model
from elicit_gym.offline import load_dataset
from elicit_gym.registry import JUDGES, MODELS, POLICIES, REGISTRIES, Registry, is_target
from elicit_gym.rewards import RewardStep
from elicit_gym.rollout import collect, workers
from elicit_gym.rollout.collect import collect_policies
from elicit_gym.rollout.units import sample_environment
from elicit_gym.types import ChatHistory, JudgeRequest, UserReply, UserTurn, Verdict
from tests.conftest import ROOT

IDS = ["00-a", "00-b", "07-a", "11-b"]


def test_unknown_names_suggest_the_nearest() -> None:
    registry: Registry[object] = Registry("judge", {"strict": "builtins:dict", "lenient": "builtins:dict"})
    with pytest.raises(UnknownNameError, match="Did you mean 'strict'.*lenient, strict; or module:attribute"):
        registry.make("strct")


def test_registering() -> None:
    registry: Registry[object] = Registry("judge", {})
    registry.register("mine", "builtins:dict")
    registry.register("mine", "builtins:dict")
    assert registry.make("mine", {"a": 1}) == {"a": 1}
    with pytest.raises(SettingError, match="expected a free name"):
        registry.register("mine", "builtins:list")
    with pytest.raises(SettingError, match="expected 'module:attribute'"):
        registry.register("other", "builtins")
    with pytest.raises(SettingError, match="without a colon"):
        registry.register("a:b", "builtins:dict")
    registry.unregister("mine")
    with pytest.raises(UnknownNameError):
        registry.unregister("mine")
    with pytest.raises(UnknownNameError):
        registry.make("mine")


def test_unregistering_what_is_ones_own() -> None:
    registry: Registry[object] = Registry("judge", {"scripted": "builtins:dict"})
    registry.register("mine", "builtins:dict")
    registry.unregister("mine")
    assert registry.names() == ("scripted",)
    registry.register("mine", "builtins:list")  # the name is free again
    with pytest.raises(UnknownNameError, match="Unknown judge 'mime'. Did you mean 'mine'"):
        registry.unregister("mime")
    with pytest.raises(SettingError, match="Unregistering the judge 'scripted': expected a name that was registered"):
        registry.unregister("scripted")
    assert registry.names() == ("mine", "scripted")


def test_wrong_arguments_are_a_setting_error_and_their_values_are_not_told() -> None:
    with pytest.raises(SettingError, match="Making the judge 'scripted' with strength: TypeError") as refused:
        JUDGES.make("scripted", {"strength": "hunter2"})
    assert "hunter2" not in str(refused.value)
    with pytest.raises(SettingError, match="Making the environment 'elicit_gym/InfoQuest-v0' with password") as refused:
        sample_environment("elicit_gym/InfoQuest-v0", {"password": "hunter2"})
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("mymod:Judge", True), ("a.b.c:d.e", True), ("scripted", False), ("ollama/llama3:8b", False), (":x", False),
        ("claude-v2:1", False), ("ft:gpt-4o:org::id", False), ("mymod:", False), ("http://localhost:8000", False),
    ],
)  # fmt: skip
def test_what_has_the_form_of_a_target(text: str, expected: bool) -> None:
    assert is_target(text) is expected


def test_one_place_suggests_and_one_imports() -> None:
    for name in ("get_close_matches", "import_module"):
        using = {
            path.relative_to(ROOT).as_posix()
            for folder in ("elicit_gym", "offline", "agents")
            for path in (ROOT / folder).rglob("*.py")
            if any(
                isinstance(node, ast.Name) and node.id == name
                for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            )
        }
        assert using - {"elicit_gym/__init__.py"} == {"elicit_gym/registry.py"}  # its public names load lazily


class Yes(ScriptedJudge):
    """Subclasses a built-in judge."""

    name = "yes"

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return (Verdict(satisfied=request.assistant_message.startswith("What")),) * len(request.pending)


class Deaf:
    name = "deaf"

    def reply(self, turn: UserTurn) -> UserReply:
        return UserReply(text="Pardon?")


def double(step: RewardStep) -> float:
    return 2.0 * step.num_newly_satisfied


def make_double() -> Any:
    return double


class What:
    name = "what"

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return "What is it?"


class MyEnv(InfoQuestEnv):
    """An environment of one's own."""

    def __init__(self, patience: int = 2, **kwargs: Any) -> None:
        super().__init__(**{"max_turns": 4, **kwargs})
        self.patience = patience


HERE = "tests.test_registry"
SEATS = {"user_simulator": f"{HERE}:Deaf", "judge": f"{HERE}:Yes", "reward": f"{HERE}:make_double"}


def test_one_grammar_for_everything() -> None:
    env = gym.make("elicit_gym/InfoQuest-v0", **SEATS)
    env.reset(seed=1)
    _, reward, terminated, *_ = env.step("What is it?")
    assert (reward, terminated) == (10.0, True)
    assert gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json())).unwrapped.judge.name == "yes"
    vector = gym.make_vec("elicit_gym/InfoQuest-v0", num_envs=2, **SEATS)
    vector.reset(seed=1)
    assert vector.step(("What?", "How?"))[1].tolist() == [10.0, 0.0]
    assert load_policy(f"{HERE}:What").name == "what"
    for model in ("tests.doubles:policy", "double"):
        MODELS.register("double", "tests.doubles:policy")
        try:
            assert make_chat_model(model).name == "double-policy"
            assert LLMPolicy(model).model.name == "double-policy"
            assert load_policy(f"litellm:{model}").name == "double-policy"
        finally:
            MODELS.unregister("double")
    # What a server calls a model is sent as it is.
    assert make_chat_model("llama3:latest", transport="http", api_base="http://localhost:1").name == "llama3:latest"
    records = collect_episodes(load_policy("naive"), f"{HERE}:MyEnv", scenario_ids=IDS[:1])
    assert (records[0].env_id, len(records[0].episode.turns)) == (f"{HERE}:MyEnv", 4)
    assert len(load_dataset("sample/all-v1", reward="elicit_gym.offline.dialogue_rewards:ReplyLength")) > 0
    POLICIES.register("mine", f"{HERE}:What")
    try:
        assert load_policy("mine").name == "what"
    finally:
        POLICIES.unregister("mine")


@pytest.mark.parametrize("kind", sorted(REGISTRIES))
@pytest.mark.parametrize(
    ("name", "error", "problem"),
    [
        ("no_such", UnknownNameError, "Unknown {} 'no_such'"),
        ("no_such_module:Thing", SettingError, "Loading the {} 'no_such_module:Thing': .*ModuleNotFoundError"),
        ("tests.doubles:nothing", SettingError, "Loading the {} 'tests.doubles:nothing': .*AttributeError"),
        ("tests.test_registry:fails", SettingError, "Making the {} 'tests.test_registry:fails' .*ZeroDivisionError"),
    ],
)
def test_mistakes_are_one_sentence_everywhere(kind: str, name: str, error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem.format(kind)):
        REGISTRIES[kind].make(name)


def fails() -> None:
    raise ZeroDivisionError("no")


@pytest.mark.parametrize(
    ("make", "rule"),
    [
        (lambda: InfoQuestEnv(judge="builtins:dict"), "expected a judge with name and judge"),
        (lambda: InfoQuestEnv(user_simulator="builtins:dict"), "expected a user simulator with name and reply"),
        (lambda: InfoQuestEnv(reward="builtins:list"), "expected a reward with a function of a RewardStep"),
        (lambda: InfoQuestEnv(judge=3), "expected a judge"),  # type: ignore[arg-type]
        (lambda: make_chat_model("builtins:dict"), "expected an object with name, check"),
        (lambda: load_policy("builtins:dict"), "expected an object with name, reset"),
        (lambda: sample_environment("builtins:dict", {}), "builtins:dict"),
        (lambda: sample_environment("elicit_gym/InfoQest-v0", {}), "Did you mean 'elicit_gym/InfoQuest-v0'"),
    ],
)
def test_what_is_made_by_name_is_checked(make: Any, rule: str) -> None:
    with pytest.raises(ElicitGymError, match=rule):
        make()


@pytest.fixture
def registered() -> Iterator[dict[str, str]]:
    """Names and an id that only this process knows."""
    JUDGES.register("yes", f"{HERE}:Yes")
    gym.register(id="tests/Short-v0", entry_point=f"{HERE}:MyEnv", kwargs={"judge": "yes", "patience": 3})
    yield {"reward": f"{HERE}:make_double", "max_turns": 3}
    JUDGES.unregister("yes")
    gym.registry.pop("tests/Short-v0", None)


def test_a_judge_that_subclasses_a_built_in_one_travels_to_processes(
    registered: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    policies = [load_policy("random"), What()]
    wanted: dict[str, Any] = {"env_kwargs": registered, "scenario_ids": IDS, "repeats": 4, "seed": 2}
    one, _ = collect_policies(policies, "tests/Short-v0", **wanted)
    assert {record.episode.total_reward for record in one if record.policy == "what"} == {10.0}
    monkeypatch.setattr(collect, "PROCESSES_FROM", 10)
    monkeypatch.setattr(workers, "CHUNK", 7)
    used = []
    original = collect.run_in_processes
    monkeypatch.setattr(collect, "run_in_processes", lambda *a: used.append(1) or original(*a))
    two, _ = collect_policies(policies, "tests/Short-v0", **wanted, concurrency=2)
    assert used
    assert two == one


def test_names_travel_with_the_work(registered: dict[str, Any], tmp_path: Path) -> None:
    from elicit_gym.rollout.units import PolicyMaker, Unit, UnitRunner

    runner = UnitRunner("tests/Short-v0", registered, [PolicyMaker(What())], seed=1)
    (tmp_path / "runner").write_bytes(cloudpickle.dumps(runner))
    code = (
        "import sys, cloudpickle\n"
        "from elicit_gym.rollout.units import Unit\n"
        "runner = cloudpickle.loads(open(sys.argv[1], 'rb').read())\n"
        "record = runner(Unit(0, '00-a', 0))\n"
        "print(record.env_id, record.episode.total_reward, runner.sample.patience, runner.sample.judge.name)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "runner")], capture_output=True, text=True, check=False, cwd=ROOT
    )
    assert done.stdout.split() == ["tests/Short-v0", "10.0", "3", "yes"], done.stderr
    assert runner(Unit(0, "00-a", 0)).episode.total_reward == 10.0


MAIN = """
import gymnasium, json, sys
from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.registry import JUDGES
from elicit_gym.rollout import collect
from elicit_gym.types import Verdict

class Mine(ScriptedJudge):
    name = "mine"
    def judge(self, request):
        return (Verdict(satisfied=True),) * len(request.pending)

class Own(InfoQuestEnv):
    pass

JUDGES.register("mine", "__main__:Mine")
gymnasium.register(id="main/Own-v0", entry_point="__main__:Own")
collect.PROCESSES_FROM = 2
for judge in ("mine", "__main__:Mine"):
    records = collect_episodes(load_policy("naive"), "main/Own-v0", env_kwargs={"judge": judge}, repeats=1,
                               scenario_ids=["00-a", "00-b"], concurrency=2)
    print(json.dumps([record.episode.total_reward for record in records]))
"""


def test_what_a_script_defines_travels_too(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(MAIN, encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "script.py"], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=120
    )
    assert [json.loads(line) for line in done.stdout.splitlines()] == [[5.0, 5.0]] * 2, done.stderr
