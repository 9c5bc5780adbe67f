"""The vector environment is N single ones: the same conversations, whatever ends when, under every autoreset mode."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import RecordEpisodeStatistics
from hypothesis import given, settings
from hypothesis import strategies as st

import elicit_gym
from elicit_gym import load_scenarios
from elicit_gym.agents.baselines import Oracle
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.envs.infoquest_vector import InfoQuestVectorEnv
from elicit_gym.errors import JudgeFailure, SettingError, UserSimulatorFailure
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.types import ChatHistory, JudgeRequest, UserReply, UserTurn, Verdict
from elicit_gym.user_simulators.scripted import ScriptedUserSimulator

ENV_ID = "elicit_gym/InfoQuest-v0"
MODES = list(AutoresetMode)


class Actor:
    """The oracle in some conversations, a nobody in others: episodes end by success and by the clock, when they like."""

    def __init__(self) -> None:
        self._oracles = {s.opening_message: Oracle().for_scenario(s) for s in load_scenarios()}
        for oracle in self._oracles.values():
            oracle.reset(0)

    def __call__(self, i: int, history: ChatHistory) -> str:
        if i % 3 == 0:
            return "I see, go on with that."
        return self._oracles[history[0].content].act(history)


def equal(first: Any, second: Any) -> bool:
    if isinstance(first, dict):
        return set(first) == set(second) and all(equal(first[k], second[k]) for k in first)
    if isinstance(first, np.ndarray):
        return first.dtype == second.dtype and all(equal(a, b) for a, b in zip(first, second, strict=True))
    return bool(first == second)


@pytest.mark.parametrize("mode", MODES)
@given(num_envs=st.integers(1, 7), seed=st.integers(0, 10_000), max_turns=st.integers(1, 9))
@settings(max_examples=12, deadline=None)
def test_it_equals_gymnasiums_own_over_single_ones(
    mode: AutoresetMode, num_envs: int, seed: int, max_turns: int
) -> None:
    kwargs = {"max_turns": max_turns}
    ours = InfoQuestVectorEnv(num_envs=num_envs, autoreset_mode=mode, **kwargs)
    theirs = SyncVectorEnv([lambda: InfoQuestEnv(**kwargs)] * num_envs, autoreset_mode=mode)  # type: ignore[arg-type]
    assert ours.observation_space == theirs.observation_space
    assert ours.action_space == theirs.action_space
    act = Actor()
    histories, infos = ours.reset(seed=seed)
    expected, expected_infos = theirs.reset(seed=seed)
    assert histories == expected
    assert equal(infos, expected_infos)
    for _ in range(22):
        actions = tuple(act(i, history) for i, history in enumerate(histories))
        result, wanted = ours.step(actions), theirs.step(actions)
        assert result[0] == wanted[0]
        for array, other in zip(result[1:4], wanted[1:4], strict=True):
            np.testing.assert_array_equal(array, other)
            assert array.dtype == other.dtype
        assert equal(result[4], wanted[4])
        histories = result[0]
        done = result[2] | result[3]
        if mode == AutoresetMode.DISABLED and done.any():
            histories, infos = ours.reset(options={"reset_mask": done})
            expected, expected_infos = theirs.reset(options={"reset_mask": done})
            assert histories == expected
            assert equal(infos, expected_infos)


@pytest.mark.parametrize("mode", MODES)
def test_statistics_count_every_episode_once(mode: AutoresetMode) -> None:
    envs = RecordEpisodeStatistics(InfoQuestVectorEnv(num_envs=5, autoreset_mode=mode, max_turns=6), buffer_length=1000)
    act = Actor()
    histories, _ = envs.reset(seed=3)
    finished: list[tuple[float, int]] = []
    running = [[0.0, 0] for _ in range(5)]
    fresh = [True] * 5
    for _ in range(60):
        histories, rewards, terminated, truncated, infos = envs.step(
            tuple(act(i, history) for i, history in enumerate(histories))
        )
        done = terminated | truncated
        for i in range(5):
            if mode == AutoresetMode.NEXT_STEP and not fresh[i]:
                fresh[i], running[i] = True, [0.0, 0]
                assert rewards[i] == 0
                continue
            running[i] = [running[i][0] + rewards[i], running[i][1] + 1]
            if done[i]:
                finished.append((running[i][0], int(running[i][1])))
                assert infos["episode"]["r"][i] == running[i][0]
                assert infos["episode"]["l"][i] == running[i][1]
                fresh[i] = False
                if mode != AutoresetMode.NEXT_STEP:
                    running[i] = [0.0, 0]
        if mode == AutoresetMode.SAME_STEP and done.any():
            for i in np.flatnonzero(done):
                assert len(infos["final_obs"][i]) == 2 * infos["final_info"]["turn"][i]
                assert len(histories[i]) == 1
        if mode == AutoresetMode.DISABLED and done.any():
            histories, _ = envs.reset(options={"reset_mask": done})
    assert envs.episode_count == len(finished)
    assert list(zip(envs.return_queue, envs.length_queue, strict=True)) == finished
    assert len({length for _, length in finished}) > 1  # episodes of different lengths
    assert any(score == 5 for score, _ in finished)


class Counting(ScriptedJudge):
    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []

    def judge_batch(self, requests: Sequence[JudgeRequest]) -> list[tuple[Verdict, ...]]:
        self.batches.append(len(requests))
        return [self.judge(request) for request in requests]


class CountingUser(ScriptedUserSimulator):
    def __init__(self) -> None:
        super().__init__()
        self.batches: list[int] = []

    def reply_batch(self, turns: Sequence[UserTurn]) -> list[UserReply]:
        self.batches.append(len(turns))
        return [self.reply(turn) for turn in turns]


def test_calls_go_out_in_one_batch_each() -> None:
    judge, user = Counting(), CountingUser()
    envs = InfoQuestVectorEnv(num_envs=6, judge=judge, user_simulator=user, max_turns=2)
    envs.reset(seed=0)
    envs.step(["What do you need?"] * 6)
    envs.step(["When is it due?"] * 6)  # the last turn: no user is asked
    envs.step(["ignored"] * 6)  # resets
    assert judge.batches == [6, 6]
    assert user.batches == [6]


@pytest.mark.parametrize(("part", "failure"), [("judge", JudgeFailure), ("user_simulator", UserSimulatorFailure)])
def test_a_failed_step_changes_nothing(part: str, failure: type[Exception]) -> None:
    class Once(Counting if part == "judge" else CountingUser):  # type: ignore[misc]
        failing = False

        def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
            return super().judge(request) if not self.failing else 1 / 0  # type: ignore[return-value]

        def reply(self, turn: UserTurn) -> UserReply:
            return super().reply(turn) if not self.failing else 1 / 0  # type: ignore[return-value]

    broken = Once()
    envs = InfoQuestVectorEnv(num_envs=3, **{part: broken})
    twin = InfoQuestVectorEnv(num_envs=3)
    envs.reset(seed=1)
    twin.reset(seed=1)
    broken.failing = True
    with pytest.raises(failure):
        envs.step(["What do you need?"] * 3)
    broken.failing = False
    again, expected = envs.step(["What do you need?"] * 3), twin.step(["What do you need?"] * 3)
    assert again[0] == expected[0]
    np.testing.assert_array_equal(again[1], expected[1])


def test_mistakes_are_said() -> None:
    envs = InfoQuestVectorEnv(num_envs=2, autoreset_mode="Disabled", max_turns=1)
    with pytest.raises(ResetNeeded, match="conversation 0"):
        envs.step(["Hello?", "Hello?"])
    envs.reset(seed=0, options={"scenario_ids": ["01-a", None]})
    assert envs.envs[0].conversation is not None
    assert envs.envs[0].conversation.scenario.id == "01-a"
    with pytest.raises(InvalidAction):
        envs.step(["What?", " "])
    envs.step(["What?", "Why?"])
    with pytest.raises(ResetNeeded):
        envs.step(["What?", "Why?"])
    with pytest.raises(SettingError, match="expected 2 utterances"):
        envs.step(["one"])
    with pytest.raises(SettingError, match="expected 2 utterances"):
        envs.step("ab")
    with pytest.raises(SettingError, match="reset_mask"):
        envs.reset(options={"reset_mask": np.zeros(2, dtype=bool)})
    with pytest.raises(SettingError, match="expected 2 values in seed"):
        envs.reset(seed=[1])
    with pytest.raises(SettingError, match="autoreset_mode"):
        InfoQuestVectorEnv(autoreset_mode="sometimes")
    with pytest.raises(SettingError, match="num_envs"):
        InfoQuestVectorEnv(num_envs=0)


def test_make_vec_makes_it_and_renders() -> None:
    envs = gym.make_vec(ENV_ID, num_envs=3, autoreset_mode="SameStep", max_turns=4, render_mode="ansi")
    assert isinstance(envs.unwrapped, InfoQuestVectorEnv)
    assert envs.metadata["autoreset_mode"] == AutoresetMode.SAME_STEP
    histories, _ = envs.reset(seed=0)
    shown = envs.render()
    assert shown is not None
    assert all(history[0].content[:20] in text for history, text in zip(histories, shown, strict=True))
    assert histories in envs.observation_space
    assert tuple(envs.action_space.sample()) in envs.action_space
    for env_id in elicit_gym.ENV_IDS:
        vector = gym.spec(env_id).vector_entry_point
        assert (vector is not None) == ("InfoQuest" in env_id)
