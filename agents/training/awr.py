"""Advantage-weighted regression: a flat training loop, read from top to bottom."""

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from elicit_gym.agents.batch import collate
from elicit_gym.agents.policy_folder import read_config, save_policy
from elicit_gym.agents.training.checkpoint import latest_checkpoint, load_training_state, write_checkpoint
from elicit_gym.agents.training.data import encode_windows, iterate, length_grouped
from elicit_gym.agents.training.losses import advantage_weights, policy_loss, value_loss
from elicit_gym.agents.training.manifest import keep_manifest, training_manifest
from elicit_gym.agents.training.settings import TrainingSettings, lora_config, set_checkpointing
from elicit_gym.agents.training.value_head import save_value_head
from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.offline.model_input import context_length
from elicit_gym.offline.windows import Window
from elicit_gym.reporting.progress import progress_bar
from elicit_gym.rollout.storage import write_json

__all__ = ["AWRConfig", "train_awr"]

KEEPS_ALL = 0.6
"""Batches of at most this share of the longest one are not checkpointed."""


@dataclass(frozen=True, kw_only=True)
class AWRConfig(TrainingSettings):
    """What training depends on, beside what SFT depends on too.

    Attributes:
        alpha, beta: of the advantage, see `elicit_gym.agents.training.losses.advantage_weights`; the paper's values.
        max_weight: clamp of the weights. Default 20, as in Peng et al. (2019); the published code has none (None).
        standardise_returns: ``dataset`` (default: mean and deviation over all training windows), ``batch`` (as in the
            published code, over its batch of four: the same window then has another return in every batch), or
            ``none``.
        value_input: ``history_action`` (the paper) or ``history`` (a true state value, Peng et al. 2019).
        per_token: see `elicit_gym.agents.training.losses.policy_loss`.
        weighted: False turns the weights off: SFT in the same loop.
        value_lr: learning rate of the value head.
        max_grad_norm: of the policy's gradient.
        save_every: steps between two checkpoints.
    """

    alpha: float = 0.25
    beta: float = 1.0
    max_weight: float | None = 20.0
    standardise_returns: Literal["dataset", "batch", "none"] = "dataset"
    value_input: Literal["history_action", "history"] = "history_action"
    per_token: bool = True
    weighted: bool = True
    value_lr: float = 1e-4
    max_grad_norm: float = 1.0
    save_every: int = 200


