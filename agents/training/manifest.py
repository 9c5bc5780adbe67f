"""What a policy was trained with: settings, data and versions, beside its weights."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from elicit_gym.agents.training.settings import TrainingSettings
from elicit_gym.offline.windows import Window, windows_sha256
from elicit_gym.rollout.manifest import run_facts

__all__ = ["MANIFEST", "training_manifest"]

MANIFEST = "manifest.json"


def training_manifest(
    method: str, model: Any, settings: TrainingSettings, train: Sequence[Window], dev: Sequence[Window]
) -> dict[str, Any]:
    """Describe a training run, in JSON types.

    Args:
        method: ``sft`` or ``awr``.
        model: the base model.
        settings: the settings of the training.
        train: the windows trained on, of which number and hash are kept.
        dev: the windows that chose the checkpoint, of which number and hash are kept.
    """
    config = model.config
    return {
        "format": 1,
        "method": method,
        "base_model": getattr(config, "_name_or_path", ""),
        "architecture": {"type": config.model_type, "dtype": str(model.dtype), "parameters": model.num_parameters()},
        "settings": asdict(settings),
        "train": {"count": len(train), "sha256": windows_sha256(train)},
        "dev": {"count": len(dev), "sha256": windows_sha256(dev)},
        **run_facts(("elicit-gym", "torch", "transformers", "accelerate", "peft", "trl")),
    }
