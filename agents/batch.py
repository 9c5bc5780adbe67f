"""Examples of different lengths as one batch of tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elicit_gym.offline.model_input import Example

if TYPE_CHECKING:
    import torch

__all__ = ["Batch", "collate"]


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch, right-padded.

    Attributes:
        input_ids: the tokens, shape (B, T).
        attention_mask: 1 at tokens and 0 at padding, shape (B, T).
        action_mask: 1 at the action's tokens and at the end token after them, shape (B, T).
        returns: the return-to-go of each example, shape (B,).
    """

    input_ids: "torch.Tensor"
    attention_mask: "torch.Tensor"
    action_mask: "torch.Tensor"
    returns: "torch.Tensor"


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
