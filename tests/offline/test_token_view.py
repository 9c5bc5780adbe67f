"""Token-level transitions: nothing is dropped, and TD targets add up to the returns."""

from dataclasses import replace

import numpy as np
import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline import OfflineDataset, load_dataset
from elicit_gym.offline.log_probs import PolicyView
from elicit_gym.offline.model_input import encode_example
from elicit_gym.offline.returns import returns_to_go
from elicit_gym.offline.token_view import TokenView, td_targets, token_view
from tests.agents.tiny_model import tiny_tokenizer

TOKENIZER = tiny_tokenizer()
GAMMA = 0.9


@pytest.fixture(scope="module")
def dataset() -> OfflineDataset:
    whole = load_dataset("sample/all-v1", reward="reply_length", gamma=GAMMA)
    cut_off = replace(whole[1], terminated=False, truncated=True)
    unfinished = replace(whole[2], terminated=False)
    return OfflineDataset([whole[0], cut_off, unfinished, whole[3]])


@pytest.fixture(scope="module")
def view(dataset: OfflineDataset) -> TokenView:
    return token_view(dataset, TOKENIZER, max_length=10_000)


def test_every_step_is_a_row_and_knows_the_next(dataset: OfflineDataset, view: TokenView) -> None:
    expected = [
        (episode.id, step) for episode in dataset for step in range(len(episode) + (0 if episode.terminated else 1))
    ]
    assert list(zip(view.episode_ids, view.steps.tolist(), strict=True)) == expected
    for row, following in enumerate(view.next_rows.tolist()):
        if following >= 0:
            assert view.episode_ids[row] == view.episode_ids[following]
            assert view.steps[following] == view.steps[row] + 1
    assert (view.next_rows < 0).sum() == len(dataset)
    assert view.terminals.sum() == sum(episode.terminated for episode in dataset)
    assert not view.dropped_messages.any()


def test_rows_are_the_tokens_that_are_trained_on(dataset: OfflineDataset, view: TokenView) -> None:
    row = 0
    for episode in dataset:
        for history, action in zip(PolicyView().histories(episode), episode.actions, strict=True):
            example = encode_example(TOKENIZER, history, action)
            length = len(example.input_ids)
            assert view.input_ids[row, :length].tolist() == example.input_ids
            assert view.attention_mask[row].sum() == length
            assert np.flatnonzero(view.action_mask[row]).tolist() == list(range(example.action_start, length))
            assert view.state_start[row] == example.action_start - 1
            row += 1
        if not episode.terminated:
            assert not view.action_mask[row].any()
            assert view.state_start[row] == view.attention_mask[row].sum() - 1
            row += 1
    assert row == len(view)


def test_returns_are_the_fixed_point_of_the_targets(dataset: OfflineDataset, view: TokenView) -> None:
    # If every state's value is what is still to come, the targets are these values themselves.
    beyond = 7.0  # what follows where an episode was cut off
    to_come = []
    for episode in dataset:
        rewards = list(episode.rewards)
        if not episode.terminated:
            to_come += [*returns_to_go([*rewards, beyond], GAMMA)]
        else:
            to_come += returns_to_go(rewards, GAMMA)
    values = np.repeat(np.array(to_come)[:, None], view.input_ids.shape[1], axis=1)
    targets = td_targets(view, values, gamma=GAMMA)
    acted = view.action_mask == 1
    np.testing.assert_allclose(targets[acted], values[acted], rtol=1e-5)
    assert np.isnan(targets[~acted]).all()
    whole = [i for i, name in enumerate(view.episode_ids) if name == dataset[0].id]
    np.testing.assert_allclose(view.returns_to_go[whole], dataset[0].returns_to_go, rtol=1e-6)
    np.testing.assert_allclose(view.rewards[whole], dataset[0].rewards)


def test_within_an_action_the_target_is_the_next_tokens_value(view: TokenView) -> None:
    values = np.random.default_rng(0).normal(size=view.input_ids.shape)
    targets = td_targets(view, values, gamma=GAMMA)
    positions = np.flatnonzero(view.action_mask[0])
    np.testing.assert_array_equal(targets[0, positions[:-1]], values[0, positions[:-1]])
    expected = view.rewards[0] + GAMMA * values[1, view.state_start[1]]
    assert targets[0, positions[-1]] == pytest.approx(expected)


def test_rows_that_are_too_long_lose_old_messages_and_no_step(dataset: OfflineDataset, view: TokenView) -> None:
    lengths = view.attention_mask.sum(axis=1)
    limit = int(np.median(lengths))
    short = token_view(dataset, TOKENIZER, max_length=limit)
    assert len(short) == len(view)
    assert short.attention_mask.sum(axis=1).max() <= limit
    np.testing.assert_array_equal(short.dropped_messages > 0, lengths > limit)
    np.testing.assert_array_equal(short.action_mask.sum(axis=1), view.action_mask.sum(axis=1))


def test_what_it_refuses(dataset: OfflineDataset) -> None:
    with pytest.raises(SettingError, match="expected episodes with actions"):
        token_view([], TOKENIZER)
    with pytest.raises(SettingError, match=r"tokens of prompt where .* fit \(.*, action 0\). Raise max_length"):
        token_view(dataset, TOKENIZER, max_length=20)
