"""Off-policy estimates beside the truth: the same policies rolled out in InfoQuest, over many independent datasets.

A pool of episodes of a stochastic behaviour is cut into datasets at random; on each, every estimator says what another
policy would earn and how sure it is. The truth is that policy's own mean return over many episodes. A near target and a
far one: with the far one weights are spread widely, which is where intervals fail first. Run from the repository root:
``python -m benchmarks.ope_truth``; about two minutes.
"""

import argparse
from collections.abc import Sequence
from random import Random
from statistics import fmean, stdev
from typing import Any

import numpy as np

from benchmarks.common import write_result
from elicit_gym.agents.baselines import SoftmaxQuestions
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.offline.log_probs import with_log_probs
from elicit_gym.offline.ope.critics import FittedQ
from elicit_gym.offline.ope.estimators import ESTIMATORS
from elicit_gym.offline.ope.evaluate import OffPolicyEvaluation, evaluate_off_policy
from elicit_gym.rollout.collect import collect_episodes

BEHAVIOUR = {"slope": 0.1, "repeat_penalty": 1.0}
TARGETS = {"near": {"slope": 0.2, "repeat_penalty": 1.5}, "far": {"slope": 0.3, "repeat_penalty": 3.0}}


def roll_out(settings: dict[str, float], name: str, repeats: int, seed: int) -> list[OfflineEpisode]:
    policy = SoftmaxQuestions(**settings, name=name)
    dataset = OfflineDataset.from_records(collect_episodes(policy, repeats=repeats, seed=seed))
    return list(with_log_probs(dataset, policy))


def datasets(pool: Sequence[OfflineEpisode], size: int) -> list[list[OfflineEpisode]]:
    """Cut a pool into datasets; scenarios come in them as they would if each episode drew one."""
    order = list(pool)
    Random(0).shuffle(order)
    return [order[start : start + size] for start in range(0, len(order) - size + 1, size)]


def summary(found: Sequence[OffPolicyEvaluation], truth: float) -> dict[str, Any]:
    rows: dict[str, Any] = {}
    for name in ESTIMATORS:
        estimates = [each.estimates[name] for each in found]
        values = [e.value for e in estimates if e.value is not None]
        spans = [(e.low, e.high) for e in estimates if e.low is not None and e.high is not None]
        rows[name] = {
            "coverage": sum(low <= truth <= high for low, high in spans) / len(estimates) if spans else None,
            "bias": fmean(values) - truth,
            "std": stdev(values),
            "rmse": float(np.sqrt(fmean((value - truth) ** 2 for value in values))),
            "mean_width": fmean(high - low for low, high in spans) if spans else None,
        }
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pool-repeats", type=int, default=100, help="Play each scenario this often as the behaviour.")
    parser.add_argument("--truth-repeats", type=int, default=25, help="Play each scenario this often as a target.")
    parser.add_argument("--size", type=int, default=120, help="Cut the pool into datasets of this many dialogues.")
    arguments = parser.parse_args()
    pool = roll_out(BEHAVIOUR, "behaviour", arguments.pool_repeats, seed=1)
    cut = datasets(pool, arguments.size)
    targets: dict[str, Any] = {}
    for seed, (name, settings) in enumerate(TARGETS.items(), 2):
        returns = [sum(e.rewards) for e in roll_out(settings, name, arguments.truth_repeats, seed=seed)]
        truth = fmean(returns)
        target = SoftmaxQuestions(**settings, name=name)
        # Each episode draws its scenario anew: they are independent, and each is a cluster of its own.
        found = [
            evaluate_off_policy(each, target, critic=FittedQ(), cluster_of=lambda episode: episode.id) for each in cut
        ]
        targets[name] = {
            "settings": settings,
            "truth": truth,
            "standard_error_of_truth": stdev(returns) / len(returns) ** 0.5,
            "mean_effective_sample_size": fmean(each.effective_sample_size for each in found),
            "estimators": summary(found, truth),
        }
    write_result(
        "ope_truth",
        {
            "behaviour": BEHAVIOUR,
            "behaviour_return": fmean(sum(e.rewards) for e in pool),
            "num_datasets": len(cut),
            "dialogues_per_dataset": arguments.size,
            "targets": targets,
        },
    )


if __name__ == "__main__":
    main()
