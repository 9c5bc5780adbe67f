"""Policy and value in one module, so that one forward pass serves both and one wrapper can spread it over processes."""

from typing import Any

import torch

from elicit_gym.agents.losses import sequence_log_probs
from elicit_gym.agents.value_head import make_value_head, value_positions
from elicit_gym.errors import SettingError

__all__ = ["PolicyAndValue", "action_log_probs", "check_output_layer"]


def _whole(model: Any) -> Any:
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def action_log_probs(
    model: Any, input_ids: torch.Tensor, action_mask: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return last hidden states (B, T, H), summed log probabilities of the actions and their numbers of tokens (B,).

    Args:
        model: a Hugging Face causal language model, with or without an adapter; see `check_output_layer`.
        input_ids: right-padded, shape (B, T). Under causal attention no token sees the padding behind it, so that no
            attention mask is needed, and the fast causal kernels serve.
        action_mask: 1 at the tokens that count, shape (B, T). Nothing at position 0.
    """
    whole = _whole(model)
    # The backbone alone: the output layer is applied at action positions only.
    hidden: torch.Tensor = whole.base_model(input_ids=input_ids, use_cache=False).last_hidden_state
    log_probs, counts = sequence_log_probs(hidden, whole.get_output_embeddings(), input_ids, action_mask)
    return hidden, log_probs, counts


def check_output_layer(model: Any) -> None:
    """See that a model's logits are those of its output layer on its last hidden states, and nothing comes after it.

    Raises:
        SettingError: something does (a cap or a scale of the logits), which `action_log_probs` would leave out.
    """
    whole = _whole(model)
    was_training = whole.training
    whole.eval()
    with torch.no_grad():
        ids = torch.arange(1, 4, device=whole.device)[None]
        wanted = whole(input_ids=ids, use_cache=False).logits.float()
        hidden = whole.base_model(input_ids=ids, use_cache=False).last_hidden_state
        found = whole.get_output_embeddings()(hidden).float()
    whole.train(was_training)
    if not torch.allclose(found, wanted, atol=1e-2, rtol=1e-2):
        raise SettingError(
            f"Using {whole.config.model_type!r}: expected a model whose logits come straight from its output layer, "
            "got one that changes them afterwards (a cap or a scale). Use another architecture."
        )


class PolicyAndValue(torch.nn.Module):
    """A causal language model with a value head on its last hidden states.

    Args:
        model: with or without an adapter.
        value_input: see `elicit_gym.agents.value_head.value_positions`.

    Raises:
        SettingError: see `check_output_layer`.
    """

    def __init__(self, model: Any, value_input: str) -> None:
        super().__init__()
        check_output_layer(model)
        self.policy = model
        self.head = make_value_head(model.config.hidden_size)
        self._value_input = value_input

    def forward(
        self, input_ids: torch.Tensor, action_mask: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return summed log probabilities of the actions, their numbers of tokens, and values, shape (B,) each.

        Args:
            input_ids: right-padded, shape (B, T).
            action_mask: 1 at the action and at the end token after it, shape (B, T).
        """
        hidden, log_probs, counts = action_log_probs(self.policy, input_ids, action_mask)
        positions = value_positions(action_mask, self._value_input)  # (B,)
        rows = torch.arange(len(positions), device=positions.device)
        values: torch.Tensor = self.head(hidden[rows, positions].float()).squeeze(1)  # (B,)
        return log_probs, counts, values
