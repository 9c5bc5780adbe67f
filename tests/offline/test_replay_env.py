"""Recorded interviews as an environment."""

from statistics import fmean

import gymnasium as gym
import pytest
from gymnasium.error import InvalidAction, ResetNeeded

from elicit_gym.errors import SettingError
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.replay_env import YieldReplayEnv

ID = "elicit_gym/YieldReplay-v0"


def walk(env: gym.Env, seed: int, action: str) -> tuple[list[float], list[str]]:  # type: ignore[type-arg]
    history, info = env.reset(seed=seed)
    assert env.observation_space.contains(history)
    rewards, human, done = [], [], False
    while not done:
        history, reward, terminated, truncated, info = env.step(action)
        assert env.observation_space.contains(history)
        assert not truncated
        rewards.append(reward)
        human.append(info["behaviour_action"])
        done = terminated
    return rewards, human


def walk_episode(env: YieldReplayEnv, name: str) -> float:
    env.reset(options={"episode_id": name})
    total, done = 0.0, False
    while not done:
        _, reward, done, _, _ = env.step("Go on.")
        total += reward
    return total


def test_it_walks_a_held_out_dialogue_whatever_is_said() -> None:
    env = gym.make(ID)
    assert walk(env, 3, "What?") == walk(env, 3, "Tell me of your childhood, please.")
    with pytest.raises(ResetNeeded):
        env.step("And?")


def test_rewards_and_human_actions_are_the_recorded_ones() -> None:
    env = gym.make(ID, disable_env_checker=True)
    unwrapped = env.unwrapped
    assert isinstance(unwrapped, YieldReplayEnv)
    held_out = {e.id: e for e in unwrapped.get_dataset("test")}
    for i in range(len(held_out)):
        rewards, human = walk(env, i, "Hm?")
        episode = next(e for e in held_out.values() if tuple(human) == e.actions[-len(human) :])
        assert tuple(rewards) == episode.rewards[-len(rewards) :]


def test_the_dataset_is_the_training_part() -> None:
    env = gym.make(ID).unwrapped
    assert isinstance(env, YieldReplayEnv)
    train = env.get_dataset()
    assert isinstance(train, OfflineDataset)
    assert {e.split for e in train} == {"train"}
    assert not {e.id for e in train} & {e.id for e in env.get_dataset("test")}


def test_normalised_scores() -> None:
    env = YieldReplayEnv()
    walked = [walk_episode(env, name) for name in env._by_id]
    human = fmean(walked)
    assert env.get_normalized_score(human) == pytest.approx(1.0)
    assert env.get_normalized_score(human - 1) < 1.0
    # The sample has dialogues in which the elicitor speaks first, so that a step is skipped.
    assert human < fmean(sum(episode.rewards) for episode in env._walkable)


def test_options_and_mistakes() -> None:
    env = YieldReplayEnv(render_mode="ansi")
    name = next(iter(env._by_id))
    assert env.reset(options={"episode_id": name})[1]["episode_id"] == name
    assert "user: " in (env.render() or "")
    with pytest.raises(InvalidAction):
        env.step(" ")
    with pytest.raises(SettingError, match="expected the id of a dialogue"):
        env.reset(options={"episode_id": "x"})
