"""AWR's losses as pure functions of tensors."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import torch

__all__ = ["Reduction", "advantage_weights", "policy_loss", "value_loss"]

Reduction = Literal["token", "sequence", "sum"]
"""How the loss of a batch is averaged; see `policy_loss`."""


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
        returns: standardised returns-to-go, shape (A,).
        values: the value head's predictions, shape (A,).
        alpha: the factor on the advantage; 0.25 in the paper.
        beta: AWR's temperature; 1 in the paper (there called T).
        max_weight: the upper clamp; None for no clamp, as in the published code, where a single outlier can take over.

    References:
        YIELD, Section 4.3 and 6.1; Peng et al. (2019), Algorithm 1, for the clamp.
    """
    weights = ((returns - values.detach()) * (alpha / beta)).exp()
    return weights if max_weight is None else weights.clamp(max=max_weight)


def policy_loss(
    log_probs: "torch.Tensor",
    num_tokens: "torch.Tensor",
    weights: "torch.Tensor",
    *,
    reduction: Reduction = "token",
    total: float | None = None,
) -> "torch.Tensor":
    """Return the weighted negative log likelihood of some actions.

    Args:
        log_probs: the log probabilities, summed over each action's tokens, shape (A,).
        num_tokens: the number of tokens of each action, shape (A,).
        weights: the weights, shape (A,); ones make it plain SFT.
        reduction: ``token``: the mean over all tokens, so that a long action counts for more (as in TRL and in the
            published code); ``sequence``: the mean over actions of their mean over tokens, so that all actions count
            the same; ``sum``: the mean over actions of their sum over tokens, as Equation 2 reads.
        total: what is divided by, where these are not all actions of the update: its number of tokens for ``token``,
            of actions otherwise.

    References:
        YIELD, Equation 2, and its published training script.
    """
    each = log_probs / num_tokens if reduction == "sequence" else log_probs
    divisor = (num_tokens.sum() if reduction == "token" else len(log_probs)) if total is None else total
    return -(weights * each).sum() / divisor


def value_loss(values: "torch.Tensor", returns: "torch.Tensor", *, total: float | None = None) -> "torch.Tensor":
    """Return the mean squared error of the value head.

    Args:
        values: the predictions, shape (A,).
        returns: the returns-to-go, shape (A,).
        total: the number of actions of the update, where these are not all.

    References:
        YIELD, Equation 3.
    """
    return ((values - returns) ** 2).sum() / (len(values) if total is None else total)
