"""What surrounds AWR's update: set-up, batches, evaluation, checkpoints, resume and the log."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from elicit_gym.agents.batch import collate
from elicit_gym.agents.policy_folder import base_name, save_policy
from elicit_gym.agents.training.checkpoint import latest_checkpoint, load_training_state, write_checkpoint
from elicit_gym.agents.training.data import chunks, collated, encode_windows, length_grouped
from elicit_gym.agents.training.manifest import Method, keep_manifest, training_manifest
from elicit_gym.agents.training.settings import AWRSettings, lora_config, set_checkpointing
from elicit_gym.agents.training.update import Part, Update
from elicit_gym.agents.training.value_head import save_value_head
from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.json_files import write_json
from elicit_gym.offline.model_input import context_length
from elicit_gym.offline.windows import Window
from elicit_gym.strict_json import bad_number, typed

__all__ = ["AWRRun"]

KEEPS_ALL = 0.6
"""Batches of at most this share of the longest one keep everything for the backward pass."""

MEMORY = 0.95
"""The share of the running mean of the weights that is kept from one update to the next."""


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
        step: the number of updates done.
        total: the number of updates in all.
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
        self._mean, self._std = _scale([value for row in self._train for value in row.returns], settings)
        method: Method = "awr" if settings.weighted else "sft"
        manifest = training_manifest(method, model, settings, train=train, dev=dev)
        self.accelerator = Accelerator(mixed_precision="bf16" if settings.bf16 else "no")
        keep_manifest(manifest, out, resume=resume, write=self.accelerator.is_main_process)
        set_seed(settings.seed)
        self._switch_checkpointing = set_checkpointing(model, settings)
        module = PolicyAndValue(_with_lora(model, settings), settings.value_input)
        self._plan()
        optimizer = _make_optimizer(module, settings)
        self.scheduler = _make_scheduler(optimizer, settings.warmup_ratio, self.total)
        self.module, self.optimizer = self.accelerator.prepare(module, optimizer)
        self._inner = self.accelerator.unwrap_model(self.module)
        self.step, self._best, self._mean_raw = 0, math.inf, 1.0
        returns = {"mean": self._mean, "std": self._std}
        self.log: dict[str, Any] = {"steps": [], "evaluations": [], "returns": returns}
        base = base_name(model)
        self._saved = {"method": method, "settings": asdict(settings), "returns": returns, "base_model": base}
        self._writer = _tensorboard(out) if tensorboard and self.accelerator.is_main_process else None

    def _plan(self) -> None:
        """Count the updates, and the tokens up to which a batch may keep all that the backward pass needs."""
        settings = self._settings
        self._lengths = [len(row.input_ids) for row in self._train]
        self._per_batch = settings.batch_size * self.accelerator.num_processes
        self._per_update = self._per_batch * settings.gradient_accumulation_steps
        self._per_epoch = -(-len(self._lengths) // self._per_update)
        self.total = settings.max_steps or max(1, settings.epochs * self._per_epoch)
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
        try:
            self.step, self._best = typed(int, state["step"], "step"), float(state["best"])
            self.log = typed(dict, state["log"], "log")
            self._mean_raw = typed(float, state["mean_raw"], "mean_raw")
            self._inner.load_state_dict(state["module"], strict=False)
            self.optimizer.load_state_dict(state["optimizer"])
            self.scheduler.load_state_dict(state["scheduler"])
        except Exception as error:  # torch raises errors of many kinds for states of another shape
            raise SettingError(
                f"Resuming from {checkpoint}: expected the state of this training, got another or a damaged one "
                f"({type(error).__name__}: {str(error)[:200]}). Remove the folder to start from an earlier one."
            ) from error

    def updates(self) -> Iterator[Update]:
        """Yield all updates to come; the last one of an epoch is made on what is left."""
        while self.step < self.total:
            epoch, offset = divmod(self.step, self._per_epoch)
            groups = length_grouped(self._lengths, self._per_update, self._settings.seed, epoch)
            for indexes in groups[offset : offset + self.total - self.step]:
                rows = [self._train[i] for i in indexes]
                yield Update(
                    batches=chunks(indexes, self._per_batch),
                    num_actions=sum(len(row.spans) for row in rows),
                    num_tokens=sum(row.num_tokens for row in rows),
                )

    def parts(self, update: Update) -> Iterator[Part]:
        """Yield this process's parts of an update; its gradients are shared with the other processes after the last.

        Where there are fewer examples than processes, a process gets a filler, which counts for nothing.
        """
        num, index = self.accelerator.num_processes, self.accelerator.process_index
        for number, indexes in enumerate(update.batches, 1):
            mine = indexes[index::num]
            batch = collated(self._train, mine or indexes[:1], self._pad, self.accelerator.device)
            # A large batch keeps less for the backward pass, as the settings say, and a small one everything.
            self._switch_checkpointing(batch.input_ids.numel() > self._roomy)
            part = Part(batch, num if mine else 0, update)
            if number < len(update.batches):
                with self.accelerator.no_sync(self.module):
                    yield part
            else:
                yield part

    def weight_scale(self, part: Part, raw: Any) -> Any:
        """Return what the weights of a part are divided by, as the settings say.

        Args:
            part: of an update.
            raw: its weights before that, shape (A,).
        """
        import torch

        how = self._settings.normalise_weights
        if how == "none" or not self._settings.weighted:
            return 1.0
        if how == "running":
            return self._mean_raw
        own = torch.stack([raw.sum(), raw.new_tensor(float(len(raw)))]) * (part.share > 0)
        summed, count = self.accelerator.gather(own[None]).sum(dim=0)
        return summed / count

    def standardise(self, returns: Any) -> Any:
        """Return the returns of a batch as the value head learns them, shape (B,)."""
        if self._settings.standardise_returns != "batch":
            return (returns - self._mean) / self._std
        std = returns.std() if len(returns) > 1 else returns.new_ones(())
        return (returns - returns.mean()) / std.clamp(min=1e-6)

    def end_update(self, update: Update) -> None:
        """Count an update and log it over all processes; evaluate and save when it is time."""
        import torch

        self.step += 1
        mine = torch.stack(update.noted)  # (parts, 5)
        numbers = torch.cat([mine[:, :4].sum(dim=0), mine[:, 4].max()[None]])  # (5,)
        gathered = self.accelerator.gather(numbers[None])  # (processes, 5)
        loss_policy, loss_value, weights, raw = gathered[:, :4].sum(dim=0).tolist()
        row = {
            "loss": loss_policy + loss_value, "policy_loss": loss_policy, "value_loss": loss_value,
            "mean_weight": weights / update.num_actions,
        }  # fmt: skip
        if bad_number(row) is not None:  # in every process, and before anything is saved
            raise SettingError(
                f"Training by AWR: expected a finite loss, got {row} at step {self.step}. What was saved before is "
                "sound; lower the learning rates, or look for returns of another scale."
            )
        self._mean_raw = MEMORY * self._mean_raw + (1 - MEMORY) * raw / update.num_actions
        self.log["steps"].append({"step": self.step, **row, "max_weight": float(gathered[:, 4].max())})
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
                log_probs, counts, values = self._inner(batch.input_ids, batch.actions, len(batch.returns))  # (A,) each
                nll -= float(log_probs.sum())
                tokens += float(counts.sum())
                squared += float(((values - self.standardise(batch.returns)) ** 2).sum())
                count += len(values)
        self.module.train()
        return {
            "step": self.step,
            "nll_per_token": nll / tokens,
            "perplexity": math.exp(min(nll / tokens, 700.0)),
            "value_mse": squared / count,
        }

    def _save_best(self) -> None:
        save_policy(self._out / "best", self.policy, self._tokenizer, self._saved)
        save_value_head(self._inner.head, self._out / "best")

    def _save_checkpoint(self) -> None:
        trained = {n: p.detach().cpu().clone() for n, p in self._inner.named_parameters() if p.requires_grad}
        state = {
            "step": self.step, "best": self._best, "log": self.log, "mean_raw": self._mean_raw, "module": trained,
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
    return torch.optim.AdamW(groups, weight_decay=settings.weight_decay)


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
