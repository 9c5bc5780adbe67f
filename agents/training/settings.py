"""What every way of training depends on: the settings, each with its default, its limits and its help in one place."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_origin, get_type_hints

from elicit_gym.agents.training.losses import Reduction
from elicit_gym.errors import SettingError

__all__ = [
    "AWRSettings",
    "GRPOSettings",
    "SFTSettings",
    "TrainingSettings",
    "lora_config",
    "set_checkpointing",
    "setting_metadata",
    "trains_on_cpu",
]


def _setting(
    default: Any, help_text: str, *, least: float | None = None, most: float | None = None, above: float | None = None
) -> Any:
    """Return a field whose metadata the command line reads too.

    Args:
        default: the value unless another one is given.
        help_text: one or two sentences.
        least: the smallest value that is valid.
        most: the largest one.
        above: a limit that is itself invalid.
    """
    return field(default=default, metadata={"help": help_text, "least": least, "most": most, "above": above})


def setting_metadata(settings: type["TrainingSettings"], name: str) -> dict[str, Any]:
    """Return help and limits of a setting; a subclass that changes only the default keeps those of its parent."""
    for parent in settings.__mro__:
        own = getattr(parent, "__dataclass_fields__", {}).get(name)
        if own is not None and "help" in own.metadata:
            return dict(own.metadata)
    raise KeyError(name)


@dataclass(frozen=True, kw_only=True)
class TrainingSettings:
    """Settings that SFT, AWR and GRPO share; the paper's values by default.

    A setting's help says what it means; ``elicit-gym train METHOD --help`` prints all of them.

    Raises:
        SettingError: a value is not one of the choices, or is outside its limits.
    """

    lora_r: int = _setting(16, "Give the LoRA adapter this rank; 0 trains the whole model instead.", least=0)
    lora_alpha: int = _setting(32, "Scale the LoRA adapter by this number, divided by its rank.", least=1)
    lora_dropout: float = _setting(
        0.05, "Drop this share of the LoRA adapter's inputs while training.", least=0, most=1
    )
    target_modules: tuple[str, ...] = _setting(
        ("q_proj", "k_proj", "v_proj", "o_proj"), "Put an adapter on the modules with these names."
    )
    policy_lr: float = _setting(1e-5, "Train the policy at this learning rate.", least=0)
    epochs: int = _setting(1, "Go over the data this many times, unless the number of steps is given.", least=1)
    max_steps: int | None = _setting(
        None, "Stop after this many updates of the weights; 'none' leaves the end to the epochs.", least=1
    )
    batch_size: int = _setting(
        4, "Use this many examples at a time in each process; for GRPO, an example is a conversation.", least=1
    )
    gradient_accumulation_steps: int = _setting(
        1, "Add up the gradients of this many batches for each update of the weights.", least=1
    )
    warmup_ratio: float = _setting(
        0.03, "Raise the learning rate over this share of the updates; afterwards it falls linearly.", least=0, most=1
    )
    bf16: bool = _setting(False, "Compute in bfloat16 wherever that is safe (mixed precision).")
    gradient_checkpointing: Literal["none", "selective", "full"] = _setting(
        "selective",
        "Save memory by computing again in the backward pass: nothing ('none'), all but matrix products and attention "
        "('selective', which costs little time), or whole layers ('full').",
    )
    seed: int = _setting(0, "Derive every random choice from this seed.")

    def __post_init__(self) -> None:
        hints = get_type_hints(type(self))
        for each in fields(self):
            value, limits = getattr(self, each.name), setting_metadata(type(self), each.name)
            rule = None if value is None else _broken_rule(value, hints[each.name], limits)
            if rule is not None:
                raise SettingError(f"Training: expected {each.name} {rule}, got {value!r}. Choose another value.")


def _broken_rule(value: Any, hint: Any, limits: dict[str, Any]) -> str | None:
    """Return the rule that a value breaks, None if it breaks none."""
    least, most, above = limits["least"], limits["most"], limits["above"]
    if get_origin(hint) is Literal and value not in get_args(hint):
        return "to be one of " + ", ".join(map(str, get_args(hint)))
    if (least is not None and not value >= least) or (most is not None and not value <= most):  # NaN is neither
        return f"of {least} to {most}" if most is not None else f"of {least} or more"
    if above is not None and not value > above:
        return f"above {above}"
    if isinstance(value, float) and not math.isfinite(value):
        return "to be finite"
    return None


@dataclass(frozen=True, kw_only=True)
class SFTSettings(TrainingSettings):
    """What SFT depends on."""

    eval_every: int = _setting(200, "Evaluate on the dev windows whenever this many updates have been made.", least=1)


@dataclass(frozen=True, kw_only=True)
class AWRSettings(SFTSettings):
    """What AWR depends on, beside what SFT depends on.

    References:
        YIELD, Section 4.3 and 6.1, for `alpha`, `beta` and `value_input`; Peng et al. (2019), Algorithm 1, for the
        clamp (the published code has none) and the value of the history alone. The published code standardises returns
        over its batch of four, where the same window has another return in every batch.
    """

    alpha: float = _setting(0.25, "Multiply the advantage by this factor.")
    beta: float = _setting(
        1.0, "Divide the advantage by this temperature: the lower it is, the more the best actions count.", above=0
    )
    max_weight: float | None = _setting(
        20.0, "Limit the weight of an example to this; 'none' sets no limit, as in the published code.", above=0
    )
    standardise_returns: Literal["dataset", "batch", "none"] = _setting(
        "dataset", "Standardise the returns over all windows, over each batch (as published), or not at all."
    )
    value_input: Literal["history_action", "history"] = _setting(
        "history_action", "Predict the value from the history with the action, as in the paper, or without it."
    )
    reduction: Reduction = _setting(  # noqa: RUF009 - as all fields here, but its type has a name
        "token",
        "Average the loss over all tokens ('token', as published: long actions count for more), over actions "
        "('sequence': all count the same), or sum it over an action's tokens ('sum', as Equation 2 reads).",
    )
    normalise_weights: Literal["running", "batch", "none"] = _setting(
        "running",
        "Divide the weights by their running mean over the updates before, so that a batch of bad actions counts for "
        "less than one of good ones; by their mean over the batch (as published); or by nothing.",
    )
    weighted: bool = _setting(True, "Weight the examples by their advantage; otherwise this is SFT in the same loop.")
    value_lr: float = _setting(1e-4, "Train the value head at this learning rate.", least=0)
    weight_decay: float = _setting(0.0, "Let the weights decay at this rate (AdamW).", least=0)
    max_grad_norm: float = _setting(1.0, "Clip the policy's gradient to this norm.", above=0)
    save_every: int = _setting(200, "Write a checkpoint whenever this many updates have been made.", least=1)


@dataclass(frozen=True, kw_only=True)
class GRPOSettings(TrainingSettings):
    """What GRPO depends on."""

    max_steps: int | None = 100
    batch_size: int = 8
    num_generations: int = _setting(4, "Compare this many conversations of the same scenario with each other.", least=2)
    temperature: float = _setting(1.0, "Sample a model's words at this temperature.", above=0)
    max_new_tokens: int = _setting(64, "Let a model write at most this many tokens per message.", least=1)
    kl_beta: float = _setting(
        0.0, "Weight the divergence from the starting policy by this; 0 needs no second model in memory.", least=0
    )
    save_every: int = _setting(200, "Write a checkpoint whenever this many updates have been made.", least=1)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.batch_size % self.num_generations:
            raise SettingError(
                f"Training by GRPO: expected a batch_size that is a multiple of num_generations, got {self.batch_size} "
                f"and {self.num_generations}. Change one of them."
            )


def lora_config(model: Any, settings: TrainingSettings) -> Any:
    """Return PEFT's config of the adapter to put on a model; None where the whole model is trained.

    A model that comes with an adapter keeps it: PEFT would put a second one over it and train that from zero.
    """
    from peft import LoraConfig, PeftModel

    if not settings.lora_r or isinstance(model, PeftModel):
        return None
    return LoraConfig(
        r=settings.lora_r,
        lora_alpha=settings.lora_alpha,
        lora_dropout=settings.lora_dropout,
        target_modules=list(settings.target_modules),
        task_type="CAUSAL_LM",
    )


def trains_on_cpu() -> bool:
    """Say whether there is no accelerator: then Hugging Face's trainers refuse bf16 unless told to use the CPU."""
    import torch

    return not torch.accelerator.is_available()


def set_checkpointing(model: Any, settings: TrainingSettings) -> Callable[[bool], None]:
    """Let a model keep less for the backward pass, as the settings say.

    Returns:
        A switch: after False, the model keeps everything until True.

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
    # An adapter's second product has few columns: its result is as large as the layer's own, and cheap to repeat.
    cheap = name.startswith("aten.mm.") and arguments[0].shape[-1] <= 64
    return CheckpointPolicy.MUST_SAVE if product and not cheap else CheckpointPolicy.PREFER_RECOMPUTE
