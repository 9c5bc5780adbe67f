"""AWR's losses by hand."""

import pytest
import torch

from elicit_gym.agents.training.losses import advantage_weights, policy_loss, value_loss


def test_weights_and_losses() -> None:
    returns, values = torch.tensor([1.0, -1.0, 100.0]), torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
    weights = advantage_weights(returns, values, alpha=0.5, beta=2.0, max_weight=20.0)
    torch.testing.assert_close(weights, torch.tensor([0.25, -0.25, 99.0]).exp().clamp(max=20))
    assert not weights.requires_grad
    assert float(advantage_weights(returns, values, max_weight=None)[2]) > 1e10
    log_probs, counts = torch.tensor([-4.0, -9.0]), torch.tensor([2.0, 3.0])
    ones = torch.ones(2)
    assert float(policy_loss(log_probs, counts, ones)) == pytest.approx(13 / 5)
    assert float(policy_loss(log_probs, counts, ones, reduction="sequence")) == 2.5
    assert float(policy_loss(log_probs, counts, ones, reduction="sum")) == 6.5
    weighted = policy_loss(log_probs, counts, torch.tensor([2.0, 0.0]), total=10)
    assert float(weighted) == pytest.approx(0.8)
    assert float(value_loss(torch.tensor([1.0, 3.0]), torch.tensor([0.0, 0.0]))) == 5.0
