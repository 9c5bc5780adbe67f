"""The folder of a trained policy: weights, tokenizer, and how it was made."""

import re
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

from elicit_gym.errors import SettingError, StorageError
from elicit_gym.files import replacing
from elicit_gym.json_files import read_json, write_json

__all__ = [
    "CONFIG",
    "BaseModelWarning",
    "base_model_of",
    "base_name",
    "is_policy_folder",
    "policy_name",
    "read_config",
    "save_policy",
]

CONFIG = "elicit_gym.json"
_HUB_ID = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


class BaseModelWarning(UserWarning):
    """A policy's folder names a base model that its user may not know of; it is shown before it is loaded."""


def save_policy(folder: Path, model: Any, tokenizer: Any, config: dict[str, Any]) -> None:
    """Write the adapter or model as safetensors, the tokenizer and the config into a folder that is then renamed."""
    with replacing(folder, folder=True) as beside:
        model.save_pretrained(beside, safe_serialization=True)
        tokenizer.save_pretrained(beside)
        write_json(beside / CONFIG, config)


def is_policy_folder(folder: str | Path) -> bool:
    """Say whether a folder holds a trained policy."""
    return (Path(folder) / CONFIG).is_file()


def policy_name(folder: str | Path) -> str:
    """Return the name of a trained policy: its folder's, or that of the training whose ``best`` it is."""
    place = Path(folder).resolve()
    return place.parent.name if place.name == "best" and place.parent.name else place.name


def base_name(model: Any) -> str:
    """Return what a loaded model was loaded from: an id on the hub, or a folder, which is found from anywhere."""
    name = str(getattr(model.config, "_name_or_path", ""))
    return str(Path(name).resolve()) if name and Path(name).is_dir() else name


def read_config(folder: Path) -> dict[str, Any]:
    """Read the config of a policy's folder.

    What it says is text: nothing in it is imported or called.

    Raises:
        SettingError: there is none, or it is no JSON object with the name of a base model.
    """
    path = folder / CONFIG
    try:
        config = read_json(path, "the config of a trained policy")
    except StorageError as error:
        raise SettingError(
            f"Loading {folder}: expected a checkpoint with {CONFIG}, got none that can be read ({error})"
        ) from error
    if not isinstance(config, dict) or not isinstance(config.get("base_model"), str):
        raise SettingError(
            f"Loading {path}: expected a JSON object with the text 'base_model', got {str(config)[:60]!r}. "
            "Is it the folder of a trained policy?"
        )
    return config


def base_model_of(folder: Path) -> str:
    """Return the base model that an adapter's folder names: the id of a model on the hub, or a model's folder.

    A folder is shown with a `BaseModelWarning`, and so is an id under which this machine has loaded nothing yet, or
    which the adapter was not made for.

    Raises:
        SettingError: it is neither. A file or anything else that a folder of a stranger's may name is not opened.
    """
    base: str = read_config(folder)["base_model"]
    with suppress(OSError, ValueError):  # a NUL in it, or too many characters: there is no such path
        if (Path(base) / "config.json").is_file() or (_HUB_ID.fullmatch(base) and not Path(base).exists()):
            _show(folder, base)
            return base
    raise SettingError(
        f"Loading {folder}: expected a base model on the hub or in a folder, got {base[:200]!r} in {CONFIG}. "
        "Correct it."
    )


def _show(folder: Path, base: str) -> None:
    made_for = _adapted(folder)
    if Path(base).exists():
        what = f"the folder {base!r}"
    elif made_for is not None and made_for != base:
        what = f"{base!r} on the hub, though its adapter was made for {made_for!r}"
    elif not _is_here(base):
        what = f"{base!r}, which is not on this machine and will be fetched from the hub"
    else:
        return
    warnings.warn(
        f"Loading {folder}: its base model is {what} ({CONFIG}). Stop here if you do not know it.",
        BaseModelWarning,
        stacklevel=4,
    )


def _adapted(folder: Path) -> str | None:
    """Return the base model that the adapter's own config names; None where it names none."""
    try:
        found = read_json(folder / "adapter_config.json", "the config of an adapter")
    except StorageError:
        return None
    name = found.get("base_model_name_or_path") if isinstance(found, dict) else None
    return name if isinstance(name, str) else None


def _is_here(hub_id: str) -> bool:
    """Say whether the hub's cache on this machine has the model."""
    try:
        from huggingface_hub import try_to_load_from_cache

        return isinstance(try_to_load_from_cache(hub_id, "config.json"), str)
    except Exception:  # not installed, or no id that the hub could have
        return False
