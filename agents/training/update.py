"""One update of the weights: what it is made on, and the parts of it that are in memory at a time."""

from dataclasses import dataclass, field
from typing import Any

from elicit_gym.agents.batch import Batch
from elicit_gym.agents.training.losses import Reduction

__all__ = ["Part", "Update"]


@dataclass(frozen=True)
class Update:
    """What one update of the weights is made on, over all processes.

    Attributes:
        batches: the indexes of the examples that are in memory at a time.
        num_actions: the number of their actions.
        num_tokens: of the actions, end tokens included.
        noted: for each of this process's parts: policy loss, value loss, sums of weights and of raw weights, largest
            weight.
    """

    batches: list[list[int]]
    num_actions: int
    num_tokens: int
    noted: list[Any] = field(default_factory=list)

    def total(self, reduction: Reduction) -> int:
        """Return what the policy's loss is divided by; see `elicit_gym.agents.training.losses.policy_loss`."""
        return self.num_tokens if reduction == "token" else self.num_actions


@dataclass(frozen=True)
class Part:
    """A process's part of a batch.

    Attributes:
        batch: the examples.
        share: the factor on its loss: the number of processes, since gradients are averaged over them; 0 where the part
            is a filler, since there are fewer examples than processes.
        update: what it is a part of.
    """

    batch: Batch
    share: int
    update: Update

    def note(self, loss_policy: Any, loss_value: Any, weights: Any, raw: Any) -> None:
        """Keep the numbers of the log.

        Args:
            loss_policy: of this part.
            loss_value: of this part.
            weights: of its actions, shape (A,).
            raw: before they were normalised, shape (A,).
        """
        import torch

        numbers = torch.stack([loss_policy, loss_value, weights.sum(), raw.sum(), weights.max()]).detach()
        self.update.noted.append(numbers * (self.share > 0))
