"""What a training starts from: a base model, or a trained policy, which it continues."""

from pathlib import Path
from typing import Any

from elicit_gym.agents.local_model import load_model
from elicit_gym.agents.policy_folder import base_model_of, is_policy_folder, policy_name
from elicit_gym.agents.training.settings import TrainingSettings

__all__ = ["load_for_training"]


def load_for_training(
    model: str, settings: TrainingSettings, *, load_in_8bit: bool = False
) -> tuple[Any, Any, str | None]:
    """Load what a training starts from.

    A trained policy is continued: its adapter is trained on, with its own rank, scale and modules. Where the settings
    train the whole model (``lora_r`` 0), the adapter is merged into the model first.

    Args:
        model: an id on the hub, a model's folder, or the folder of a trained policy.
        settings: of the training.
        load_in_8bit: see `elicit_gym.agents.local_model.load_model`.

    Returns:
        The model in training mode, its tokenizer, and what a user has to know about the start; None for a base model.

    Raises:
        SettingError: it cannot be loaded.
        MissingExtraError: the extra ``train`` is not installed.
    """
    loading: dict[str, Any] = {"dtype": "float32", "load_in_8bit": load_in_8bit}
    folder = Path(model)
    if not is_policy_folder(folder):
        network, tokenizer = load_model(model, **loading)
        return network.train(), tokenizer, None
    name = policy_name(folder)
    if not (folder / "adapter_config.json").is_file():
        network, tokenizer = load_model(model, **loading)
        return network.train(), tokenizer, f"Continuing the policy {name!r}, which is a whole model."
    base = base_model_of(folder)
    network, tokenizer = load_model(base, adapter=folder, trainable=True, **loading)
    if not settings.lora_r:
        merged: Any = network.merge_and_unload()
        merged.config._name_or_path = str(folder.resolve())  # what it was loaded from, for manifests
        for parameter in merged.parameters():
            parameter.requires_grad_(True)
        return merged.train(), tokenizer, f"Continuing the policy {name!r}: its adapter is merged into {base}."
    config = network.peft_config["default"]
    return (
        network.train(),
        tokenizer,
        f"Continuing the adapter of {name!r} (rank {config.r}, scale {config.lora_alpha}) on {base}; settings of a new "
        "adapter do not apply.",
    )
