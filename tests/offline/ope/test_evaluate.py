"""Off-policy evaluation as one call."""

import json
import math

import pytest

from elicit_gym.agents.baselines import Naive, SoftmaxQuestions
from elicit_gym.errors import SettingError
from elicit_gym.offline import OfflineDataset
from elicit_gym.offline.ope.critics import FittedQ
from elicit_gym.offline.ope.evaluate import evaluate_off_policy
from elicit_gym.rollout.collect import collect_episodes
from tests.conftest import ROOT
from tests.offline.ope.samples import BEHAVIOUR, TARGET, Table, every_episode, truth, with_coin

POLICY = Table("target", TARGET)


@pytest.mark.parametrize("by_column", [True, False])
def test_by_a_column_or_by_the_policy_that_acted(by_column: bool) -> None:
    episodes = every_episode(5)
    data = OfflineDataset(with_coin(episodes) if by_column else episodes)
    found = evaluate_off_policy(data, POLICY, behaviour=None if by_column else BEHAVIOUR, critic=FittedQ())
    for name in ("ordinary", "weighted"):
        assert found.estimates[name].value == pytest.approx(truth())
    assert found.estimates["doubly_robust"].value == pytest.approx(truth(), abs=0.5)  # folds are no whole worlds
    assert found.behaviour == (None if by_column else "coin")
    assert (found.num_episodes, found.num_steps, found.critic) == (20, 30, "fitted Q")
    assert found.behaviour_return.value == pytest.approx((2 * 1.0 + 4.5 + 2.5) / 4)
    weights = [0.4, 0.4, 2.88, 0.32]
    assert found.effective_sample_size == pytest.approx(5 * sum(weights) ** 2 / sum(w * w for w in weights))
    json.dumps(found.to_row(), allow_nan=False)


def test_the_behaviour_itself_is_its_own_return() -> None:
    found = evaluate_off_policy(every_episode(5), BEHAVIOUR, behaviour=BEHAVIOUR)
    assert {e.value for e in found.estimates.values()} == {found.behaviour_return.value}
    assert found.effective_sizes == pytest.approx((20.0, 20.0))


def test_clusters_of_your_own() -> None:
    found = evaluate_off_policy(with_coin(every_episode(5)), POLICY, cluster_of=lambda episode: episode.id[1:])
    assert found.estimates["ordinary"].num_clusters == 5


def test_what_it_refuses() -> None:
    with pytest.raises(SettingError, match="got 'a0' without"):
        evaluate_off_policy(every_episode(2), POLICY)
    with pytest.raises(SettingError, match="a policy that knows the probabilities"):
        evaluate_off_policy(with_coin(every_episode(2)), Naive())
    with pytest.raises(SettingError, match="a largest weight of at least 1, got 0.5"):
        evaluate_off_policy(with_coin(every_episode(2)), POLICY, clip=0.5)
    impossible = Table("other", {"Goodbye.": 1.0})
    with pytest.raises(SettingError, match="expected the log probabilities of the policy that acted, got -inf"):
        evaluate_off_policy(every_episode(2), POLICY, behaviour=impossible)


def test_an_action_that_the_target_never_takes() -> None:
    found = evaluate_off_policy(with_coin(every_episode(2)), Table("stops", {"Goodbye.": 1.0}))
    assert found.unsupported == 0.5
    assert found.estimates["weighted"].value == pytest.approx(1.0)
    assert math.isfinite(found.effective_sample_size)


def test_in_infoquest_the_interval_holds_what_the_policy_earns_there() -> None:
    behaviour, target = SoftmaxQuestions(0.1, 1.0, name="behaviour"), SoftmaxQuestions(0.2, 1.5, name="target")
    settings = {"env_kwargs": {"split": "test"}}
    dialogues = OfflineDataset.from_records(collect_episodes(behaviour, repeats=3, seed=1, **settings))
    played = collect_episodes(target, repeats=6, seed=2, **settings)
    truth = sum(record.episode.total_reward for record in played) / len(played)
    found = evaluate_off_policy(dialogues, target, behaviour=behaviour, critic=FittedQ())
    for name in ("ordinary", "weighted", "clipped", "doubly_robust", "weighted_doubly_robust"):
        estimate = found.estimates[name]
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low < truth < estimate.high
    assert found.effective_sample_size > 20


def test_over_many_datasets_the_intervals_hold_as_often_as_they_say() -> None:
    result = json.loads((ROOT / "benchmarks" / "results" / "ope_truth.json").read_text(encoding="utf-8"))
    for target in result["targets"].values():
        for name in ("ordinary", "weighted", "doubly_robust", "weighted_doubly_robust"):
            assert target["estimators"][name]["coverage"] >= 0.9
            assert abs(target["estimators"][name]["bias"]) < 0.25 * target["estimators"][name]["std"]
        rmse = {name: row["rmse"] for name, row in target["estimators"].items()}
        assert rmse["weighted"] < rmse["ordinary"]
        assert rmse["doubly_robust"] < 1.05 * rmse["ordinary"]
