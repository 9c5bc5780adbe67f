"""Generation in batches; what is sampled depends on a row's own seed alone, whatever batch the row is in."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

__all__ = ["RowNoise", "generate"]


class RowNoise:
    """A logits processor that turns greedy decoding into sampling by the Gumbel-max trick, with one generator per row.

    ``argmax(logits / temperature + g)`` with Gumbel noise g is a sample from ``softmax(logits / temperature)``.
    Transformers' own sampling draws for the whole batch at once, so that a row's text would depend on its neighbours.

    Args:
        seeds: one seed per row.
        temperature: the sampling temperature, above 0.
    """

    def __init__(self, seeds: Sequence[int], temperature: float) -> None:
        import torch

        self._generators = [torch.Generator().manual_seed(seed) for seed in seeds]
        self._temperature = temperature

    def __call__(self, input_ids: Any, scores: "torch.Tensor") -> "torch.Tensor":
        """Return the scores whose largest entry is the sample, shape (B, V)."""
        import torch

        size = scores.shape[1]
        drawn = [torch.empty(size).exponential_(generator=generator) for generator in self._generators]
        gumbel = -torch.log(torch.stack(drawn).clamp(min=1e-20))  # (B, V)
        noisy: torch.Tensor = scores.float() / self._temperature + gumbel.to(scores.device)
        return noisy


def _pad_left(rows: Sequence[Sequence[int]], pad_token_id: int, device: Any) -> "tuple[torch.Tensor, torch.Tensor]":
    """Return input ids and attention mask, shapes (B, T)."""
    import torch

    width = max(map(len, rows))
    input_ids = torch.tensor([[pad_token_id] * (width - len(row)) + list(row) for row in rows], device=device)
    attention = torch.tensor([[0] * (width - len(row)) + [1] * len(row) for row in rows], device=device)
    return input_ids, attention


def generate(
    model: Any,
    tokenizer: Any,
    rows: Sequence[Sequence[int]],
    *,
    max_new_tokens: int,
    end: int,
    processors: Sequence[Any] = (),
) -> list[list[int]]:
    """Return the tokens with which the model continues each row, up to and including the end token, if it came to one.

    Args:
        model: a Hugging Face causal language model.
        tokenizer: a tokenizer with a pad token.
        rows: B prompts of any lengths.
        max_new_tokens: the largest number of new tokens per row.
        end: the token that ends an utterance.
        processors: processors of the logits, such as `RowNoise`; without any, decoding is greedy.
    """
    import torch

    input_ids, attention = _pad_left(rows, tokenizer.pad_token_id, model.device)
    with torch.inference_mode():
        out = model.generate(
            input_ids=input_ids,
            attention_mask=attention,
            max_new_tokens=max_new_tokens,
            eos_token_id=end,
            pad_token_id=tokenizer.pad_token_id,
            do_sample=False,
            logits_processor=list(processors),
            trust_remote_code=False,  # a model's settings may name a way of decoding that is code on the hub
        )
    new: list[list[int]] = out[:, input_ids.shape[1] :].tolist()
    return [row[: row.index(end) + 1] if end in row else row for row in new]
