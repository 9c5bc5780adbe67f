"""Conversations of different lengths, with any number of actions in each, as one batch of tensors."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from elicit_gym.offline.model_input import Example

if TYPE_CHECKING:
    import torch

__all__ = ["Batch", "Row", "collate"]


@dataclass(frozen=True, slots=True)
class Row:
    """A conversation as tokens, with the actions in it that are trained on or scored.

    Attributes:
        input_ids: the tokens, shape (T,).
        spans: of each action: the index of its first token, and the index behind the end token that follows it.
        returns: the return-to-go of each action.
    """

    input_ids: list[int]
    spans: tuple[tuple[int, int], ...]
    returns: tuple[float, ...]

    @classmethod
    def of(cls, example: Example, return_to_go: float = 0.0) -> "Row":
        """Return an example, which has one action, as a row."""
        return cls(example.input_ids, ((example.action_start, len(example.input_ids)),), (return_to_go,))

    @property
    def num_tokens(self) -> int:
        """The number of tokens of all its actions, end tokens included."""
        return sum(end - start for start, end in self.spans)


@dataclass(frozen=True, slots=True)
class Batch:
    """A batch of B rows with A actions in all, right-padded.

    Attributes:
        input_ids: the tokens, shape (B, T).
        actions: the number of the action, counted from 1, at its tokens and at the end token after them; 0 elsewhere.
            Shape (B, T).
        returns: the return-to-go of each action, shape (A,).
    """

    input_ids: "torch.Tensor"
    actions: "torch.Tensor"
    returns: "torch.Tensor"


def collate(rows: Sequence[Row], pad_token_id: int, device: Any = None) -> Batch:
    """Pad a batch to its longest row."""
    import torch

    width = max(len(row.input_ids) for row in rows)
    input_ids = torch.full((len(rows), width), pad_token_id, dtype=torch.long)
    actions = torch.zeros((len(rows), width), dtype=torch.long)
    number = 0
    for i, row in enumerate(rows):
        input_ids[i, : len(row.input_ids)] = torch.tensor(row.input_ids)
        for start, end in row.spans:
            number += 1
            actions[i, start:end] = number
    returns = torch.tensor([value for row in rows for value in row.returns], dtype=torch.float32)
    return Batch(*(tensor.to(device) for tensor in (input_ids, actions, returns)))
