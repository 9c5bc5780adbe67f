"""What surrounds AWR's update: set-up, batches, evaluation, checkpoints, resume and the log."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from elicit_gym.agents.batch import Batch, collate
from elicit_gym.agents.policy_folder import base_name, save_policy
from elicit_gym.agents.training.checkpoint import latest_checkpoint, load_training_state, write_checkpoint
from elicit_gym.agents.training.data import encode_windows, iterate, length_grouped
from elicit_gym.agents.training.manifest import Method, keep_manifest, training_manifest
from elicit_gym.agents.training.settings import AWRSettings, lora_config, set_checkpointing
from elicit_gym.agents.training.value_head import save_value_head
from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.json_files import write_json
from elicit_gym.offline.model_input import context_length
from elicit_gym.offline.windows import Window

__all__ = ["AWRRun"]

KEEPS_ALL = 0.6
"""Batches of at most this share of the longest one keep everything for the backward pass."""


class AWRRun:
    """One training run, from the first window to the last file.

    Args:
        model: a Hugging Face causal language model.
        tokenizer: a tokenizer with a chat template and an end token.
        train: the windows to train on, with returns-to-go.
        out: the run's folder.
        dev: the windows by which the best checkpoint is chosen.
        settings: the settings of the training.
        tensorboard: write events below ``out/tensorboard``.

    Attributes:
        accelerator: the process's accelerator.
        module: policy and value, spread over the processes.
        policy: the language model, with its adapter.
        optimizer, scheduler: the optimizer of policy and value, and its schedule.
        step: the number of steps done.
        total: the number of steps in all.
        log: what `elicit_gym.agents.training.awr.train_awr` returns.

    Raises:
        ManifestMismatchError: `resume` is on and the training in the folder was begun with something else.
        SettingError: see `elicit_gym.agents.training.awr.train_awr`.
        MissingExtraError: the extra ``train`` is not installed.
    """

    def __init__(
        self,
        model: Any,
        tokenizer: Any,
        train: Sequence[Window],
        out: Path,
        *,
        dev: Sequence[Window],
        settings: AWRSettings,
        tensorboard: bool,
        resume: bool,
    ) -> None:
        try:
            from accelerate import Accelerator
            from accelerate.utils import set_seed

            from elicit_gym.agents.training.policy_and_value import PolicyAndValue
        except ImportError as error:
            raise MissingExtraError("Training", "train") from error
        self._settings, self._out, self._tokenizer = settings, out, tokenizer
        self._pad = tokenizer.pad_token_id or 0
        self._train = encode_windows(train, tokenizer, max_length=context_length(model))
        self._dev = encode_windows(dev, tokenizer, max_length=context_length(model)) if dev else []
        self._mean, self._std = _scale([value for _, value in self._train], settings)
        method: Method = "awr" if settings.weighted else "sft"
        manifest = training_manifest(method, model, settings, train=train, dev=dev)
        self.accelerator = Accelerator(
            mixed_precision="bf16" if settings.bf16 else "no",
            gradient_accumulation_steps=settings.gradient_accumulation_steps,
        )
        keep_manifest(manifest, out, resume=resume, write=self.accelerator.is_main_process)
        set_seed(settings.seed)
        self._switch_checkpointing = set_checkpointing(model, settings)
        module = PolicyAndValue(_with_lora(model, settings), settings.value_input)
        self._plan()
        optimizer = _make_optimizer(module, settings)
        self.scheduler = _make_scheduler(optimizer, settings.warmup_ratio, self.total)
        self.module, self.optimizer = self.accelerator.prepare(module, optimizer)
        self._inner = self.accelerator.unwrap_model(self.module)
        self.step, self._best = 0, math.inf
        returns = {"mean": self._mean, "std": self._std}
        self.log: dict[str, Any] = {"steps": [], "evaluations": [], "returns": returns}
        base = base_name(model)
        self._saved = {"method": method, "settings": asdict(settings), "returns": returns, "base_model": base}
        self._writer = _tensorboard(out) if tensorboard and self.accelerator.is_main_process else None

    def _plan(self) -> None:
        """Count the steps, and the tokens up to which a batch may keep all that the backward pass needs."""
        settings = self._settings
        self._lengths = [len(example.input_ids) for example, _ in self._train]
        self._per_step = settings.batch_size * self.accelerator.num_processes
        self._steps_per_epoch = -(-len(self._lengths) // self._per_step)
        self.total = settings.max_steps or max(1, settings.epochs * self._steps_per_epoch)
        # The longest batch determines the peak: shorter ones may keep everything, which costs no time.
        selective = settings.gradient_checkpointing == "selective"
        self._roomy = KEEPS_ALL * settings.batch_size * max(self._lengths) if selective else 0

    @property
    def policy(self) -> Any:
        """The language model, with its adapter."""
        return self._inner.policy

    def resume(self) -> None:
        """Go on from the latest whole checkpoint, if there is one."""
        checkpoint = latest_checkpoint(self._out / "checkpoints")
        if checkpoint is None:
            return
        state = load_training_state(checkpoint)
        self.step, self._best, self.log = state["step"], state["best"], state["log"]
        self._inner.load_state_dict(state["module"], strict=False)
        self.optimizer.load_state_dict(state["optimizer"])
        self.scheduler.load_state_dict(state["scheduler"])

    def batches(self) -> Iterator[tuple[float, Batch]]:
        """Yield the batches of all steps to come, each with the weight of this process's part in it.

        The last batch of an epoch may not split evenly. A process then counts by its share, which is 0 where it holds
        a filler only.
        """
        num, index = self.accelerator.num_processes, self.accelerator.process_index
        while self.step < self.total:
            epoch, offset = divmod(self.step, self._steps_per_epoch)
            batches = length_grouped(self._lengths, self._per_step, self._settings.seed, epoch)
            batches = batches[offset : offset + self.total - self.step]
            parts = [batch[index::num] for batch in batches]
            shares = [len(part) * num / len(batch) for part, batch in zip(parts, batches, strict=True)]
            filled = [part or batch[:1] for part, batch in zip(parts, batches, strict=True)]
            yield from zip(shares, iterate(self._train, filled, self._pad, self.accelerator.device), strict=True)

    def checkpoint_layers(self, batch: Batch) -> None:
        """Let a large batch keep less for the backward pass, as the settings say, and a small one everything."""
        self._switch_checkpointing(batch.input_ids.numel() > self._roomy)

    def standardise(self, returns: Any) -> Any:
        """Return the returns of a batch as the value head learns them, shape (B,)."""
        if self._settings.standardise_returns != "batch":
            return (returns - self._mean) / self._std
        std = returns.std() if len(returns) > 1 else returns.new_ones(())
        return (returns - returns.mean()) / std.clamp(min=1e-6)

    def end_step(self, losses: Sequence[Any], weights: Any, share: float) -> None:
        """Count a step and log it over all processes; evaluate and save when it is time.

        Args:
            losses: the total loss, the policy's and the value's.
            weights: the examples' weights, shape (B,).
            share: the weight of this process's part; see `batches`.
        """
        import torch

        self.step += 1
        numbers = torch.stack([*losses, share * weights.mean()]).detach()  # (4,)
        shown = self.accelerator.gather(numbers[None]).mean(dim=0).tolist()
        row = dict(zip(("loss", "policy_loss", "value_loss", "mean_weight"), shown, strict=True))
        largest = self.accelerator.gather(weights.max()[None] * (share > 0)).max()
        self.log["steps"].append({"step": self.step, **row, "max_weight": float(largest)})
        if self._writer is not None:
            for name, value in row.items():
                self._writer.add_scalar(name, value, self.step)
        if not self.accelerator.is_main_process:
            return
        last = self.step >= self.total
        if self._dev and (last or self.step % self._settings.eval_every == 0):
            self.log["evaluations"].append(self._evaluate())
            if self.log["evaluations"][-1]["nll_per_token"] < self._best:
                self._best = self.log["evaluations"][-1]["nll_per_token"]
                self._save_best()
        if last or self.step % self._settings.save_every == 0:
            self._save_checkpoint()

    def close(self) -> None:
        """Write the log, and the policy if no dev windows have chosen it before."""
        if self.accelerator.is_main_process:
            if not self._dev:
                self._save_best()
            write_json(self._out / "log.json", self.log)
        if self._writer is not None:
            self._writer.close()
        self.accelerator.wait_for_everyone()

    def _evaluate(self) -> dict[str, float]:
        """Measure policy and value on the dev windows, in one process only."""
        import torch

        self.module.eval()
        nll, tokens, squared, count = 0.0, 0.0, 0.0, 0
        with torch.no_grad():
            for start in range(0, len(self._dev), self._settings.batch_size):
                chosen = self._dev[start : start + self._settings.batch_size]
                batch = collate(chosen, self._pad, self.accelerator.device)
                log_probs, counts, values = self._inner(batch.input_ids, batch.action_mask)  # (B,) each
                nll -= float(log_probs.sum())
                tokens += float(counts.sum())
                squared += float(((values - self.standardise(batch.returns)) ** 2).sum())
                count += len(values)
        self.module.train()
        return {
            "step": self.step,
            "nll_per_token": nll / tokens,
            "perplexity": math.exp(nll / tokens),
            "value_mse": squared / count,
        }

    def _save_best(self) -> None:
        save_policy(self._out / "best", self.policy, self._tokenizer, self._saved)
        save_value_head(self._inner.head, self._out / "best")

    def _save_checkpoint(self) -> None:
        trained = {n: p.detach().cpu().clone() for n, p in self._inner.named_parameters() if p.requires_grad}
        state = {
            "step": self.step, "best": self._best, "log": self.log, "module": trained,
            "optimizer": self.optimizer.state_dict(), "scheduler": self.scheduler.state_dict(),
        }  # fmt: skip
        write_checkpoint(self._out / "checkpoints", self.step, self.policy, self._tokenizer, self._saved, state)


def _scale(returns: Sequence[float], settings: AWRSettings) -> tuple[float, float]:
    """Return mean and standard deviation to standardise by."""
    if settings.weighted and len(set(returns)) < 2 and len(returns) > 1:
        raise SettingError(
            f"Training by AWR: expected windows with returns that differ, got {returns[0]:g} in all {len(returns)}. "
            "Use rows with returns (the experimental ones), or train by SFT."
        )
    if settings.standardise_returns != "dataset":
        return 0.0, 1.0
    mean = sum(returns) / len(returns)
    variance = sum((value - mean) ** 2 for value in returns) / len(returns)
    return mean, math.sqrt(variance) or 1.0


def _with_lora(model: Any, settings: AWRSettings) -> Any:
    adapter = lora_config(model, settings)
    if adapter is None:
        return model
    from peft import get_peft_model

    return get_peft_model(model, adapter)


def _make_optimizer(module: Any, settings: AWRSettings) -> Any:
    import torch

    policy = [parameter for parameter in module.policy.parameters() if parameter.requires_grad]
    value = list(module.head.parameters())
    groups = [{"params": policy, "lr": settings.policy_lr}, {"params": value, "lr": settings.value_lr}]
    return torch.optim.AdamW(groups, weight_decay=0.0)


def _make_scheduler(optimizer: Any, warmup_ratio: float, total: int) -> Any:
    """Return a schedule that rises over the share of warm-up steps and then falls linearly to 0."""
    import torch

    warmup = max(1, math.ceil(warmup_ratio * total))
    return torch.optim.lr_scheduler.LambdaLR(
        optimizer, lambda s: min((s + 1) / warmup, max(0.0, (total - s) / max(1, total - warmup)))
    )


def _jsonable(settings: Any) -> dict[str, Any]:
    return {key: list(value) if isinstance(value, tuple) else value for key, value in settings.items()}


def _tensorboard(out: Path) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError as error:
        raise MissingExtraError("Writing TensorBoard events", "train") from error
    return SummaryWriter(str(out / "tensorboard"))
