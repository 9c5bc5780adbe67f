"""Training checkpoints, which are written whole or not at all and resumed on the same trajectory."""

import shutil
from pathlib import Path
from typing import Any

from elicit_gym.agents.policy_folder import save_policy
from elicit_gym.errors import SettingError
from elicit_gym.files import replacing

__all__ = ["latest_checkpoint", "load_training_state", "write_checkpoint"]

_STATE = "training_state.pt"


def write_checkpoint(
    folder: Path, step: int, model: Any, tokenizer: Any, config: dict[str, Any], state: dict[str, Any]
) -> Path:
    """Write ``step-NNNNNN`` below a folder: the policy and all that the trajectory depends on.

    Args:
        folder: the folder of all checkpoints.
        step: the step of this checkpoint.
        model: a model with `save_pretrained`.
        tokenizer: a tokenizer with `save_pretrained`.
        config: the policy's config, in JSON types.
        state: the training state, of tensors and numbers only; it is read with ``weights_only=True``, so that nothing
            in it can run.

    Returns:
        The checkpoint's folder. Older ones are removed once it is complete.
    """
    import torch

    target = folder / f"step-{step:06d}"
    with replacing(target, folder=True) as beside:
        save_policy(beside, model, tokenizer, config)
        torch.save(state, beside / _STATE)
    for old in sorted(folder.glob("step-[0-9]*")):
        if old != target:
            shutil.rmtree(old, ignore_errors=True)
    return target


def latest_checkpoint(folder: Path) -> Path | None:
    """Return the latest whole checkpoint below a folder; half-written ones do not count."""
    found = sorted(path for path in folder.glob("step-[0-9]*") if path.suffix == "" and (path / _STATE).is_file())
    return found[-1] if found else None


def load_training_state(checkpoint: Path) -> dict[str, Any]:
    """Read a checkpoint's state.

    Raises:
        SettingError: it is cut off, or not a state at all.
    """
    import torch

    try:
        state: dict[str, Any] = torch.load(checkpoint / _STATE, weights_only=True, map_location="cpu")
    except Exception as error:  # torch raises a dozen kinds of errors for broken files
        raise SettingError(
            f"Resuming from {checkpoint}: expected a whole training state, got one that cannot be read "
            f"({type(error).__name__}). Remove the folder to start from an earlier one."
        ) from error
    if not isinstance(state, dict):
        raise SettingError(
            f"Resuming from {checkpoint}: expected a whole training state, got {type(state).__name__}. "
            "Remove the folder to start from an earlier one."
        )
    return state
