"""Windows as training examples: tokenized once, in batches that are padded to their longest example."""

from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

from elicit_gym.agents.batch import Batch, collate
from elicit_gym.errors import SettingError
from elicit_gym.offline.model_input import Example, encode_example, end_token_id
from elicit_gym.offline.windows import Window

__all__ = ["encode_windows", "iterate", "length_grouped"]


def encode_windows(windows: Sequence[Window], tokenizer: Any, *, max_length: int | None) -> list[tuple[Example, float]]:
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
        (encode_example(tokenizer, window.context, window.action, end=end), window.return_to_go) for window in windows
    ]
    for window, (example, _) in zip(windows, encoded, strict=True):
        if max_length is not None and len(example.input_ids) > max_length:
            raise SettingError(
                f"Training: expected windows of at most {max_length} tokens (the model's context), got "
                f"{len(example.input_ids)} in {window.block_id}. Leave out longer windows (--max-window-tokens)."
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


def iterate(
    encoded: Sequence[tuple[Example, float]], batches: Sequence[Sequence[int]], pad_token_id: int, device: Any
) -> Iterator[Batch]:
    """Yield the batches, collated."""
    for indexes in batches:
        yield collate([encoded[i] for i in indexes], pad_token_id, device)
