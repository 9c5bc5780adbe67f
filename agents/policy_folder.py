"""The folder of a trained policy: weights, tokenizer, and how it was made."""

import json
import shutil
from pathlib import Path
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.json_files import write_json

__all__ = ["CONFIG", "read_config", "save_policy"]

CONFIG = "elicit_gym.json"


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

    Raises:
        SettingError: there is none.
    """
    path = folder / CONFIG
    try:
        config: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise SettingError(
            f"Loading {folder}: expected a checkpoint with {CONFIG}, got none that can be read."
        ) from error
    return config
