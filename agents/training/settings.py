"""What every way of training depends on."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from elicit_gym.errors import SettingError

__all__ = ["TrainingSettings", "lora_config", "set_checkpointing", "trains_on_cpu"]


Checkpointing = Literal["none", "selective", "full"]


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Settings that SFT and AWR share; the paper's values by default.

    Attributes:
        lora_r, lora_alpha, lora_dropout, target_modules: of the adapter. ``lora_r=0`` trains the whole model.
        policy_lr: learning rate.
        warmup_ratio: share of the steps with a rising learning rate; it falls linearly afterwards.
        batch_size: examples a step and process; times `accumulation` (and processes) for one update.
        eval_every: steps between two looks at the dev windows.
        max_steps: None for all epochs.
        gradient_checkpointing: what of the forward pass is kept for the backward one. ``none``: all; ``selective``: the
            results of matrix products and attention, the cheap rest is computed again (default: most of the memory is
            in the rest); ``full``: the inputs of each layer only.
    """

    lora_r: int = 16
    lora_alpha: int = 32
    lora_dropout: float = 0.05
    target_modules: tuple[str, ...] = ("q_proj", "k_proj", "v_proj", "o_proj")
    policy_lr: float = 1e-5
    epochs: int = 1
    batch_size: int = 4
    accumulation: int = 1
    warmup_ratio: float = 0.03
    bf16: bool = False
    gradient_checkpointing: Checkpointing = "selective"
    eval_every: int = 200
    max_steps: int | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        if self.gradient_checkpointing not in get_args(Checkpointing):
            raise SettingError(
                f"Training: expected gradient_checkpointing {', '.join(get_args(Checkpointing))}, "
                f"got {self.gradient_checkpointing!r}. Choose one."
            )


def lora_config(settings: TrainingSettings) -> Any:
    """Return PEFT's config of the adapter, or None where the whole model is trained."""
    from peft import LoraConfig

    if not settings.lora_r:
        return None
    return LoraConfig(
        r=settings.lora_r,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=list(settings.target_modules),
        task_type="CAUSAL_LM",
    )


def trains_on_cpu() -> bool:
    """Say whether there is no accelerator: Hugging Face's trainers refuse bf16 there unless they are told."""
    import torch

    return not torch.accelerator.is_available()


def set_checkpointing(model: Any, settings: TrainingSettings) -> Callable[[bool], None]:
    """Let a model keep less for the backward pass, as the settings say.

    Returns:
        A switch: with False the model keeps all until it is switched on again.

    References:
        Chen et al. (2016), "Training Deep Nets with Sublinear Memory Cost"; PyTorch's selective activation
        checkpointing.
    """
    if settings.gradient_checkpointing == "none":
        return lambda on: None
    how: dict[str, Any] = {"use_reentrant": False}
    if settings.gradient_checkpointing == "selective":
        how["context_fn"] = _selective
    model.gradient_checkpointing_enable(gradient_checkpointing_kwargs=how)
    model.enable_input_require_grads()
    layers = [module for module in model.modules() if getattr(module, "gradient_checkpointing", False)]

    def switch(on: bool) -> None:
        for layer in layers:
            layer.gradient_checkpointing = on

    return switch


def _selective() -> Any:
    from torch.utils.checkpoint import create_selective_checkpoint_contexts

    return create_selective_checkpoint_contexts(_keep)  # type: ignore[no-untyped-call]


def _keep(context: Any, operation: Any, *arguments: Any, **_: Any) -> Any:
    from torch.utils.checkpoint import CheckpointPolicy

    name = str(operation)
    product = name.startswith(("aten.mm.", "aten.addmm.", "aten.bmm.", "aten._scaled_dot_product"))
    # An adapter's second product comes from few columns: as large as the layer's own result, and cheap to repeat.
    cheap = name.startswith("aten.mm.") and arguments[0].shape[-1] <= 64
    return CheckpointPolicy.MUST_SAVE if product and not cheap else CheckpointPolicy.PREFER_RECOMPUTE
