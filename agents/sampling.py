"""Sampling that depends on a row's own seed alone, whatever batch the row is in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

__all__ = ["RowNoise"]


class RowNoise:
    """A logits processor that turns greedy decoding into sampling, by the Gumbel-max trick, a generator for each row.

    ``argmax(logits / temperature + g)`` with Gumbel noise g is a sample from ``softmax(logits / temperature)``.
    Transformers' own sampling draws for the whole batch at once, so that a row's text would depend on its neighbours.

    Args:
        seeds: one for each row.
        temperature: above 0.
    """

    def __init__(self, seeds: Sequence[int], temperature: float) -> None:
        import torch

        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._temperature = temperature

    def __call__(self, input_ids: Any, scores: "torch.Tensor") -> "torch.Tensor":
        """Return the scores to take the largest of, shape (B, V)."""
        import torch

        noise = torch.stack([torch.rand(scores.shape[1], generator=g) for g in self._generators])  # (B, V)
        gumbel = -torch.log(-torch.log(noise.clamp(min=1e-20)).clamp(min=1e-20))
        noisy: torch.Tensor = scores.float() / self._temperature + gumbel.to(scores.device)
        return noisy
