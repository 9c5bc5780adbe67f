"""AWR's losses as pure functions of tensors."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch

__all__ = ["advantage_weights", "policy_loss", "value_loss"]


def advantage_weights(
    returns: "torch.Tensor",
    values: "torch.Tensor",
    *,
    alpha: float = 0.25,
    beta: float = 1.0,
    max_weight: float | None = 20.0,
) -> "torch.Tensor":
    """Return exp(alpha * A / beta), clamped but not yet normalised; no gradient flows through it.

    Args:
        returns: standardised returns-to-go, shape (B,).
        values: the value head's predictions, shape (B,).
        alpha: the factor on the advantage; 0.25 in the paper.
        beta: AWR's temperature; 1 in the paper (there called T).
        max_weight: the upper clamp; None for no clamp, as in the published code, where a single outlier can take over.

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
        log_probs: the log probabilities, summed over each action's tokens, shape (B,).
        num_tokens: the number of tokens of each action, shape (B,).
        weights: the weights, normalised to mean 1 over the whole batch, shape (B,); ones make it plain SFT.
        per_token: whether to take the mean over an action's tokens (default: long utterances count as much as
            short ones, which is how TRL's and the published loss behave), or the sum, as Equation 2 reads.

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
