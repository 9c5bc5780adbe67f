"""One contract over every registered environment."""

import inspect
import json
import random
import time
import warnings
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import AutoresetMode

import elicit_gym
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.errors import SettingError
from elicit_gym.types import Message
from tests.conftest import ROOT
from tests.envs.parts import Goes

# Environments that need a model service are checked against a test double of it.
OFFLINE_KWARGS: dict[str, dict[str, Any]] = {
    "elicit_gym/InfoQuestLLM-v0": {
        "user_simulator_kwargs": {"model": "tests.doubles:user"},
        "judge_kwargs": {"model": "tests.doubles:judge"},
    }
}
GOES: dict[str, Any] = {"user_simulator": Goes(), "user_simulator_kwargs": None}
ENVS = pytest.mark.parametrize("env_id", elicit_gym.ENV_IDS)
# What holds for conversations with a simulated user, and not for a walk through a recorded one.
INFOQUEST = pytest.mark.parametrize("env_id", [i for i in elicit_gym.ENV_IDS if "InfoQuest" in i])


def make(env_id: str, **kwargs: Any) -> gym.Env[Any, Any]:
    return gym.make(env_id, **OFFLINE_KWARGS.get(env_id, {}), **kwargs)


def play(env: gym.Env[Any, Any], seed: int) -> list[Any]:
    history, info = env.reset(seed=seed)
    seen: list[Any] = [history, info]
    done = False
    while not done:
        *step, info = env.step("What would you like to have in the end?")
        done = step[2] or step[3]
        seen.append((*step, info))
    return seen


@ENVS
def test_the_version_number_has_a_history(env_id: str) -> None:
    """As in Gymnasium: the policy names every id, and the docstring of each says what its versions are."""
    version = env_id.rpartition("-")[2]
    rows = [line for line in (ROOT / "docs" / "versioning.md").read_text(encoding="utf-8").splitlines() if "|" in line]
    assert any(f"`{env_id}`" in row for row in rows)
    doc = inspect.getdoc(make(env_id).unwrapped) or ""
    history = doc.partition("## Version history\n")[2].partition("\n\n")[0]
    assert history.startswith(f"{version}: ")
    assert "docs/versioning.md" in history