def train_awr(
    model: Any,
    tokenizer: Any,
    train: Sequence[Window],
    out: str | Path,
    *,
    dev: Sequence[Window] = (),
    config: AWRConfig | None = None,
    resume: bool = False,
    progress: bool = False,
    tensorboard: bool = False,
) -> dict[str, Any]:
    """Train a causal language model by advantage-weighted regression.

    One forward pass gives hidden states; policy and value are read from them, and logits are made at action positions
    only. Weights are normalised to mean 1 over the whole batch of all processes.

    Args:
        model: a Hugging Face causal language model; an adapter is put on it unless ``lora_r`` is 0.
        tokenizer: with a chat template and an end token.
        train: windows with returns-to-go.
        out: gets ``best`` (by dev loss; the last one without dev windows), ``checkpoints``, ``log.json`` and
            ``manifest.json``.
        dev: windows to choose the best checkpoint by.
        config: the paper's values by default.
        resume: go on from the latest whole checkpoint in `out`, to the trajectory of an unbroken run.
        progress: show a bar.
        tensorboard: write events below ``out/tensorboard``.

    Returns:
        ``steps``: one row a step (loss, policy_loss, value_loss, mean and largest weight); ``evaluations``.

    Raises:
        SettingError: there are no windows, their returns are all alike, or one is longer than the model's context.
        ManifestMismatchError: `resume` is on, and the training in `out` was begun with something else.
        MissingExtraError: the extra ``train`` is not installed.

    References:
        YIELD, Section 4.2 to 4.4 and 6.1, Equations 2 to 4; Peng et al. (2019). Each difference from the published
        code is named at its option; a last batch of one is trained on and not skipped as NaN.
    """
    try:
        import torch
        from accelerate import Accelerator
        from accelerate.utils import set_seed

        from elicit_gym.agents.training.policy_and_value import PolicyAndValue
    except ImportError as error:
        raise MissingExtraError("Training", "train") from error
    config = config or AWRConfig()
    out = Path(out)
    encoded = encode_windows(train, tokenizer, max_length=context_length(model))
    encoded_dev = encode_windows(dev, tokenizer, max_length=context_length(model)) if dev else []
    mean, deviation = _scale([value for _, value in encoded], config)
    manifest = training_manifest("awr" if config.weighted else "sft", model, config, train=train, dev=dev)
    accelerator = Accelerator(
        mixed_precision="bf16" if config.bf16 else "no", gradient_accumulation_steps=config.accumulation
    )
    keep_manifest(manifest, out, resume=resume, write=accelerator.is_main_process)
    set_seed(config.seed)
    checkpoint_layers = set_checkpointing(model, config)
    module: Any = PolicyAndValue(_with_lora(model, config), config.value_input)
    optimizer = torch.optim.AdamW(
        [
            {"params": [p for p in module.policy.parameters() if p.requires_grad], "lr": config.policy_lr},
            {"params": list(module.head.parameters()), "lr": config.value_lr},
        ],
        weight_decay=0.0,
    )
    lengths = [len(example.input_ids) for example, _ in encoded]
    # The longest batch makes the peak: shorter ones may keep all they have, and cost no time.
    roomy = KEEPS_ALL * config.batch_size * max(lengths) if config.gradient_checkpointing == "selective" else 0
    per_step = config.batch_size * accelerator.num_processes
    batches_an_epoch = -(-len(encoded) // per_step)
    total = config.max_steps or max(1, config.epochs * batches_an_epoch)
    warmup = max(1, math.ceil(config.warmup_ratio * total))
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / warmup, max(0.0, (total - s) / max(1, total - warmup)))
    )
    module, optimizer = accelerator.prepare(module, optimizer)
    inner = accelerator.unwrap_model(module)
    device, pad = accelerator.device, tokenizer.pad_token_id or 0
    log: dict[str, Any] = {"steps": [], "evaluations": [], "returns": {"mean": mean, "deviation": deviation}}
    saved = {"method": "awr" if config.weighted else "sft", "config": asdict(config), "returns": log["returns"]}
    saved["base_model"] = getattr(inner.policy.config, "_name_or_path", "")
    step, best = 0, math.inf
    checkpoint = latest_checkpoint(out / "checkpoints") if resume else None
    if checkpoint is not None:
        if read_config(checkpoint)["config"] != _jsonable(saved["config"]):
            raise SettingError(
                f"Resuming from {checkpoint}: expected the same settings, got others. Use those of the run."
            )
        state = load_training_state(checkpoint)
        step, best, log = state["step"], state["best"], state["log"]
        inner.load_state_dict(state["module"], strict=False)
        optimizer.load_state_dict(state["optimizer"])
        scheduler.load_state_dict(state["scheduler"])
    writer = _tensorboard(out) if tensorboard and accelerator.is_main_process else None

    def forward(batch: Any) -> tuple[Any, Any, Any, Any]:
        run = module if module.training else inner  # evaluation runs on one process only
        log_probs, counts, values = run(batch.input_ids, batch.action_mask)  # (B,) each
        returns = batch.returns
        if config.standardise_returns == "batch":
            spread = returns.std() if len(returns) > 1 else torch.ones((), device=returns.device)
            returns = (returns - returns.mean()) / spread.clamp(min=1e-6)
        else:
            returns = (returns - mean) / deviation
        return log_probs, counts, values, returns

    def evaluate() -> dict[str, float]:
        module.eval()
        nll, tokens, squared, count = 0.0, 0.0, 0.0, 0
        with torch.no_grad():
            for start in range(0, len(encoded_dev), config.batch_size):
                batch = collate(encoded_dev[start : start + config.batch_size], pad, device)
                log_probs, counts, values, returns = forward(batch)
                nll -= float(log_probs.sum())
                tokens += float(counts.sum())
                squared += float(((values - returns) ** 2).sum())
                count += len(values)
        module.train()
        return {
            "step": step,
            "nll_per_token": nll / tokens,
            "perplexity": math.exp(nll / tokens),
            "value_mse": squared / count,
        }

    module.train()
    with progress_bar("steps", total, done=step, show=progress and accelerator.is_main_process) as advance:
        while step < total:
            epoch, offset = divmod(step, batches_an_epoch)
            batches = length_grouped(lengths, per_step, config.seed, epoch)[offset:]
            mine = [b[accelerator.process_index :: accelerator.num_processes] for b in batches]
            # A last batch may not split evenly: a process counts by its share, and with 0 where it has a filler only.
            shares = [len(m) * accelerator.num_processes / len(b) for m, b in zip(mine, batches, strict=True)]
            filled = [m or b[:1] for m, b in zip(mine, batches, strict=True)]
            for share, batch in zip(shares, iterate(encoded, filled, pad, device), strict=True):
                # Dropout derives from (seed, step), so that a resumed run draws what an unbroken one draws.
                torch.manual_seed(config.seed * 1_000_003 + step)
                checkpoint_layers(batch.input_ids.numel() > roomy)
                with accelerator.accumulate(module):
                    log_probs, counts, values, returns = forward(batch)
                    if config.weighted:
                        raw = advantage_weights(
                            returns, values, alpha=config.alpha, beta=config.beta, max_weight=config.max_weight
                        )
                    else:
                        raw = torch.ones_like(values)
                    weights = raw / accelerator.gather(share * raw.mean()[None]).mean()  # mean 1 over all processes
                    loss_policy = share * policy_loss(log_probs, counts, weights, per_token=config.per_token)
                    loss_value = share * value_loss(values, returns)
                    loss = loss_policy + loss_value  # Equation 4
                    accelerator.backward(loss)
                    if accelerator.sync_gradients:
                        accelerator.clip_grad_norm_(inner.policy.parameters(), config.max_grad_norm)
                    optimizer.step()
                    optimizer.zero_grad()
                scheduler.step()
                step += 1
                advance()
                parts = torch.stack([loss, loss_policy, loss_value, share * weights.mean()]).detach()
                shown = accelerator.gather(parts[None]).mean(dim=0).tolist()
                largest = weights.max()[None] * (share > 0)
                row = dict(zip(("loss", "policy_loss", "value_loss", "mean_weight"), shown, strict=True))
                log["steps"].append({"step": step, **row, "max_weight": float(accelerator.gather(largest).max())})
                if writer is not None:
                    for name, value in row.items():
                        writer.add_scalar(name, value, step)
                last = step >= total
                if accelerator.is_main_process and encoded_dev and (last or step % config.eval_every == 0):
                    log["evaluations"].append(evaluate())
                    if log["evaluations"][-1]["nll_per_token"] < best:
                        best = log["evaluations"][-1]["nll_per_token"]
                        _save(out / "best", inner, tokenizer, saved)
                if accelerator.is_main_process and (last or step % config.save_every == 0):
                    state = {
                        "step": step, "best": best, "log": log,
                        "module": _trainable(inner),
                        "optimizer": optimizer.state_dict(), "scheduler": scheduler.state_dict(),
                    }  # fmt: skip
                    write_checkpoint(out / "checkpoints", step, inner.policy, tokenizer, saved, state)
                if last:
                    break
    if accelerator.is_main_process:
        if not encoded_dev:
            _save(out / "best", inner, tokenizer, saved)
        write_json(out / "log.json", log)
    if writer is not None:
        writer.close()
    accelerator.wait_for_everyone()
    return log


