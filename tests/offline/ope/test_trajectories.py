"""Weights: their product, what follows the end, and the effective sample size."""

import math

import numpy as np
import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.offline.ope.trajectories import Trajectories, padded
from elicit_gym.types import Message
from tests.offline.ope.samples import GO, LEFT, STOP, episode

EPISODES = [episode("a", STOP), episode("b", GO, LEFT)]


def test_weights_are_products_and_stay_after_the_end() -> None:
    data = Trajectories.of(
        EPISODES, [[math.log(0.2)], [math.log(0.8), math.log(0.9)]], [[math.log(0.5)], [math.log(0.5)] * 2]
    )
    np.testing.assert_allclose(np.exp(data.log_weights), [[0.4, 0.4], [1.6, 2.88]])
    assert data.rewards.tolist() == [[1.0, 0.0], [0.5, 4.0]]
    assert data.lengths.tolist() == [1, 2]
    assert (data.clusters, data.unit) == (("a", "b"), "dialogue")


def test_effective_sizes_are_kishs_whatever_the_scale() -> None:
    for shift in (0.0, 900.0, -900.0):
        data = Trajectories.of(EPISODES, [[0.0], [math.log(3), 0.0]], [[-0.1], [-0.1, -0.1]])
        moved = Trajectories(
            rewards=data.rewards, log_weights=data.log_weights + shift, lengths=data.lengths, clusters=data.clusters
        )
        assert moved.effective_sizes()[0] == pytest.approx((1 + 3) ** 2 / (1 + 9))


def test_repeats_of_a_scenario_are_one_cluster() -> None:
    played = [
        OfflineEpisode(
            id=f"random/{scenario}/{repeat}", domain="infoquest", turn_ids=(0, 1), rewards=(1.0,), returns_to_go=(1.0,),
            messages=(Message(role="user", content="x"), Message(role="assistant", content="y")),
        )
        for scenario in ("s1", "s2") for repeat in (0, 1)
    ]  # fmt: skip
    data = Trajectories.of(played, [[-1.0]] * 4, [[-1.0]] * 4)
    assert data.clusters == ("random/s1", "random/s1", "random/s2", "random/s2")
    assert data.unit == "scenario"


@pytest.mark.parametrize("log_prob", [-math.inf, math.nan, math.inf, 0.5])
def test_a_behaviour_that_cannot_have_acted_so(log_prob: float) -> None:
    with pytest.raises(SettingError, match=r"the policy that acted, got .*\(a, action 0: 'Goodbye.'\)"):
        Trajectories.of(EPISODES, [[-1.0], [-1.0, -1.0]], [[log_prob], [-1.0, -1.0]])


def test_no_actions() -> None:
    with pytest.raises(SettingError, match="expected episodes with actions"):
        Trajectories.of([], [], [])
    assert padded([]).shape == (0, 0)
