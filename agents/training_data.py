"""Windows as training examples: tokens once, batches padded to their own longest."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from random import Random
from typing import TYPE_CHECKING, Any

from elicit_gym.errors import SettingError
from elicit_gym.offline.model_input import Example, encode_example, end_token_id
from elicit_gym.offline.windows import Window

if TYPE_CHECKING:
    import torch

__all__ = ["Batch", "collate", "encode_windows", "length_grouped"]


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch, right-padded.

    Attributes:
        input_ids: shape (B, T).
        attention_mask: shape (B, T).
        action_mask: 1 at the action's tokens and at the end token after them, shape (B, T).
        returns: return-to-go of each example, shape (B,).
    """

    input_ids: "torch.Tensor"
    attention_mask: "torch.Tensor"
    action_mask: "torch.Tensor"
    returns: "torch.Tensor"


def encode_windows(windows: Sequence[Window], tokenizer: Any, *, max_length: int | None) -> list[tuple[Example, float]]:
    """Tokenize windows.

    Args:
        windows: with returns.
        tokenizer: with a chat template and an end token.
        max_length: of the model; None for no limit.

    Raises:
        SettingError: there is none, or one is longer than the model's context.
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
                f"{len(example.input_ids)} in {window.block_id}. Leave out longer windows (--max-tokens)."
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


def collate(examples: Sequence[tuple[Example, float]], pad_token_id: int, device: Any = None) -> Batch:
    """Pad a batch to its longest example."""
    import torch

    width = max(len(example.input_ids) for example, _ in examples)
    input_ids = torch.full((len(examples), width), pad_token_id, dtype=torch.long)
    attention = torch.zeros((len(examples), width), dtype=torch.long)
    action = torch.zeros((len(examples), width), dtype=torch.long)
    for row, (example, _) in enumerate(examples):
        length = len(example.input_ids)
        input_ids[row, :length] = torch.tensor(example.input_ids)
        attention[row, :length] = 1
        action[row, example.action_start : length] = 1
    returns = torch.tensor([value for _, value in examples], dtype=torch.float32)
    return Batch(*(tensor.to(device) for tensor in (input_ids, attention, action, returns)))


def iterate(
    encoded: Sequence[tuple[Example, float]], batches: Sequence[Sequence[int]], pad_token_id: int, device: Any
) -> Iterator[Batch]:
    """Yield the batches, collated."""
    for indexes in batches:
        yield collate([encoded[i] for i in indexes], pad_token_id, device)
