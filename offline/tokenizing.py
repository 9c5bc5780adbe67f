"""Windows as token ids."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_gym.offline.model_input import encode_example, end_token_id
from elicit_gym.offline.windows import Window

__all__ = ["tokenize_windows"]


def tokenize_windows(windows: Sequence[Window], tokenizer: Any, max_length: int) -> dict[str, NDArray[Any]]:
    """Tokenize windows; see `elicit_gym.offline.dataset.OfflineDataset.tokenize`."""
    kept = []
    end = end_token_id(tokenizer) if windows else None
    for index, window in enumerate(windows):
        example = encode_example(tokenizer, window.context, window.action, end=end)
        if len(example.input_ids) <= max_length:
            kept.append((index, example.input_ids, example.action_start))
    longest = max((len(ids) for _, ids, _ in kept), default=0)
    pad = tokenizer.pad_token_id if tokenizer.pad_token_id is not None else tokenizer.eos_token_id or 0
    input_ids = np.full((len(kept), longest), pad, dtype=np.int64)
    attention = np.zeros((len(kept), longest), dtype=np.int64)
    action_mask = np.zeros((len(kept), longest), dtype=np.int64)
    for row, (_, ids, border) in enumerate(kept):
        input_ids[row, : len(ids)] = ids
        attention[row, : len(ids)] = 1
        action_mask[row, border : len(ids)] = 1
    block_ids = np.empty(len(kept), dtype=object)
    block_ids[:] = [windows[i].block_id for i, _, _ in kept]
    return {
        "input_ids": input_ids,
        "attention_mask": attention,
        "action_mask": action_mask,
        "rewards": np.array([windows[i].reward for i, _, _ in kept], dtype=np.float32),
        "returns_to_go": np.array([windows[i].return_to_go for i, _, _ in kept], dtype=np.float32),
        "block_ids": block_ids,
    }
