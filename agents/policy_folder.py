"""The folder of a trained policy: weights, tokenizer, and how it was made."""

import re
import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from elicit_gym.errors import SettingError, StorageError
from elicit_gym.json_files import read_json, write_json

__all__ = ["CONFIG", "base_model_of", "read_config", "save_policy"]

CONFIG = "elicit_gym.json"
_HUB_ID = re.compile(r"[\w.-]+(?:/[\w.-]+)?")


def save_policy(folder: Path, model: Any, tokenizer: Any, config: dict[str, Any]) -> None:
    """Write the adapter or model as safetensors, the tokenizer and the config into a folder that is then renamed."""
    temporary = folder.with_name(folder.name + ".tmp")
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    model.save_pretrained(temporary, safe_serialization=True)
    tokenizer.save_pretrained(temporary)
    write_json(temporary / CONFIG, config)
    shutil.rmtree(folder, ignore_errors=True)
    temporary.replace(folder)


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

    Raises:
        SettingError: it is neither. A file or anything else that a folder of a stranger's may name is not opened.
    """
    base: str = read_config(folder)["base_model"]
    with suppress(OSError, ValueError):  # a NUL in it, or too many characters: there is no such path
        if (Path(base) / "config.json").is_file() or (_HUB_ID.fullmatch(base) and not Path(base).exists()):
            return base
    raise SettingError(
        f"Loading {folder}: expected a base model on the hub or in a folder, got {base[:200]!r} in {CONFIG}. "
        "Correct it."
    )
