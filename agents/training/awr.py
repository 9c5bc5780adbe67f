"""Advantage-weighted regression: a flat training loop, read from top to bottom."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from elicit_gym.agents.training.awr_run import AWRRun
from elicit_gym.agents.training.losses import advantage_weights, policy_loss, value_loss
from elicit_gym.agents.training.settings import AWRSettings
from elicit_gym.errors import MissingExtraError
from elicit_gym.offline.windows import Window
from elicit_gym.reporting.progress import progress_bar

__all__ = ["train_awr"]


def train_awr(
    model: Any,
    tokenizer: Any,
    train: Sequence[Window],
    out: str | Path,
    *,
    dev: Sequence[Window] = (),
    settings: AWRSettings | None = None,
    resume: bool = False,
    progress: bool = False,
    tensorboard: bool = False,
) -> dict[str, Any]:
    """Train a causal language model by advantage-weighted regression.

    One forward pass gives hidden states; policy and value are read from them, and logits are made at action positions
    only. An update is made on `batch_size` x `gradient_accumulation_steps` examples in each process; how they are cut
    into batches changes nothing in it, and the last update of an epoch is made on what is left.

    Args:
        model: a Hugging Face causal language model. An adapter is put on it unless ``lora_r`` is 0 or it has one, which
            is then trained on.
        tokenizer: a tokenizer with a chat template and an end token.
        train: the windows to train on, with returns-to-go.
        out: the folder for ``best`` (the policy with the lowest dev loss, or the last one without dev windows),
            ``checkpoints``, ``log.json`` and ``manifest.json``.
        dev: the windows by which the best checkpoint is chosen.
        settings: the paper's values by default.
        resume: continue from the latest whole checkpoint in `out`, on the trajectory of an unbroken run.
        progress: show a progress bar.
        tensorboard: write events below ``out/tensorboard``.

    Returns:
        ``steps``: one row per update (loss, policy_loss, value_loss, mean and largest weight); ``evaluations``.

    Raises:
        SettingError: there are no windows, their returns are all alike, or one is longer than the model's context.
        ManifestMismatchError: `resume` is on, and the training in `out` was begun with something else.
        MissingExtraError: the extra ``train`` is not installed.

    References:
        YIELD, Section 4.2 to 4.4 and 6.1, Equations 2 to 4; Peng et al. (2019). Each difference from the published
        code is named at its setting. A last batch of one window is trained on, and not skipped as NaN.
    """
    try:
        import torch
    except ImportError as error:
        raise MissingExtraError("Training", "train") from error
    settings = settings or AWRSettings()
    run = AWRRun(model, tokenizer, train, Path(out), dev=dev, settings=settings, tensorboard=tensorboard, resume=resume)
    if resume:
        run.resume()
    accelerator, module, optimizer = run.accelerator, run.module, run.optimizer
    module.train()
    with progress_bar("updates", run.total, done=run.step, show=progress and accelerator.is_main_process) as advance:
        for update in run.updates():
            # Dropout derives from (seed, update), so that a resumed run draws what an unbroken one draws.
            torch.manual_seed(settings.seed * 1_000_003 + run.step)
            for part in run.parts(update):
                log_probs, counts, values = module(part.batch.input_ids, part.batch.actions, len(part.batch.returns))
                returns = run.standardise(part.batch.returns)  # (A,), as all of these
                if settings.weighted:
                    raw = advantage_weights(
                        returns, values, alpha=settings.alpha, beta=settings.beta, max_weight=settings.max_weight
                    )
                else:
                    raw = torch.ones_like(values)
                weights = raw / run.weight_scale(part, raw)
                loss_policy = policy_loss(
                    log_probs, counts, weights, reduction=settings.reduction, total=update.total(settings.reduction)
                )
                loss_value = value_loss(values, returns, total=update.num_actions)
                loss = part.share * (loss_policy + loss_value)  # Equation 4
                accelerator.backward(loss)
                part.note(loss_policy, loss_value, weights, raw)
            accelerator.clip_grad_norm_(run.policy.parameters(), settings.max_grad_norm)
            optimizer.step()
            optimizer.zero_grad()
            run.scheduler.step()
            run.end_update(update)
            advance()
    run.close()
    return run.log