def _scale(returns: Sequence[float], config: AWRConfig) -> tuple[float, float]:
    """Return mean and standard deviation to standardise by."""
    if config.weighted and len(set(returns)) < 2 and len(returns) > 1:
        raise SettingError(
            f"Training by AWR: expected windows with returns that differ, got {returns[0]:g} in all {len(returns)}. "
            "Use rows with returns (the experimental ones), or train by SFT."
        )
    if config.standardise_returns != "dataset":
        return 0.0, 1.0
    mean = sum(returns) / len(returns)
    variance = sum((value - mean) ** 2 for value in returns) / len(returns)
    return mean, math.sqrt(variance) or 1.0


def _with_lora(model: Any, config: AWRConfig) -> Any:
    adapter = lora_config(config)
    if adapter is None:
        return model
    from peft import get_peft_model

    return get_peft_model(model, adapter)


def _trainable(model: Any) -> dict[str, Any]:
    return {name: p.detach().cpu().clone() for name, p in model.named_parameters() if p.requires_grad}


def _save(folder: Path, module: Any, tokenizer: Any, saved: dict[str, Any]) -> None:
    save_policy(folder, module.policy, tokenizer, saved)
    save_value_head(module.head, folder)


def _jsonable(config: dict[str, Any]) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in config.items()}


def _tensorboard(out: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtraError("Writing TensorBoard events", "train") from error
    return SummaryWriter(str(out / "tensorboard"))
