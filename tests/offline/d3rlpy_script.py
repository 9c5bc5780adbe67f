"""Trains and evaluates with d3rlpy on the numeric views; run by test_arrays in an environment that has d3rlpy."""

import json
from functools import partial

import d3rlpy
import numpy as np
import torch

from elicit_gym.agents.baselines import QUESTION_BANK, RandomQuestions, SoftmaxQuestions
from elicit_gym.offline import OfflineDataset, load_dataset
from elicit_gym.offline.arrays import HashingEncoder, encode_histories
from elicit_gym.offline.log_probs import with_log_probs
from elicit_gym.offline.ope.critics import D3rlpyCritic
from elicit_gym.offline.ope.evaluate import evaluate_off_policy
from elicit_gym.rollout.collect import collect_episodes

torch.set_num_threads(1)
d3rlpy.seed(0)
FIT = {"n_steps_per_epoch": 20, "show_progress": False, "logger_adapter": d3rlpy.logging.NoopAdapterFactory()}
encoder = HashingEncoder(32)

behaviour = RandomQuestions()
played = OfflineDataset.from_records(collect_episodes(behaviour, env_kwargs={"split": "test"}, repeats=2))
arrays = played.to_arrays(encoder, actions="discrete", action_texts=QUESTION_BANK)
discrete = arrays.to_mdp_dataset()
cql = d3rlpy.algos.DiscreteCQLConfig(batch_size=32).create()
cql.fit(discrete, n_steps=40, **FIT)
fqe = d3rlpy.ope.DiscreteFQE(algo=cql, config=d3rlpy.ope.FQEConfig(batch_size=32, gamma=1.0))
fqe.fit(discrete, n_steps=40, **FIT)
critic = D3rlpyCritic(fqe, partial(encode_histories, encoder), QUESTION_BANK)
target = SoftmaxQuestions(0.1, 1.0)
found = evaluate_off_policy(with_log_probs(played, behaviour), target, critic=critic)

interviews = load_dataset("sample/all-v1", reward="reply_length")
vectors = interviews.to_arrays(encoder, actions="embedding")
continuous = vectors.to_mdp_dataset()
iql = d3rlpy.algos.IQLConfig(batch_size=32).create()
iql.fit(continuous, n_steps=20, **FIT)
of_iql = d3rlpy.ope.FQE(algo=iql, config=d3rlpy.ope.FQEConfig(batch_size=32))
of_iql.fit(continuous, n_steps=20, **FIT)

values = of_iql.predict_value(vectors.observations, vectors.actions)
print(
    json.dumps(
        {
            "version": d3rlpy.__version__,
            "discrete": [len(discrete.episodes), discrete.transition_count, discrete.dataset_info.action_size],
            "expected_discrete": [len(played), len(arrays) - int(arrays.timeouts.sum()), len(QUESTION_BANK)],
            "rewards": float(sum(e.rewards.sum() for e in discrete.episodes)),
            "expected_rewards": float(sum(sum(e.rewards) for e in played)),
            "terminated": [sum(e.terminated for e in d.episodes) for d in (discrete, continuous)],
            "expected_terminated": [sum(e.terminated for e in d) for d in (played, interviews)],
            "continuous": [len(continuous.episodes), continuous.transition_count, continuous.dataset_info.action_size],
            "expected_continuous": [len(interviews), len(vectors) - int(vectors.timeouts.sum()), 32],
            "greedy": sorted({int(a) for a in cql.predict(arrays.observations)}),
            "finite": bool(np.isfinite(values).all() and len(values) == len(vectors)),
            "doubly_robust": found.estimates["doubly_robust"].to_row(),
            "weighted": found.estimates["weighted"].to_row(),
            "critic": found.critic,
        }
    )
)