@ENVS
def test_check_env_with_warnings_as_errors(env_id: str, capsys: pytest.CaptureFixture[str]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(make(env_id).unwrapped)
    capsys.readouterr()


@ENVS
@pytest.mark.parametrize("kind", [np.int64, np.uint8, np.int32])
def test_a_seed_may_be_any_librarys_whole_number(env_id: str, kind: type) -> None:
    assert make(env_id).reset(seed=kind(5)) == make(env_id).reset(seed=5)


@ENVS
@pytest.mark.parametrize("seed", [True, 3.0, "3", -1])
def test_a_seed_that_is_none_is_told(env_id: str, seed: Any) -> None:
    with pytest.raises(SettingError, match="expected (a whole number as seed|seed of 0 or more)"):
        make(env_id).reset(seed=seed)


@INFOQUEST
def test_the_vector_environment_takes_the_same_seeds(env_id: str) -> None:
    envs = gym.make_vec(env_id, num_envs=2, **OFFLINE_KWARGS.get(env_id, {}))
    first = envs.reset(seed=5)[0]
    for seed in (np.int64(5), [np.int64(5), np.int32(6)], np.array([5, 6])):
        assert envs.reset(seed=seed)[0] == first
    with pytest.raises(SettingError, match="as seed"):
        envs.reset(seed=[1.5, 2])


def test_gymnasiums_asynchronous_environment_works_without_shared_memory() -> None:
    wanted: dict[str, Any] = {"num_envs": 2, "vectorization_mode": "async"}
    envs = gym.make_vec("elicit_gym/InfoQuest-v0", vector_kwargs={"shared_memory": False}, **wanted)
    try:
        histories, _ = envs.reset(seed=5)
        assert histories == gym.make_vec("elicit_gym/InfoQuest-v0", num_envs=2).reset(seed=5)[0]
        _, rewards, *_ = envs.step(("What is this about?", "How much money can you spend?"))
        assert rewards.shape == (2,)
    finally:
        envs.close()


@ENVS
def test_the_same_seed_gives_the_same_episode(env_id: str) -> None:
    assert play(make(env_id), 5) == play(make(env_id), 5)
    assert play(make(env_id), 5) != play(make(env_id), 6)


@ENVS
def test_global_random_state_is_left_alone(env_id: str) -> None:
    before = (random.getstate(), np.random.get_state()[1].tolist())  # type: ignore[index, union-attr]
    play(make(env_id), 1)
    assert (random.getstate(), np.random.get_state()[1].tolist()) == before  # type: ignore[index, union-attr]


@INFOQUEST
def test_ten_turns_are_twenty_messages_and_one_flag(env_id: str) -> None:
    env = make(env_id)
    history, info = env.reset(seed=2)
    assert info["turn"] == 0
    for turn in range(1, 11):
        history, reward, terminated, truncated, info = env.step("I see, go on with that.")
        assert info["turn"] == turn
        assert isinstance(reward, float)
        assert not (terminated and truncated)
        assert truncated == (turn == 10)
        assert history[-1].role == ("assistant" if turn == 10 else "user")
    assert len(history) == 20
    with pytest.raises(ResetNeeded):
        env.step("And now?")


@ENVS
def test_stepping_before_reset(env_id: str) -> None:
    with pytest.raises(ResetNeeded):
        make(env_id).unwrapped.step("Hello?")


@INFOQUEST
@pytest.mark.parametrize("action", [None, 7, b"no", "", "   \n", ["What?"], {"a": 1}])
def test_an_invalid_action_leaves_the_episode_usable(env_id: str, action: Any) -> None:
    env = make(env_id, disable_env_checker=True)
    before, _ = env.reset(seed=1)
    with pytest.raises(InvalidAction, match="expected a non-empty string, got"):
        env.step(action)
    history, *_ = env.step("What do you want to achieve?")
    assert history[: len(before)] == before
    assert len(history) == 3


@ENVS
@pytest.mark.parametrize(
    "action", ["x" * 200_000, "what? " * 33_000, "😀" * 50_000, "a\ud83d b\udc00?", "\x00\x1b[31m?"]
)
def test_hostile_actions_neither_crash_nor_slow_a_step(env_id: str, action: str) -> None:
    env = make(env_id, disable_env_checker=True)
    times = []
    for seed in range(3):
        env.reset(seed=seed)
        start = time.process_time()
        env.step(action)
        times.append(time.process_time() - start)
        env.step("What do you want?")
    assert min(times) < 0.05


@ENVS
def test_info_is_new_scalars_and_tuples_at_every_step(env_id: str) -> None:
    env = make(env_id)
    _, first = env.reset(seed=3)
    *_, second = env.step("What holds you back?")
    assert set(first) == set(second)
    assert first is not second
    for value in (*first.values(), *second.values()):
        assert isinstance(value, str | int | float | bool | tuple)


@INFOQUEST
def test_observations_are_immutable_and_keep_their_past(env_id: str) -> None:
    env = make(env_id)
    first, _ = env.reset(seed=3)
    second, *_ = env.step("What holds you back?")
    assert len(first) == 1
    assert second[:1] == first
    with pytest.raises(AttributeError):
        first[0].content = "changed"
    assert isinstance(first[0], Message)


@INFOQUEST
def test_spec_survives_json(env_id: str) -> None:
    env = make(env_id, max_turns=4, reward="final_checklist")
    assert env.spec is not None
    again = gym.make(gym.envs.registration.EnvSpec.from_json(env.spec.to_json()))
    assert play(again, 1)[-1][0] == play(env, 1)[-1][0]
    json.loads(env.spec.to_json())


@INFOQUEST
@pytest.mark.parametrize("mode", list(AutoresetMode))
def test_sync_vector_envs(env_id: str, mode: AutoresetMode) -> None:
    envs = gym.make_vec(
        env_id,
        num_envs=3,
        vectorization_mode="sync",
        vector_kwargs={"autoreset_mode": mode},
        max_turns=3,
        **OFFLINE_KWARGS.get(env_id, {}),
    )
    histories, _ = envs.reset(seed=1)
    assert len(histories) == 3
    for step in range(7):
        histories, _, terminated, truncated, infos = envs.step(("What do you need?",) * 3)
        done = terminated | truncated
        if mode == AutoresetMode.SAME_STEP and done.any():
            assert len(infos["final_obs"][0]) == 6
        if mode == AutoresetMode.DISABLED and done.any():
            histories, _ = envs.reset(options={"reset_mask": done})
        assert all(len(history) % 2 == 1 or done[i] for i, history in enumerate(histories)), step
    envs.close()


@INFOQUEST
def test_the_vector_environment_of_an_id_is_its_single_ones(env_id: str) -> None:
    envs = gym.make_vec(env_id, num_envs=3, autoreset_mode="Disabled", max_turns=3, **OFFLINE_KWARGS.get(env_id, {}))
    assert type(envs.unwrapped).__name__ == "InfoQuestVectorEnv"

    def info_of(i: int) -> dict[str, Any]:
        return {key: values[i] for key, values in infos.items() if not key.startswith("_")}

    histories, infos = envs.reset(seed=[5, 6, 7])
    seen: list[list[Any]] = [[history, info_of(i)] for i, history in enumerate(histories)]
    for _ in range(3):
        histories, rewards, terminated, truncated, infos = envs.step(["What would you like to have in the end?"] * 3)
        for i, own in enumerate(seen):
            own.append((histories[i], rewards[i], terminated[i], truncated[i], info_of(i)))
    assert seen == [play(make(env_id, max_turns=3), seed) for seed in (5, 6, 7)]


@INFOQUEST
def test_a_user_who_leaves_ends_an_episode_of_any_id(env_id: str) -> None:
    env = InfoQuestEnv(**{**gym.spec(env_id).kwargs, **OFFLINE_KWARGS.get(env_id, {}), **GOES})
    assert set(env.reset(seed=1)[1]) == set(make(env_id).reset(seed=1)[1])
    history, _, terminated, truncated, info = env.step("What would you like to have in the end?")
    assert (terminated, truncated, info["left"]) == (True, False, True)
    assert history[-1].role == "user"
    assert history in env.observation_space
    with pytest.raises(ResetNeeded):
        env.step("Wait!")


@INFOQUEST
def test_async_vector_env(env_id: str) -> None:
    envs = gym.make_vec(
        env_id, num_envs=2, vectorization_mode="async", vector_kwargs={"shared_memory": False},
        **OFFLINE_KWARGS.get(env_id, {}),
    )  # fmt: skip
    try:
        histories, _ = envs.reset(seed=1)
        assert [len(h) for h in histories] == [1, 1]
        histories, *_ = envs.step(("What do you need?", "When is it due?"))
        assert [len(h) for h in histories] == [3, 3]
    finally:
        envs.close()
