"""The value head."""

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save_file

from elicit_gym.agents.batch import collate
from elicit_gym.agents.training.data import encode_windows
from elicit_gym.agents.training.value_head import load_value_head, make_value_head, save_value_head, value_positions
from elicit_gym.errors import SettingError
from tests.agents.tiny_model import tiny_tokenizer
from tests.agents.training.windows import WINDOWS


def test_the_value_is_read_where_the_marker_is() -> None:
    tokenizer = tiny_tokenizer()
    encoded = encode_windows(WINDOWS[:3], tokenizer, max_length=None)
    batch = collate(encoded, tokenizer.pad_token_id)
    rows, ends = value_positions(batch.actions, 3, "history_action")
    same, starts = value_positions(batch.actions, 3, "history")
    assert rows.tolist() == same.tolist() == [0, 1, 2]
    for row, example in enumerate(encoded):
        ((first, behind),) = example.spans
        assert int(ends[row]) == behind - 1
        assert int(batch.input_ids[row, ends[row]]) == tokenizer.eos_token_id  # the marker: the end of the action
        assert int(starts[row]) == first - 1
        action_length = int((batch.actions[row] > 0).sum())
        assert int(ends[row]) != action_length - 1  # where the published code looks, in the prompt


def test_head_starts_at_zero() -> None:
    assert float(make_value_head(8).weight.detach().abs().sum()) == 0


def write_head(folder: Path, tensors: Any) -> Path:
    save_file(tensors, folder / "value_head.safetensors")
    return folder


def test_a_value_head_is_saved_and_read(tmp_path: Path) -> None:
    head = make_value_head(4)
    torch.nn.init.ones_(head.weight)
    save_value_head(head, tmp_path)
    assert load_value_head(tmp_path)(torch.ones(1, 4)).item() == 4.0


BAD_HEADS: dict[str, Any] = {
    "another name": {"wait": torch.zeros(1, 4), "bias": torch.zeros(1)},
    "no bias": {"weight": torch.zeros(1, 4)},
    "more": {"weight": torch.zeros(1, 4), "bias": torch.zeros(1), "more": torch.zeros(1)},
    "a vector": {"weight": torch.zeros(4), "bias": torch.zeros(1)},
    "several outputs": {"weight": torch.zeros(2, 4), "bias": torch.zeros(2)},
    "NaN": {"weight": torch.full((1, 4), math.nan), "bias": torch.zeros(1)},
    "infinite": {"weight": torch.zeros(1, 4), "bias": torch.full((1,), -math.inf)},
}


@pytest.mark.parametrize("tensors", BAD_HEADS.values(), ids=BAD_HEADS)
def test_a_file_that_is_no_value_head_is_refused(tmp_path: Path, tensors: Any) -> None:
    with pytest.raises(
        SettingError, match=r"value_head\.safetensors: expected a weight of shape \(1, width\) and a bias"
    ):
        load_value_head(write_head(tmp_path, tensors))


def test_there_may_be_no_head(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="Is it an AWR checkpoint"):
        load_value_head(tmp_path)
