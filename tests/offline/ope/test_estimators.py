"""Every estimator, where the truth can be written down."""

import math

import numpy as np
import pytest

from elicit_gym.offline.ope.estimators import ESTIMATORS, EstimatorName, estimate_value, needs_critic
from elicit_gym.offline.ope.trajectories import Trajectories, padded
from tests.offline.ope.samples import TARGET, every_episode, truth

CONSISTENT: tuple[EstimatorName, ...] = ("ordinary", "weighted", "doubly_robust", "weighted_doubly_robust")


def _data(copies: int = 3) -> Trajectories:
    episodes = every_episode(copies)
    target = [[math.log(TARGET[a]) for a in e.actions] for e in episodes]
    return Trajectories.of(episodes, target, [[math.log(0.5)] * len(e) for e in episodes])


@pytest.mark.parametrize("gamma", [1.0, 0.9, 0.0])
@pytest.mark.parametrize("estimator", CONSISTENT)
def test_on_every_possible_episode_it_is_the_truth(estimator: EstimatorName, gamma: float) -> None:
    data = _data()
    rng = np.random.default_rng(0)  # any critic at all: a constant for each kind of history and action
    q_of, v_of = {a: rng.normal() for a in TARGET}, (rng.normal(), rng.normal())
    episodes = every_episode(3)
    q = padded([[q_of[a] for a in e.actions] for e in episodes])
    # A history's value has to be the mean of its actions' values, whatever those are.
    v_of = (
        TARGET["Goodbye."] * q_of["Goodbye."] + TARGET["Tell me more."] * q_of["Tell me more."],
        TARGET["Left?"] * q_of["Left?"] + TARGET["Right?"] * q_of["Right?"],
    )
    v = padded([v_of[: len(e)] for e in episodes])
    found = estimate_value(estimator, data, gamma=gamma, q_values=q, state_values=v)
    assert found.value == pytest.approx(truth(gamma))
    assert found.num == 12
    assert found.low is not None
    assert found.low < truth(gamma) < (found.high or 0)


def test_a_value_of_the_history_alone_keeps_it_unbiased() -> None:
    v = padded([(3.0, -7.0)[: len(e)] for e in every_episode(3)])
    found = estimate_value("doubly_robust", _data(), q_values=v, state_values=v)
    assert found.value == pytest.approx(truth())


def test_clipping_cuts_the_weights() -> None:
    # Weights: STOP 0.4, GO 1.6, then LEFT 2.88 and RIGHT 0.32; at 1 the larger ones are cut.
    expected = (2 * 0.4 * 1.0 + 2 * 1.0 * 0.5 + 1.0 * 4.0 + 0.32 * 2.0) / 4
    assert estimate_value("clipped", _data(), clip=1.0).value == pytest.approx(expected)
    assert estimate_value("clipped", _data(), clip=10.0).value == pytest.approx(truth())


def test_the_critic_alone() -> None:
    v = padded([(3.0, 0.0)[: len(e)] for e in every_episode(3)])
    found = estimate_value("fitted", _data(), q_values=v, state_values=v)
    assert (found.value, found.low) == (3.0, None)
    assert "own error" in (found.reason or "")


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_weights_beyond_all_numbers(estimator: EstimatorName) -> None:
    episodes = every_episode(2)
    target = [[0.0] * len(e) for e in episodes]
    data = Trajectories.of(episodes, target, [[-800.0] * len(e) for e in episodes])
    zeros = np.zeros_like(data.rewards)
    found = estimate_value(estimator, data, q_values=zeros, state_values=zeros)
    if estimator in ("ordinary", "doubly_robust"):
        assert found.value is None
        assert "too large" in (found.reason or "")
    else:
        assert found.value is not None
        assert math.isfinite(found.value)


def test_a_target_that_never_does_what_was_done() -> None:
    episodes = every_episode(2)
    data = Trajectories.of(episodes, [[-math.inf] * len(e) for e in episodes], [[-1.0] * len(e) for e in episodes])
    assert estimate_value("ordinary", data).value == 0.0
    assert "never takes" in (estimate_value("weighted", data).reason or "")
    assert data.unsupported == 1.0
    assert data.effective_sizes().tolist() == [0.0, 0.0]


@pytest.mark.parametrize("estimator", [name for name in ESTIMATORS if needs_critic(name)])
def test_a_critic_is_needed(estimator: EstimatorName) -> None:
    with pytest.raises(ValueError, match="needs q_values"):
        estimate_value(estimator, _data())
