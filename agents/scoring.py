"""The log probabilities that a causal language model gives to utterances, without logits at every position."""

from typing import Any

import torch

from elicit_gym.errors import SettingError

__all__ = ["action_log_probs", "check_output_layer", "sequence_log_probs"]


def sequence_log_probs(
    hidden: torch.Tensor,
    output_layer: Any,
    input_ids: torch.Tensor,
    actions: torch.Tensor,
    num_actions: int,
    *,
    temperature: float = 1.0,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the summed log probability of each action, and its number of tokens.

    Logits are made at action positions only, (N, V) for the N tokens of all actions of the batch, never (B, T, V).

    Args:
        hidden: the last hidden states, shape (B, T, H).
        output_layer: the layer from hidden states (N, H) to logits (N, V).
        input_ids: the tokens, shape (B, T).
        actions: the number of the action, counted from 1, at its tokens; 0 elsewhere and at position 0. Shape (B, T).
        num_actions: the number A of actions.
        temperature: what the logits are divided by: the probabilities are those of sampling at this temperature.

    Returns:
        Two tensors of shape (A,).

    References:
        YIELD, Section 4.4: log pi(A|H) = sum_l log pi(y_l | H, y_<l).
    """
    rows, columns = actions[:, 1:].nonzero(as_tuple=True)  # (N,): the token at column + 1 is predicted at column
    logits = output_layer(hidden[rows, columns])  # (N, V)
    targets = input_ids[rows, columns + 1]
    scaled = logits.float() / temperature  # (N, V)
    token_log_probs = -torch.nn.functional.cross_entropy(scaled, targets, reduction="none")  # (N,)
    owners = actions[rows, columns + 1] - 1  # (N,)
    zeros = torch.zeros(num_actions, device=hidden.device, dtype=token_log_probs.dtype)
    summed = zeros.index_add(0, owners, token_log_probs)
    counts = zeros.index_add(0, owners, torch.ones_like(token_log_probs))
    return summed, counts


def _whole(model: Any) -> Any:
    return model.get_base_model() if hasattr(model, "get_base_model") else model


def action_log_probs(
    model: Any, input_ids: torch.Tensor, actions: torch.Tensor, num_actions: int, *, temperature: float = 1.0
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Return last hidden states (B, T, H), summed log probabilities of the actions and their numbers of tokens (A,).

    Args:
        model: a Hugging Face causal language model, with or without an adapter; see `check_output_layer`.
        input_ids: the tokens, right-padded, shape (B, T). Under causal attention no token sees the padding behind it,
            so that no attention mask is needed and the fast causal kernels serve.
        actions: see `sequence_log_probs`.
        num_actions: the number A of actions.
        temperature: see `sequence_log_probs`.
    """
    whole = _whole(model)
    # Only the backbone is run: the output layer is applied at action positions alone.
    hidden: torch.Tensor = whole.base_model(input_ids=input_ids, use_cache=False).last_hidden_state
    log_probs, counts = sequence_log_probs(
        hidden, whole.get_output_embeddings(), input_ids, actions, num_actions, temperature=temperature
    )
    return hidden, log_probs, counts


def check_output_layer(model: Any) -> None:
    """Check that a model's logits come straight from its output layer on its last hidden states.

    Raises:
        SettingError: the model changes them afterwards (a cap or a scale), which `action_log_probs` would leave out.
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
