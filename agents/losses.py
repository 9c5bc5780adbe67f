"""AWR's losses as pure functions of tensors."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import torch

__all__ = ["advantage_weights", "policy_loss", "sequence_log_probs", "value_loss"]


def sequence_log_probs(
    hidden: "torch.Tensor", output_layer: Any, input_ids: "torch.Tensor", action_mask: "torch.Tensor"
) -> "tuple[torch.Tensor, torch.Tensor]":
    """Return the summed log probability of each action, and its number of tokens.

    Logits are made at action positions only, (N, V) for the N action tokens of the batch, never (B, T, V).

    Args:
        hidden: last hidden states, shape (B, T, H).
        output_layer: from hidden states (N, H) to logits (N, V).
        input_ids: shape (B, T).
        action_mask: 1 at the action's tokens, its end token included; shape (B, T). Nothing at position 0.

    Returns:
        Two tensors of shape (B,).

    References:
        YIELD, Section 4.4: log pi(A|H) = sum_l log pi(y_l | H, y_<l).
    """
    import torch

    rows, columns = action_mask[:, 1:].nonzero(as_tuple=True)  # (N,): the token at column + 1 is predicted at column
    logits = output_layer(hidden[rows, columns])  # (N, V)
    targets = input_ids[rows, columns + 1]
    token_log_probs = -torch.nn.functional.cross_entropy(logits.float(), targets, reduction="none")  # (N,)
    zeros = torch.zeros(input_ids.shape[0], device=hidden.device, dtype=token_log_probs.dtype)
    summed = zeros.index_add(0, rows, token_log_probs)
    counts = zeros.index_add(0, rows, torch.ones_like(token_log_probs))
    return summed, counts


def advantage_weights(
    returns: "torch.Tensor",
    values: "torch.Tensor",
    *,
    alpha: float = 0.25,
    beta: float = 1.0,
    max_weight: float | None = 20.0,
) -> "torch.Tensor":
    """Return exp(alpha * A / beta), clamped, not yet normalised; no gradient flows through it.

    Args:
        returns: standardised returns-to-go, shape (B,).
        values: the value head's predictions, shape (B,).
        alpha: scales the advantage; 0.25 in the paper.
        beta: AWR's temperature; 1 in the paper (there called T).
        max_weight: upper clamp; None for none, as in the published code, where a single outlier can then take over.

    References:
        YIELD, Section 4.3 and 6.1; Peng et al. (2019), Algorithm 1, for the clamp.
    """
    weights = ((returns - values.detach()) * (alpha / beta)).exp()
    return weights if max_weight is None else weights.clamp(max=max_weight)


def policy_loss(
    log_probs: "torch.Tensor", num_tokens: "torch.Tensor", weights: "torch.Tensor", *, per_token: bool = True
) -> "torch.Tensor":
    """Return the weighted negative log likelihood of the batch.

    Args:
        log_probs: summed over each action's tokens, shape (B,).
        num_tokens: shape (B,).
        weights: normalised to mean 1 over the whole batch, shape (B,). All ones make it plain SFT.
        per_token: take the mean over an action's tokens (default: long utterances count as much as short ones, which
            is how TRL's and the published loss behave), or the sum, as Equation 2 reads.

    References:
        YIELD, Equation 2.
    """
    return -(weights * (log_probs / num_tokens if per_token else log_probs)).mean()


def value_loss(values: "torch.Tensor", returns: "torch.Tensor") -> "torch.Tensor":
    """Return the mean squared error of the value head, shapes (B,).

    References:
        YIELD, Equation 3.
    """
    return ((values - returns) ** 2).mean()
