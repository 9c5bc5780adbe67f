"""Online reinforcement learning in InfoQuest through TRL's GRPOTrainer: whole conversations with one return each."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from elicit_gym.agents.policy_folder import base_name, save_policy
from elicit_gym.agents.sampling import RowNoise, generate
from elicit_gym.agents.training.conversation_tokens import ConversationTokens
from elicit_gym.agents.training.manifest import keep_manifest, training_manifest
from elicit_gym.agents.training.settings import (
    GRPOSettings,
    lora_config,
    set_checkpointing,
    trains_on_cpu,
)
from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.json_files import write_json
from elicit_gym.offline.model_input import context_length, end_token_id
from elicit_gym.parts import json_types, kind_of
from elicit_gym.rollout.collect import DEFAULT_ENV
from elicit_gym.rollout.lock_step import step_together
from elicit_gym.rollout.manifest import RunManifest, describe_run
from elicit_gym.rollout.run_episode import EpisodeUnderWay
from elicit_gym.rollout.storage import RunStore
from elicit_gym.rollout.units import make_env, sample_environment
from elicit_gym.seeding import unit_seed
from elicit_gym.strict_json import without_bad_numbers
from elicit_gym.types import Description

__all__ = ["train_grpo"]


def train_grpo(
    model: Any,
    tokenizer: Any,
    out: str | Path,
    *,
    env_id: str = DEFAULT_ENV,
    env_kwargs: Mapping[str, Any] | None = None,
    settings: GRPOSettings | None = None,
    tensorboard: bool = False,
) -> dict[str, Any]:
    """Train a causal language model on its own conversations with the simulated user.

    Each update plays `batch_size` conversations in lock-step (as `elicit_gym.rollout.lock_step` does), the policy's
    tokens are kept as they were sampled, the user's turns between them are masked out of the loss, and the episode's
    return is the only reward. All conversations are kept as ``episodes.jsonl``, with the update in the policy's name.

    Args:
        model: a Hugging Face causal language model. An adapter is put on it unless ``lora_r`` is 0 or it has one, which
            is then trained on.
        tokenizer: with a chat template and an end token.
        out: gets ``best`` (the policy at the end), ``episodes`` (with a folder for each of several processes), TRL's
            checkpoints, ``log.json`` and ``manifest.json``.
        env_id: an InfoQuest environment.
        env_kwargs: its arguments.
        settings: see there.
        tensorboard: write events below ``out/trl``.

    Returns:
        ``steps``: TRL's log rows.

    Raises:
        SettingError: a conversation outgrows the model's context.
        MissingExtraError: the extra ``train`` is not installed.

    References:
        Shao et al. (2024), "DeepSeekMath", for GRPO; TRL's ``rollout_func`` for the rest.
    """
    try:
        from datasets import Dataset
        from trl import GRPOTrainer
    except ImportError as error:
        raise MissingExtraError("Training", "train") from error
    settings = settings or GRPOSettings()
    out = Path(out)
    player = _Player(tokenizer, env_id, dict(env_kwargs or {}), settings, out / "episodes")
    manifest = training_manifest("grpo", model, settings, run=player.describe())
    player.base_sha256 = manifest.base_sha256
    set_checkpointing(model, settings)
    try:
        trainer = GRPOTrainer(
            model=model,
            reward_funcs=_episode_return,
            args=_trl_arguments(settings, out / "trl", tensorboard=tensorboard),
            # TRL passes on the prompt alone: it is the scenario's id, and the player knows the rest.
            train_dataset=Dataset.from_list([{"prompt": scenario.id} for scenario in player.scenarios]),
            processing_class=tokenizer,
            peft_config=lora_config(model, settings),
            rollout_func=player,
        )
        keep_manifest(manifest, out, resume=False, write=trainer.is_world_process_zero())
        trainer.train()
    finally:
        player.close()
    log = {"steps": without_bad_numbers(trainer.state.log_history)}
    if trainer.is_world_process_zero():
        saved = {"method": "grpo", "settings": asdict(settings), "base_model": base_name(model), "env_id": env_id}
        save_policy(out / "best", trainer.accelerator.unwrap_model(trainer.model), tokenizer, saved)
        write_json(out / "log.json", log)
    return log


def _episode_return(prompts: Sequence[Any], episode_return: Sequence[float | None], **_: Any) -> list[float | None]:
    return list(episode_return)


class _Player:
    """Plays the conversations that TRL asks for."""

    def __init__(
        self, tokenizer: Any, env_id: str, env_kwargs: dict[str, Any], settings: GRPOSettings, folder: Path
    ) -> None:
        self._tokenizer, self._env_id, self._env_kwargs, self._settings = tokenizer, env_id, env_kwargs, settings
        self._sample = sample_environment(env_id, env_kwargs)
        self.scenarios = self._sample.scenarios
        self._end = end_token_id(tokenizer)
        self.base_sha256: str | None = None  # of the model that training starts from, for the episodes' manifest
        self._played = 0
        self._folder = folder
        self._store: RunStore | None = None

    def close(self) -> None:
        if self._store is not None:
            self._store.close()

    def describe(self) -> RunManifest:
        """Describe the run that the conversations are."""
        settings = json_types(asdict(self._settings), "the settings")
        policy = Description(name="grpo", kind=kind_of(self), weights_sha256=self.base_sha256, settings=settings)
        return describe_run(self._sample, [policy], repeats=1, seed=self._settings.seed)

    def _opened(self, accelerator: Any) -> RunStore:
        """Open the store on the first call, when the process knows its number: each process has its own file."""
        if self._store is None:
            alone = accelerator.num_processes == 1
            folder = self._folder if alone else self._folder / f"process-{accelerator.process_index}"
            self._store = RunStore(folder, self.describe(), resume=folder.exists())
        return self._store

    def __call__(self, prompts: Sequence[str], trainer: Any) -> dict[str, Any]:
        """Play one conversation per prompt; prompts come repeated `num_generations` times."""
        import torch

        step = int(trainer.state.global_step)
        accelerator = trainer.accelerator
        model = accelerator.unwrap_model(trainer.model)
        store = self._opened(accelerator)
        # Numbers that no other conversation of the run has, in whatever process; the seeds derive from them.
        first = self._played * accelerator.num_processes + accelerator.process_index
        repeats = range(first, first + len(prompts) * accelerator.num_processes, accelerator.num_processes)
        self._played += len(prompts)
        episodes = [
            EpisodeUnderWay(
                make_env(self._env_id, self._env_kwargs, self._sample.parts), f"step-{step}", scenario_id=scenario_id,
                repeat=repeat, seed=self._settings.seed,
            )
            for scenario_id, repeat in zip(prompts, repeats, strict=True)
        ]  # fmt: skip
        for episode in episodes:
            episode.start()
        tokens = [ConversationTokens(self._tokenizer, episode.history) for episode in episodes]
        was_training = model.training
        model.eval()
        try:
            with torch.inference_mode():
                while any(not episode.done for episode in episodes):
                    self._round(model, episodes, tokens)
        finally:
            model.train(was_training)
        records = [episode.record() for episode in episodes]
        for record in records:
            store.append(record)
        return {
            "prompt_ids": [t.prompt_ids for t in tokens],
            "completion_ids": [t.completion_ids for t in tokens],
            "logprobs": None,
            "env_mask": [t.mask for t in tokens],
            # A failed episode has no return: TRL leaves a None out of the group's baseline.
            "episode_return": [None if r.failure else r.episode.total_reward for r in records],
        }

    def _round(self, model: Any, episodes: Sequence[EpisodeUnderWay], tokens: Sequence[ConversationTokens]) -> None:
        active = [i for i, episode in enumerate(episodes) if not episode.done]
        rows = [tokens[i].ids for i in active]
        limit, settings = context_length(model), self._settings
        if limit is not None and max(map(len, rows)) + settings.max_new_tokens > limit:
            raise SettingError(
                f"Training by GRPO: expected conversations that fit into the model's {limit} tokens, got one of "
                f"{max(map(len, rows))} with {settings.max_new_tokens} to come. Lower max_turns or max_new_tokens."
            )
        seeds = [unit_seed(episodes[i].policy_seed, episodes[i].next_turn) for i in active]
        sampled = generate(
            model, self._tokenizer, rows, max_new_tokens=settings.max_new_tokens, end=self._end,
            processors=[RowNoise(seeds, settings.temperature)],
        )  # fmt: skip
        actions = [tokens[i].say(ids) for i, ids in zip(active, sampled, strict=True)]
        step_together([episodes[i] for i in active], actions)
        for i in active:
            if not episodes[i].done:
                tokens[i].hear(episodes[i].history)


def _trl_arguments(settings: GRPOSettings, out: Path, *, tensorboard: bool) -> Any:
    from trl import GRPOConfig

    return GRPOConfig(
        output_dir=str(out),
        trust_remote_code=False,
        learning_rate=settings.policy_lr,
        max_steps=settings.max_steps or -1,
        num_train_epochs=settings.epochs,
        warmup_steps=min(settings.warmup_ratio, 1 - 1e-9),  # below 1 it is a share of all steps
        per_device_train_batch_size=settings.batch_size,
        gradient_accumulation_steps=settings.gradient_accumulation_steps,
        num_generations=settings.num_generations,
        temperature=settings.temperature,
        beta=settings.kl_beta,
        bf16=settings.bf16,
        use_cpu=trains_on_cpu(),
        gradient_checkpointing=False,  # set on the model already
        save_strategy="steps",
        save_steps=settings.save_every,
        save_total_limit=1,
        logging_steps=1,
        report_to=["tensorboard"] if tensorboard else [],
        seed=settings.seed,
        data_seed=settings.seed,
    )
