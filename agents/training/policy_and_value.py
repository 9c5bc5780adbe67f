"""Policy and value in one module, so that one forward pass serves both and one wrapper can spread it over processes."""

from typing import Any

import torch

from elicit_gym.agents.scoring import action_log_probs, check_output_layer
from elicit_gym.agents.training.value_head import make_value_head, value_positions

__all__ = ["PolicyAndValue"]


class PolicyAndValue(torch.nn.Module):
    """A causal language model with a value head on its last hidden states.

    Args:
        model: a causal language model, with or without an adapter.
        value_input: see `elicit_gym.agents.training.value_head.value_positions`.

    Raises:
        SettingError: see `elicit_gym.agents.scoring.check_output_layer`.
    """

    def __init__(self, model: Any, value_input: str) -> None:
        super().__init__()
        check_output_layer(model)
        self.policy = model
        self.head = make_value_head(model.config.hidden_size)
        self._value_input = value_input

    def forward(
        self, input_ids: torch.Tensor, actions: torch.Tensor, num_actions: int
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return the summed log probabilities of the actions, their numbers of tokens, and the values, shape (A,) each.

        Args:
            input_ids: the tokens, right-padded, shape (B, T).
            actions: the number of the action at its tokens and the end token after it, shape (B, T).
            num_actions: the number A of actions.
        """
        hidden, log_probs, counts = action_log_probs(self.policy, input_ids, actions, num_actions)
        rows, positions = value_positions(actions, num_actions, self._value_input)  # (A,) each
        values: torch.Tensor = self.head(hidden[rows, positions].float()).squeeze(1)  # (A,)
        return log_probs, counts, values
