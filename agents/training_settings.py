"""What every way of training depends on."""

from dataclasses import dataclass
from typing import Any

__all__ = ["TrainingSettings", "lora_config"]


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
    gradient_checkpointing: bool = False
    eval_every: int = 200
    max_steps: int | None = None
    seed: int = 0


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
