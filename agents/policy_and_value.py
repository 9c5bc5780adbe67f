"""Policy and value in one module, so that one forward pass serves both and one wrapper can spread it over processes."""

from typing import Any

import torch

from elicit_gym.agents.losses import sequence_log_probs
from elicit_gym.agents.value_head import make_value_head, value_positions

__all__ = ["PolicyAndValue"]


class PolicyAndValue(torch.nn.Module):
    """A causal language model with a value head on its last hidden states.

    Args:
        model: with or without an adapter.
        value_input: see `elicit_gym.agents.value_head.value_positions`.
    """

    def __init__(self, model: Any, value_input: str) -> None:
        super().__init__()
        self.policy = model
        self.head = make_value_head(model.config.hidden_size)
        self._value_input = value_input

    def forward(
        self, input_ids: torch.Tensor, action_mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return summed log probabilities of the actions, their numbers of tokens, and values, shape (B,) each.

        Args:
            input_ids: right-padded, shape (B, T). Under causal attention no token sees the padding behind it, so that
                no attention mask is needed, and the fast causal kernels serve.
            action_mask: 1 at the action and at the end token after it, shape (B, T).
        """
        whole = self.policy.get_base_model() if hasattr(self.policy, "get_base_model") else self.policy
        # The backbone alone: the output layer is applied at action positions only.
        out = whole.base_model(input_ids=input_ids, use_cache=False)
        hidden = out.last_hidden_state  # (B, T, H)
        log_probs, counts = sequence_log_probs(hidden, whole.get_output_embeddings().weight, input_ids, action_mask)
        positions = value_positions(action_mask, self._value_input)  # (B,)
        rows = torch.arange(len(positions), device=positions.device)
        values: torch.Tensor = self.head(hidden[rows, positions].float()).squeeze(1)  # (B,)
        return log_probs, counts, values
