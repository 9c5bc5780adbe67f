"""Windows as training examples: tokenized once, in batches that are padded to their longest example."""

from collections.abc import Sequence
from random import Random
from typing import Any

from elicit_gym.agents.batch import Batch, Row, collate
from elicit_gym.errors import SettingError
from elicit_gym.offline.model_input import encode_example, end_token_id
from elicit_gym.offline.windows import Window

__all__ = ["chunks", "collated", "encode_windows", "length_grouped"]


def encode_windows(windows: Sequence[Window], tokenizer: Any, *, max_length: int | None) -> list[Row]:
    """Tokenize windows.

    Args:
        windows: the windows, with returns.
        tokenizer: a tokenizer with a chat template and an end token.
        max_length: the model's context length; None for no limit.

    Raises:
        SettingError: there are no windows, or one is longer than the model's context.
    """
    if not windows:
        raise SettingError("Training: expected windows, got none. Check the data, its split and the window rules.")
    end = end_token_id(tokenizer)
    encoded = [
        Row.of(encode_example(tokenizer, window.context, window.action, end=end), window.return_to_go)
        for window in windows
    ]
    for window, row in zip(windows, encoded, strict=True):
        if max_length is not None and len(row.input_ids) > max_length:
            raise SettingError(
                f"Training: expected windows of at most {max_length} tokens (the model's context), got "
                f"{len(row.input_ids)} in {window.block_id}. Leave out longer windows (--max-window-tokens)."
            )
    return encoded


def length_grouped(lengths: Sequence[int], batch_size: int, seed: int, epoch: int) -> list[list[int]]:
    """Return batches of indexes of similar length, in an order that derives from (seed, epoch).

    Shuffled pools of 32 batches are sorted by length, so that a batch pads little and batches still differ by epoch.
    """
    rng = Random(f"{seed}/{epoch}")
    order = list(range(len(lengths)))
    rng.shuffle(order)
    pool = 32 * batch_size
    batches: list[list[int]] = []
    for start in range(0, len(order), pool):
        chosen = sorted(order[start : start + pool], key=lambda i: lengths[i])
        batches += [chosen[i : i + batch_size] for i in range(0, len(chosen), batch_size)]
    rng.shuffle(batches)
    return batches


def chunks(indexes: Sequence[int], size: int) -> list[list[int]]:
    """Cut an update's indexes into the batches that are in memory at a time."""
    return [list(indexes[i : i + size]) for i in range(0, len(indexes), size)]


def collated(rows: Sequence[Row], indexes: Sequence[int], pad_token_id: int, device: Any) -> Batch:
    """Return the rows with these indexes as a batch."""
    return collate([rows[i] for i in indexes], pad_token_id, device)
