"""The value head as a critic."""

from pathlib import Path

import numpy as np
import pytest
import torch

from elicit_gym.agents import load_policy
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.agents.policy_folder import CONFIG, read_config, save_policy
from elicit_gym.agents.training.awr import train_awr
from elicit_gym.agents.training.value_critic import ValueHeadCritic
from elicit_gym.agents.training.value_head import make_value_head, save_value_head
from elicit_gym.errors import SettingError
from elicit_gym.offline import OfflineDataset, load_dataset
from elicit_gym.offline.log_probs import PolicyView
from elicit_gym.offline.ope.evaluate import evaluate_off_policy
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.agents.training.windows import FAST, WINDOWS


@pytest.fixture(scope="module")
def episodes() -> OfflineDataset:
    return load_dataset("sample/all-v1", reward="reply_length")[:6]


def _save(folder: Path, value_input: str, standardise: str = "dataset") -> Path:
    tokenizer = tiny_tokenizer()
    config = {
        "base_model": "none", "settings": {"value_input": value_input, "standardise_returns": standardise},
        "returns": {"mean": 5.0, "std": 2.0},
    }  # fmt: skip
    model = tiny_model(tokenizer)
    save_policy(folder, model, tokenizer, config)
    head = make_value_head(model.config.hidden_size)
    torch.nn.init.normal_(head.weight, generator=torch.Generator().manual_seed(0))
    save_value_head(head, folder)
    assert (folder / CONFIG).is_file()
    return folder


def _target(folder: Path) -> LocalPolicy:
    policy = load_policy(str(folder), temperature=1.0, max_tokens=4)
    assert isinstance(policy, LocalPolicy)
    return policy


def test_a_head_on_the_history_values_actions_as_the_history(tmp_path: Path, episodes: OfflineDataset) -> None:
    folder = _save(tmp_path / "best", "history")
    q, v = ValueHeadCritic(folder, batch_size=3).values(episodes, _target(folder), PolicyView(), 0.9)
    assert [len(row) for row in q] == [len(episode) for episode in episodes]
    for of_actions, of_histories in zip(q, v, strict=True):
        np.testing.assert_array_equal(of_actions, of_histories)
    again, _ = ValueHeadCritic(folder, batch_size=8).values(episodes, _target(folder), PolicyView(), 0.9)
    np.testing.assert_allclose(np.concatenate(again), np.concatenate(q), atol=1e-4)


def test_a_head_on_the_action_values_the_history_by_what_the_target_says(
    tmp_path: Path, episodes: OfflineDataset
) -> None:
    folder = _save(tmp_path / "best", "history_action")
    q, v = ValueHeadCritic(folder, num_samples=1).values(episodes, _target(folder), PolicyView(), 0.9)
    assert not np.allclose(np.concatenate(q), np.concatenate(v))

    class Parrot(LocalPolicy):
        def act_seeded(self, histories, seeds):  # type: ignore[no-untyped-def]
            return [action for episode in episodes for action in episode.actions]

    parrot = _target(folder)
    parrot.__class__ = Parrot
    q, v = ValueHeadCritic(folder, num_samples=2).values(episodes, parrot, PolicyView(), 0.9)
    np.testing.assert_allclose(np.concatenate(q), np.concatenate(v), atol=1e-5)


def test_doubly_robust_with_the_behaviour_itself(tmp_path: Path, episodes: OfflineDataset) -> None:
    folder = _save(tmp_path / "best", "history")
    policy = _target(folder)
    found = evaluate_off_policy(episodes, policy, behaviour=policy, critic=ValueHeadCritic(folder))
    assert found.estimates["doubly_robust"].value == pytest.approx(found.behaviour_return.value, rel=1e-5)
    assert found.critic == "value head"


def test_a_scale_that_is_not_known(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="got 'batch': its values have no scale"):
        ValueHeadCritic(_save(tmp_path / "best", "history", standardise="batch"))


def test_the_best_of_a_training_by_awr(tmp_path: Path, episodes: OfflineDataset) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    model.save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    model.config._name_or_path = str(tmp_path / "base")
    train_awr(model, tokenizer, WINDOWS, tmp_path / "awr", dev=WINDOWS[:4], settings=FAST)
    best = tmp_path / "awr" / "best"
    critic = ValueHeadCritic(best)
    q, _ = critic.values(episodes, _target(best), PolicyView(), 0.9)
    mean = read_config(best)["returns"]["mean"]
    assert mean > 1  # values are in the scale of returns, not of the standardised ones
    assert abs(np.concatenate(q).mean() - mean) < mean
