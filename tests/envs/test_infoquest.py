"""What the environment does beyond the contract of all environments."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from elicit_gym import InfoQuestEnv, InfoQuestVectorEnv, collect_episodes, load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.errors import ScenarioError, SettingError, UnknownNameError, UserSimulatorFailure
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.rewards import ChecklistGain
from elicit_gym.scenarios.load import BUNDLED
from elicit_gym.types import UserReply, UserTurn
from elicit_gym.user_simulators.scripted import ScriptedUserSimulator

ID = "elicit_gym/InfoQuest-v0"


LEASE, WIRING, OVEN, HOURS = (
    "Do you rent the place, and may you change things there?", "What can the wiring take?",
    "What keeps you from baking more right now?", "Which hours of the day are free for baking?",
)  # fmt: skip
WHEELS = "Put everything on a trolley with wheels, so that nothing has to be screwed to the wall."


def test_reward_is_what_was_newly_satisfied() -> None:
    env = gym.make(ID)
    _, info = env.reset(seed=0, options={"scenario_id": "00-a"})
    assert info["scenario_id"] == "00-a"
    _, reward, _, _, info = env.step(HOURS)
    assert reward == 1.0
    assert info["checklist"] == (False, False, False, True, False)
    assert info["newly_satisfied"] == (3,)
    _, reward, _, _, info = env.step("At what times can you bake?")
    assert reward == 0.0
    assert info["checklist"] == (False, False, False, True, False)


def test_terminates_when_everything_is_satisfied() -> None:
    env = gym.make(ID)
    env.reset(seed=0, options={"scenario_id": "00-a"})
    for action in (LEASE, WIRING, OVEN, HOURS):
        _, reward, terminated, truncated, _ = env.step(action)
        assert reward == 1.0
        assert not terminated
    history, reward, terminated, truncated, _ = env.step(WHEELS)
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert history[-1].role == "assistant"


def test_success_in_the_last_turn_is_no_truncation() -> None:
    env = gym.make(ID, max_turns=5)
    env.reset(seed=0, options={"scenario_id": "00-a"})
    for action in (LEASE, WIRING, OVEN, HOURS, WHEELS):
        *_, terminated, truncated, _ = env.step(action)
    assert (terminated, truncated) == (True, False)


def test_stuck_after_two_turns_without_progress() -> None:
    env = gym.make(ID)
    env.reset(seed=0, options={"scenario_id": "00-a"})
    seen = [env.step(a)[-1]["stuck"] for a in ("Hm.", "Well.", HOURS, "Hm.", "Well.")]
    assert seen == [False, True, False, False, True]


def test_scenarios_that_the_judge_cannot_read_are_refused_at_once(paper_example: Path) -> None:
    with pytest.raises(SettingError, match="expected examples of questions, got none"):
        gym.make(ID, scenarios=paper_example)
    gym.make(ID, scenarios=paper_example, judge_kwargs={"allow_derived": True}).reset(seed=1)


@pytest.mark.parametrize("mode", ["ansi", "human"])
def test_rendering(mode: str, capsys: pytest.CaptureFixture[str]) -> None:
    env = gym.make(ID, render_mode=mode)
    env.reset(seed=0, options={"scenario_id": "00-a"})
    env.step("Which hours of the day are free for baking? \ud83d")
    text = env.render() if mode == "ansi" else capsys.readouterr().out
    assert text is not None
    assert "Which hours of the day" in text
    assert "[x] Did the assistant ask" in text
    assert "turn 1/10" in text


def test_the_seed_picks_the_scenario() -> None:
    env = InfoQuestEnv()
    assert len({env.reset(seed=i)[1]["scenario_id"] for i in range(40)}) > 20
    test_ids = {s.id for s in load_scenarios(split="test")}
    held_out = InfoQuestEnv(split="test")
    assert {held_out.reset(seed=i)[1]["scenario_id"] for i in range(900)} == test_ids


def test_picking_a_scenario_does_not_shift_the_users_seed() -> None:
    env = InfoQuestEnv()
    drawn = env.reset(seed=9)[1]["scenario_id"]
    first = env.step("Hm.")[0]
    env.reset(seed=9, options={"scenario_id": drawn})
    assert env.step("Hm.")[0] == first


@pytest.mark.parametrize(
    ("kwargs", "error", "problem"),
    [
        ({"judge": "strct"}, UnknownNameError, "Unknown judge 'strct'"),
        ({"user_simulator": "scriptd"}, UnknownNameError, "Did you mean 'scripted'"),
        ({"reward": "gain"}, UnknownNameError, "Available: checklist_gain"),
        ({"judge_kwargs": {"x": 1}}, SettingError, "Making the judge 'scripted'"),
        ({"max_turns": 0}, SettingError, "expected max_turns of 1 or more, got 0"),
        ({"render_mode": "rgb_array"}, SettingError, "expected render_mode"),
        ({"scenarios": "nowhere.jsonl"}, ScenarioError, "No such file"),
        ({"scenarios": []}, SettingError, "expected at least one scenario"),
        ({"split": "dev"}, SettingError, "got 'dev'"),
    ],
)
def test_wrong_arguments(kwargs: dict[str, object], error: type[Exception], problem: str) -> None:
    with pytest.raises(error, match=problem):
        InfoQuestEnv(**kwargs)  # type: ignore[arg-type]


def test_wrong_options() -> None:
    env = InfoQuestEnv()
    with pytest.raises(SettingError, match="expected the id of a scenario, got 'zz'"):
        env.reset(options={"scenario_id": "zz"})
    with pytest.raises(SettingError, match=r"got \['colour'\]"):
        env.reset(options={"colour": 1})


class Unreliable(ScriptedUserSimulator):
    """Fails the first time."""

    def __init__(self) -> None:
        self.calls = 0

    def reply(self, turn: UserTurn) -> UserReply:
        self.calls += 1
        if self.calls == 1:
            raise TimeoutError("slow")
        return super().reply(turn)


def test_a_step_that_failed_was_not_made_and_can_be_tried_again() -> None:
    env = InfoQuestEnv(user_simulator=Unreliable())
    history, _ = env.reset(seed=1, options={"scenario_id": "00-a"})
    with pytest.raises(UserSimulatorFailure, match="TimeoutError: slow"):
        env.step(HOURS)
    again, reward, *_ = env.step(HOURS)
    assert reward == 1.0
    assert again[0] == history[0]
    assert len(again) == 3


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
def test_every_argument_of_gym_make_survives_json(make: Any, tmp_path: Path) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (tmp_path / "mine.jsonl").write_bytes(BUNDLED.read_bytes())
    double = {"model": "tests.doubles:judge", "prompts": prompts}
    env = make(
        ID, scenarios=tmp_path / "mine.jsonl", split="test", judge="llm", judge_kwargs=double,
        reward="checklist_gain_per_turn_cost", reward_kwargs={"cost": np.float32(0.5)}, max_turns=np.int64(4),
    )  # fmt: skip
    assert env.spec is not None
    text = env.spec.to_json()
    again = make(gym.envs.registration.EnvSpec.from_json(text))
    assert again.spec is not None
    assert again.spec.to_json() == text
    assert env.spec.kwargs["scenarios"] == str(tmp_path / "mine.jsonl")
    assert again.unwrapped.spec.kwargs["judge_kwargs"] == {**double, "prompts": str(prompts)}
    one, two = (getattr(e.unwrapped, "envs", [e.unwrapped])[0] for e in (env, again))
    assert (two.max_turns, two.reward, two.scenarios) == (one.max_turns, one.reward, one.scenarios)
    assert type(two.max_turns) is int


@pytest.mark.parametrize("make", [gym.make, gym.make_vec])
@pytest.mark.parametrize(
    "live",
    [{"scenarios": load_scenarios()[:2]}, {"judge": ScriptedJudge()}, {"reward": ChecklistGain()}, {"judge_kwargs": {"model": object()}}],
)  # fmt: skip
def test_live_objects_are_for_the_constructor(make: Any, live: dict[str, Any]) -> None:
    if "judge_kwargs" not in live:
        InfoQuestEnv(**live).reset(seed=1)
    with pytest.raises(SettingError):
        make(ID, **live)
    if "scenarios" in live:
        with pytest.raises(SettingError, match=r"the argument 'scenarios'\[0\]: expected text.*InfoQuestEnv\(\.\.\.\)"):
            make(ID, **live)


@pytest.mark.parametrize("number", [4, np.int64(4), np.int8(4), np.uint16(4)])
def test_whole_numbers_of_any_library(number: Any) -> None:
    env = InfoQuestEnv(max_turns=number)
    assert (env.max_turns, type(env.max_turns)) == (4, int)
    envs = InfoQuestVectorEnv(num_envs=number, max_turns=number)
    assert (envs.num_envs, type(envs.num_envs)) == (4, int)
    histories, _ = envs.reset(seed=number)
    assert histories == InfoQuestVectorEnv(num_envs=4, max_turns=4).reset(seed=4)[0]
    records = collect_episodes(
        load_policy("naive"), scenario_ids=["00-a"], repeats=number, seed=number, concurrency=number,
        env_kwargs={"max_turns": number},
    )  # fmt: skip
    assert records == collect_episodes(
        load_policy("naive"), scenario_ids=["00-a"], repeats=4, seed=4, env_kwargs={"max_turns": 4}
    )


@pytest.mark.parametrize("number", [True, 4.0, "4", None, np.float64(4), np.True_])
def test_what_is_no_whole_number(number: Any) -> None:
    with pytest.raises(SettingError, match="expected a whole number as max_turns, got"):
        InfoQuestEnv(max_turns=number)
    with pytest.raises(SettingError, match="expected a whole number as num_envs, got"):
        InfoQuestVectorEnv(num_envs=number)
    for name in ("repeats", "concurrency", "seed"):
        with pytest.raises(SettingError, match=f"expected a whole number as {name}, got"):
            collect_episodes(load_policy("naive"), **{name: number})


def test_a_split_of_scenarios_that_were_handed_over() -> None:
    env = InfoQuestEnv(scenarios=load_scenarios(), split="test")
    assert env.scenarios == load_scenarios(split="test")
    with pytest.raises(SettingError, match="expected at least one scenario"):
        InfoQuestEnv(scenarios=load_scenarios(split="train"), split="test")
