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


def value_positions(
    actions: "torch.Tensor", num_actions: int, value_input: str
) -> tuple["torch.Tensor", "torch.Tensor"]:
    """Return row and column of the hidden state that the value of each action is read from, shape (A,) each.

    Args:
        actions: the number of the action, counted from 1, at its tokens and the end token after it, shape (B, T).
        num_actions: the number A of actions.
        value_input: ``history_action``: the end token that follows the action, as in the paper, so that the value
            knows the action; ``history``: the last token before the action, a true state value, as in Peng et al.
            (2019).

    References:
        YIELD, Section 4.3. The published code reads index (number of action tokens - 1), which lies in the prompt;
        here the position is taken from the mask itself.
    """
    import torch

    rows, columns = actions.nonzero(as_tuple=True)  # (N,) each
    owners = actions[rows, columns] - 1  # (N,)
    row = torch.zeros(num_actions, dtype=torch.long, device=actions.device).scatter(0, owners, rows)
    if value_input == "history_action":
        ends = torch.zeros_like(row).scatter_reduce(0, owners, columns, "amax")
        return row, ends
    starts = torch.full_like(row, actions.shape[1]).scatter_reduce(0, owners, columns, "amin")
    return row, torch.clamp(starts - 1, min=0)


def save_value_head(head: Any, folder: Path) -> None:
    """Write the head's weights as safetensors."""
    from safetensors.torch import save_file

    tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in head.state_dict().items()}
    with replacing(folder / FILE) as beside:
        save_file(tensors, beside)


def load_value_head(folder: Path) -> "torch.nn.Linear":
    """Read a value head.

    Raises:
        SettingError: there is none, or its file is not one.
    """
    from safetensors.torch import load_file

    path = folder / FILE
    if not path.is_file():
        raise SettingError(f"Loading a value head from {folder}: expected {FILE}, got none. Is it an AWR checkpoint?")
    try:
        weights = load_file(path)
        found = {name: tuple(tensor.shape) for name, tensor in weights.items()}
        width = found["weight"][1]
        if found != {"weight": (1, width), "bias": (1,)} or not all(t.isfinite().all() for t in weights.values()):
            raise ValueError(f"the shapes {found}, or numbers that are not finite")
        head = make_value_head(width)
        head.load_state_dict(weights)
    except Exception as error:  # safetensors and torch raise errors of many kinds for broken files
        raise SettingError(
            f"Loading a value head from {path}: expected a weight of shape (1, width) and a bias, of finite numbers, "
            f"got {type(error).__name__}: {str(error)[:200]}. Get the file again, or train again."
        ) from error
    return head
