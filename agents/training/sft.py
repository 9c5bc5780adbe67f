"""Supervised fine-tuning through TRL: prompt and completion rows, loss on the completion only."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from elicit_gym.agents.batch import Row
from elicit_gym.agents.policy_folder import base_name, save_policy
from elicit_gym.agents.training.data import encode_windows
from elicit_gym.agents.training.manifest import keep_manifest, training_manifest
from elicit_gym.agents.training.settings import SFTSettings, lora_config, set_checkpointing, trains_on_cpu
from elicit_gym.errors import MissingExtraError
from elicit_gym.json_files import write_json
from elicit_gym.offline.model_input import context_length
from elicit_gym.offline.windows import Window
from elicit_gym.strict_json import without_bad_numbers

__all__ = ["train_sft"]


def train_sft(
    model: Any,
    tokenizer: Any,
    train: Sequence[Window],
    out: str | Path,
    *,
    dev: Sequence[Window] = (),
    settings: SFTSettings | None = None,
    resume: bool = False,
    tensorboard: bool = False,
) -> dict[str, Any]:
    """Fine-tune a causal language model on the humans' utterances.

    The rows hold token ids made by `elicit_gym.offline.model_input` with a completion mask, so that training sees what
    acting and scoring see, whatever the chat template is; TRL does the rest.

    Args:
        model: a Hugging Face causal language model. An adapter is put on it unless ``lora_r`` is 0 or it has one, which
            is then trained on.
        tokenizer: a tokenizer with a chat template and an end token.
        train: the windows to train on.
        out: the folder for ``best`` (the policy with the lowest dev loss, or the last one without dev windows), TRL's
            checkpoints, ``log.json`` and ``manifest.json``.
        dev: the windows by which the best checkpoint is chosen.
        settings: the paper's values by default.
        resume: continue from TRL's latest checkpoint in `out`.
        tensorboard: write events below ``out/trl``.

    Returns:
        ``steps``: TRL's log rows.

    Raises:
        SettingError: there are no windows, or one is longer than the model's context.
        ManifestMismatchError: `resume` is on, and the training in `out` was begun with something else.
        MissingExtraError: the extra ``train`` is not installed.

    References:
        YIELD, Section 6.4.
    """
    try:
        from datasets import Dataset
        from trl import SFTTrainer
    except ImportError as error:
        raise MissingExtraError("Training", "train") from error
    settings = settings or SFTSettings()
    out = Path(out)

    def rows(windows: Sequence[Window]) -> Any:
        encoded = encode_windows(windows, tokenizer, max_length=context_length(model))
        return Dataset.from_list([{"input_ids": row.input_ids, "completion_mask": _mask(row)} for row in encoded])

    manifest = training_manifest("sft", model, settings, train=train, dev=dev)
    set_checkpointing(model, settings)
    trainer = SFTTrainer(
        model=model,
        args=_trl_arguments(settings, out / "trl", len(train), evaluate=bool(dev), tensorboard=tensorboard),
        train_dataset=rows(train),
        eval_dataset=rows(dev) if dev else None,
        processing_class=tokenizer,
        data_collator=_causal_collator(tokenizer.pad_token_id or 0),
        peft_config=lora_config(model, settings),
    )
    keep_manifest(manifest, out, resume=resume, write=trainer.is_world_process_zero())
    checkpoints = list((out / "trl").glob("checkpoint-*"))
    trainer.train(resume_from_checkpoint=bool(resume and checkpoints))
    log = {"steps": without_bad_numbers(trainer.state.log_history)}
    if trainer.is_world_process_zero():
        saved = {
            "method": "sft",
            "settings": asdict(settings),
            "base_model": base_name(model),
        }
        save_policy(out / "best", trainer.accelerator.unwrap_model(trainer.model), tokenizer, saved)
        write_json(out / "log.json", log)
    return log


def _mask(row: Row) -> list[int]:
    mask = [0] * len(row.input_ids)
    for start, end in row.spans:
        mask[start:end] = [1] * (end - start)
    return mask


def _causal_collator(pad_token_id: int) -> Callable[[list[dict[str, Any]]], dict[str, Any]]:
    """Return TRL's collator, with positions in place of the mask.

    Rows are padded on the right, so that under causal attention no token sees the padding, and without a mask the fast
    causal kernels serve (`elicit_gym.agents.training.policy_and_value` does the same).
    """
    import torch
    from trl.trainer.sft_trainer import DataCollatorForLanguageModeling

    collate = DataCollatorForLanguageModeling(pad_token_id=pad_token_id)

    def without_mask(examples: list[dict[str, Any]]) -> dict[str, Any]:
        batch: dict[str, Any] = dict(collate(examples))
        shape = batch.pop("attention_mask").shape  # (B, T)
        return batch | {"position_ids": torch.arange(shape[1]).expand(shape)}

    return without_mask


def _trl_arguments(settings: SFTSettings, out: Path, windows: int, *, evaluate: bool, tensorboard: bool) -> Any:
    from trl import SFTConfig

    steps = settings.max_steps or settings.epochs * -(
        -windows // (settings.batch_size * settings.gradient_accumulation_steps)
    )
    every = min(settings.eval_every, steps)
    return SFTConfig(
        output_dir=str(out),
        trust_remote_code=False,
        learning_rate=settings.policy_lr,
        num_train_epochs=settings.epochs,
        max_steps=settings.max_steps or -1,
        per_device_train_batch_size=settings.batch_size,
        per_device_eval_batch_size=settings.batch_size,
        train_sampling_strategy="group_by_length",
        gradient_accumulation_steps=settings.gradient_accumulation_steps,
        warmup_steps=max(1, round(settings.warmup_ratio * steps)),
        bf16=settings.bf16,
        use_cpu=trains_on_cpu(),
        gradient_checkpointing=False,  # set on the model already
        completion_only_loss=True,
        max_length=None,
        eval_strategy="steps" if evaluate else "no",
        eval_steps=every,
        save_strategy="steps",
        save_steps=every,
        save_total_limit=2,
        load_best_model_at_end=evaluate,
        logging_steps=max(1, every // 10),
        report_to=["tensorboard"] if tensorboard else [],
        seed=settings.seed,
        data_seed=settings.seed,
    )
