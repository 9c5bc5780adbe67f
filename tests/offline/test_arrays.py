"""Numeric views: every transition as numbers, and d3rlpy on them."""

import json
import subprocess
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline import OfflineDataset, load_dataset
from elicit_gym.offline.arrays import HashingEncoder, encode_histories
from tests.adapters.venvs import python_with

ENCODER = HashingEncoder(16)


@pytest.fixture(scope="module")
def dataset() -> OfflineDataset:
    return load_dataset("sample/all-v1", reward="reply_length")


def test_embeddings(dataset: OfflineDataset) -> None:
    arrays = dataset.to_arrays(ENCODER)
    columns = dataset.to_d4rl()
    transitions = list(dataset.transitions())
    assert len(arrays) == len(columns["rewards"]) == len(transitions)
    np.testing.assert_array_equal(arrays.observations, encode_histories(ENCODER, [t.observation for t in transitions]))
    following = encode_histories(ENCODER, [t.next_observation for t in transitions])
    np.testing.assert_array_equal(arrays.next_observations, following)
    np.testing.assert_array_equal(arrays.actions, ENCODER([t.action for t in transitions]))
    np.testing.assert_array_equal(arrays.rewards, columns["rewards"])
    np.testing.assert_array_equal(arrays.terminals.astype(bool), columns["terminals"])
    np.testing.assert_array_equal(arrays.timeouts.astype(bool), columns["timeouts"])
    assert arrays.episode_ids.tolist() == columns["episode_ids"].tolist()
    assert arrays.steps.tolist() == [step for episode in dataset for step in range(len(episode))]
    assert arrays.observations.dtype == arrays.actions.dtype == np.float32
    assert arrays.action_texts is None


@pytest.mark.parametrize(("terminated", "truncated"), [(True, False), (False, True), (False, False)])
def test_every_episode_ends(dataset: OfflineDataset, terminated: bool, truncated: bool) -> None:
    episode = replace(dataset[0], terminated=terminated, truncated=truncated)
    arrays = OfflineDataset([episode, episode]).to_arrays(ENCODER)
    ends = np.arange(len(episode) * 2) % len(episode) == len(episode) - 1
    np.testing.assert_array_equal(arrays.terminals + arrays.timeouts, ends)
    assert arrays.terminals.sum() == 2 * terminated


def test_each_utterance_is_its_own_action_where_there_are_few(dataset: OfflineDataset) -> None:
    arrays = dataset[:1].to_arrays(ENCODER, actions="discrete")
    assert arrays.action_texts is not None
    assert [arrays.action_texts[number] for number in arrays.actions] == list(dataset[0].actions)


@pytest.mark.filterwarnings("error")
def test_utterances_are_clustered_where_there_are_many(dataset: OfflineDataset) -> None:
    arrays = dataset.to_arrays(ENCODER, actions="discrete", num_actions=8)
    assert arrays.action_texts is not None
    said = [action for episode in dataset for action in episode.actions]
    assert 2 <= len(arrays.action_texts) <= 8
    assert set(arrays.action_texts) <= set(said)
    assert set(arrays.actions.tolist()) == set(range(len(arrays.action_texts)))
    number_of = dict(zip(said, arrays.actions.tolist(), strict=True))
    assert [number_of[text] for text in arrays.action_texts] == list(range(len(arrays.action_texts)))
    # An utterance is nearer to the name of its own cluster than to the others', on the whole.
    similar = ENCODER(said) @ ENCODER(arrays.action_texts).T
    own = similar[np.arange(len(said)), arrays.actions]
    assert own.mean() > similar.mean() + 0.1
    again = dataset.to_arrays(ENCODER, actions="discrete", num_actions=8)
    np.testing.assert_array_equal(again.actions, arrays.actions)


def test_a_model_with_a_method_encode(dataset: OfflineDataset) -> None:
    class Model:
        def encode(self, texts: list[str]) -> list[list[float]]:
            return [[float(len(text)), 1.0] for text in texts]

    assert dataset.to_arrays(Model()).observations.shape[1] == 4


def test_what_it_refuses(dataset: OfflineDataset) -> None:
    with pytest.raises(SettingError, match="expected episodes with actions, got none"):
        OfflineDataset([]).to_arrays(ENCODER)
    with pytest.raises(SettingError, match="expected one of the 1 in action_texts, got"):
        dataset.to_arrays(ENCODER, actions="discrete", action_texts=["Why?"])
    with pytest.raises(SettingError, match=r"got an array of shape \(\d+,\)"):
        dataset.to_arrays(lambda texts: np.zeros(len(texts)))


def test_hashing_is_the_same_everywhere() -> None:
    vectors = HashingEncoder(8)(["Where were you born?", "", "Zürich \ud83d 😀"])
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), [1.0, 0.0, 1.0], atol=1e-6)
    np.testing.assert_array_equal(vectors[0], HashingEncoder(8)(["where WERE you born?"])[0])


def test_d3rlpy_learns_and_values_on_them(tmp_path: Path) -> None:
    # Torch's exact version first: anything looser takes gigabytes of drivers. d3rlpy pins an old gymnasium.
    python = python_with("torch==2.13.0", "d3rlpy==2.8.1")
    script = Path(__file__).parent / "d3rlpy_script.py"
    done = subprocess.run(
        [str(python), str(script)], capture_output=True, text=True, check=False, cwd=tmp_path, timeout=600
    )
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.strip().splitlines()[-1])
    for what in ("discrete", "rewards", "terminated", "continuous"):
        assert found[what] == pytest.approx(found[f"expected_{what}"])
    assert found["finite"]
    assert found["greedy"]
    assert found["critic"] == "d3rlpy"
    # Whatever the critic says, the doubly robust estimate stays near the one without it.
    assert found["weighted"]["low"] < found["doubly_robust"]["value"] < found["weighted"]["high"]
