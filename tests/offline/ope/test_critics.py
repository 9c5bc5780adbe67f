"""Critics: what they value, and what they refuse."""

import numpy as np
import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline.log_probs import PolicyView
from elicit_gym.offline.ope.critics import ArrayCritic, D3rlpyCritic, FittedQ
from tests.offline.ope.samples import GO, LEFT, REWARDS, RIGHT, STOP, TARGET, Table, every_episode

POLICY = Table("target", TARGET)
EPISODES = every_episode(200)


def test_fitted_q_finds_the_values() -> None:
    q, v = FittedQ(ridge=1e-3).values(EPISODES, POLICY, PolicyView(), 0.9)
    second = TARGET[LEFT] * 4.0 + TARGET[RIGHT] * 2.0
    for episode, of_actions, of_histories in zip(EPISODES, q, v, strict=True):
        assert of_actions[-1] == pytest.approx(REWARDS[episode.actions[-1]], abs=0.01)
        if episode.actions[0] == GO:
            assert of_actions[0] == pytest.approx(0.5 + 0.9 * second, abs=0.01)
            assert of_histories[1] == pytest.approx(second, abs=0.02)
        expected = TARGET[STOP] * 1.0 + TARGET[GO] * (0.5 + 0.9 * second)
        assert of_histories[0] == pytest.approx(expected, abs=0.02)


def test_fitted_q_refuses_free_text_and_single_dialogues() -> None:
    with pytest.raises(SettingError, match="at most 3 different actions, got 4"):
        FittedQ(max_actions=3).values(EPISODES, POLICY, PolicyView(), 1.0)
    with pytest.raises(SettingError, match="at least 5 episodes, got 1"):
        FittedQ().values(EPISODES[:1], POLICY, PolicyView(), 1.0)


def test_given_values_are_of_these_episodes() -> None:
    rows = [[1.0] * len(episode) for episode in EPISODES[:4]]
    q, v = ArrayCritic(rows, rows).values(EPISODES[:4], POLICY, PolicyView(), 1.0)
    assert [row.tolist() for row in q] == [row.tolist() for row in v] == rows
    with pytest.raises(SettingError, match="one value for each of 5 actions of 3 episodes, got 6 of 4"):
        ArrayCritic(rows, rows).values(EPISODES[1:4], POLICY, PolicyView(), 1.0)


class _Model:
    """The value of action a at a history of n messages is 10 n + a."""

    def predict_value(self, observations: np.ndarray, actions: np.ndarray) -> np.ndarray:
        assert actions.shape == (len(observations), 1)
        return (observations[:, 0] * 10 + actions[:, 0]).astype(np.float32)


def test_d3rlpys_values_are_weighed_with_the_targets_probabilities() -> None:
    texts = (STOP, GO, LEFT, RIGHT)
    critic = D3rlpyCritic(_Model(), lambda histories: np.array([[len(h)] for h in histories], dtype=np.float32), texts)
    view = PolicyView(system_line=False)
    q, v = critic.values(EPISODES[2:3], Table("half", {STOP: 0.5, GO: 0.5, RIGHT: 1.0}), view, 1.0)
    assert q[0].tolist() == [11.0, 32.0]
    assert v[0].tolist() == [10.5, 33.0]
    with pytest.raises(SettingError, match="one of 1 known actions, got 'Tell me more.'"):
        D3rlpyCritic(_Model(), lambda h: np.zeros((len(h), 1), np.float32), [LEFT]).values(
            EPISODES[2:3], POLICY, view, 1.0
        )
