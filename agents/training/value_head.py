"""The linear value head."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from elicit_gym.errors import SettingError
from elicit_gym.files import replacing

if TYPE_CHECKING:
    import torch

__all__ = ["load_value_head", "make_value_head", "save_value_head", "value_positions"]

FILE = "value_head.safetensors"


def make_value_head(hidden_size: int) -> "torch.nn.Linear":
    """Return a linear layer from a hidden state to a number, in float32 and initialised to zero."""
    import torch

    head = torch.nn.Linear(hidden_size, 1, dtype=torch.float32)
    torch.nn.init.zeros_(head.weight)
    torch.nn.init.zeros_(head.bias)
    return head


def value_positions(action_mask: "torch.Tensor", value_input: str) -> "torch.Tensor":
    """Return the index of the hidden state that the value is read from, shape (B,).

    Args:
        action_mask: 1 at the action's tokens and at the end token that follows them, shape (B, T).
        value_input: ``history_action``: the end token that follows the action, as in the paper, so that the value
            knows the action; ``history``: the last token of the prompt, a true state value, as in Peng et al. (2019).

    References:
        YIELD, Section 4.3. The published code reads index (number of action tokens - 1), which lies in the prompt;
        here the position is taken from the mask itself.
    """
    import torch

    width = action_mask.shape[1]
    first = action_mask.argmax(dim=1)  # the first 1
    last = width - 1 - action_mask.flip(1).argmax(dim=1)  # the last 1
    return last if value_input == "history_action" else torch.clamp(first - 1, min=0)


def save_value_head(head: Any, folder: Path) -> None:
    """Write the head's weights as safetensors."""
    from safetensors.torch import save_file

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in head.state_dict().items()}
    with replacing(folder / FILE) as beside:
        save_file(tensors, beside)


def load_value_head(folder: Path) -> "torch.nn.Linear":
    """Read a value head.

    Raises:
        SettingError: there is none.
    """
    from safetensors.torch import load_file

    path = folder / FILE
    if not path.is_file():
        raise SettingError(f"Loading a value head from {folder}: expected {FILE}, got none. Is it an AWR checkpoint?")
    weights = load_file(path)
    head = make_value_head(weights["weight"].shape[1])
    head.load_state_dict(weights)
    return head
