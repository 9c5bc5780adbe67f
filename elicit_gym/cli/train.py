"""The commands that train local models."""

from pathlib import Path
from typing import Annotated, Any

import typer

from elicit_gym.cli import options as o
from elicit_gym.errors import SettingError
from elicit_gym.rollout.collect import DEFAULT_ENV

__all__ = ["train_app"]

train_app = typer.Typer(help="Train a local model on human interviews: SFT or AWR.", no_args_is_help=True)

ModelArgument = Annotated[str, typer.Argument(help="Hub id or folder of a causal language model.")]
RewardOption = Annotated[str, typer.Option("--reward", help="For dataset ids.")]
CacheOption = Annotated[Path | None, typer.Option("--cache", help="SQLite file that keeps entities.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for the policy, its checkpoints and its log.")]
EpochsOption = Annotated[int, typer.Option("--epochs", min=1)]
BatchOption = Annotated[int, typer.Option("--batch-size", min=1, help="Examples a step and process.")]
AccumulationOption = Annotated[int, typer.Option("--accumulation", min=1, help="Steps for one update.")]
LearningRateOption = Annotated[float, typer.Option("--lr", help="Of the policy.")]
Bf16Option = Annotated[bool, typer.Option("--bf16", help="Mixed precision.")]
CheckpointingOption = Annotated[
    str, typer.Option("--gradient-checkpointing", help="none, selective (nearly no time), or full (least memory).")
]
EightBitOption = Annotated[bool, typer.Option("--load-in-8bit", help="Quantize the base model's weights.")]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on from the latest checkpoint in --out.")]
TensorboardOption = Annotated[bool, typer.Option("--tensorboard", help="Write events below --out.")]
SeedOption = Annotated[int, typer.Option("--seed")]


def _prepare(model: str, data: str, split_kwargs: dict[str, Any], load_in_8bit: bool) -> tuple[Any, Any, Any, Any]:
    from elicit_gym.agents.local_model import load_model
    from elicit_gym.offline.load_windows import load_windows

    network, tokenizer = load_model(model, dtype="float32", load_in_8bit=load_in_8bit)
    train = load_windows(data, "train", tokenizer=tokenizer, **split_kwargs)
    try:
        dev = [] if data.endswith(".jsonl") else load_windows(data, "dev", tokenizer=tokenizer, **split_kwargs)
    except SettingError:
        dev = []
    typer.echo(f"{len(train)} training windows, {len(dev)} for choosing the best checkpoint.")
    return network.train(), tokenizer, train, dev


@train_app.command("sft")
def sft_command(
    model: ModelArgument,
    out: OutOption,
    data: o.DataOption = "sample/all-v1",
    path: o.CorpusPathOption = None,
    reward: RewardOption = "factual_novelty",
    cache: CacheOption = None,
    max_tokens: o.WindowTokensOption = 512,
    limit: o.WindowLimitOption = None,
    epochs: EpochsOption = 1,
    batch_size: BatchOption = 4,
    accumulation: AccumulationOption = 1,
    lr: LearningRateOption = 1e-5,
    bf16: Bf16Option = False,
    load_in_8bit: EightBitOption = False,
    gradient_checkpointing: CheckpointingOption = "selective",
    resume: ResumeOption = False,
    tensorboard: TensorboardOption = False,
    seed: SeedOption = 0,
) -> None:
    """Fine-tune on the humans' utterances, through TRL."""
    from elicit_gym.agents.training.settings import TrainingSettings
    from elicit_gym.agents.training.sft import train_sft

    chosen = {"path": path, "reward": reward, "cache": cache, "max_tokens": max_tokens, "limit": limit}
    network, tokenizer, train, dev = _prepare(model, data, chosen, load_in_8bit)
    settings = TrainingSettings(
        policy_lr=lr, epochs=epochs, batch_size=batch_size, accumulation=accumulation, bf16=bf16,
        gradient_checkpointing=gradient_checkpointing,  # type: ignore[arg-type]
        seed=seed,
    )  # fmt: skip
    with o.stoppable(f"Checkpoints are saved; go on with: --resume --out {out}"):
        train_sft(network, tokenizer, train, out, dev=dev, settings=settings, resume=resume, tensorboard=tensorboard)
    typer.echo(f"Policy: {out / 'best'}")


@train_app.command("awr")
def awr_command(
    model: ModelArgument,
    out: OutOption,
    data: o.DataOption = "sample/all-v1",
    path: o.CorpusPathOption = None,
    reward: RewardOption = "factual_novelty",
    cache: CacheOption = None,
    max_tokens: o.WindowTokensOption = 512,
    limit: o.WindowLimitOption = None,
    epochs: EpochsOption = 1,
    batch_size: BatchOption = 4,
    accumulation: AccumulationOption = 1,
    lr: LearningRateOption = 1e-5,
    value_lr: Annotated[float, typer.Option("--value-lr", help="Of the value head.")] = 1e-4,
    alpha: Annotated[float, typer.Option("--alpha", help="Scales the advantage.")] = 0.25,
    beta: Annotated[float, typer.Option("--beta", help="AWR's temperature.")] = 1.0,
    max_weight: Annotated[float, typer.Option("--max-weight", help="Clamp; 0 for none, as published.")] = 20.0,
    value_input: Annotated[str, typer.Option("--value-input", help="history_action or history.")] = "history_action",
    standardise: Annotated[str, typer.Option("--standardise", help="Returns by dataset, batch or none.")] = "dataset",
    bf16: Bf16Option = False,
    load_in_8bit: EightBitOption = False,
    gradient_checkpointing: CheckpointingOption = "selective",
    resume: ResumeOption = False,
    tensorboard: TensorboardOption = False,
    seed: SeedOption = 0,
) -> None:
    """Fine-tune by advantage-weighted regression; spread it with: accelerate launch -m elicit_gym.cli train awr ..."""
    from elicit_gym.agents.training.awr import AWRConfig, train_awr

    if value_input not in ("history", "history_action") or standardise not in ("dataset", "batch", "none"):
        raise SettingError(
            f"Training by AWR: expected --value-input history or history_action and --standardise dataset, batch or "
            f"none, got {value_input!r} and {standardise!r}."
        )
    chosen = {"path": path, "reward": reward, "cache": cache, "max_tokens": max_tokens, "limit": limit}
    network, tokenizer, train, dev = _prepare(model, data, chosen, load_in_8bit)
    config = AWRConfig(
        alpha=alpha, beta=beta, max_weight=max_weight or None, value_input=value_input,  # type: ignore[arg-type]
        standardise_returns=standardise, policy_lr=lr, value_lr=value_lr, epochs=epochs,  # type: ignore[arg-type]
        batch_size=batch_size, accumulation=accumulation, bf16=bf16, seed=seed,
        gradient_checkpointing=gradient_checkpointing,  # type: ignore[arg-type]
    )  # fmt: skip
    with o.stoppable(f"Checkpoints are saved; go on with: --resume --out {out}"):
        train_awr(
            network,
            tokenizer,
            train,
            out,
            dev=dev,
            config=config,
            resume=resume,
            progress=True,
            tensorboard=tensorboard,
        )
    typer.echo(f"Policy: {out / 'best'}")


def _for_training(env: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keep the test scenarios out of training, where nobody chose a split and the environment draws from all."""
    from elicit_gym.rollout.units import sample_environment

    drawn = sample_environment(env, kwargs)
    if drawn.describe_scenarios().split is None and any(scenario.split == "train" for scenario in drawn.scenarios):
        return {**kwargs, "split": "train"}
    return kwargs


@train_app.command("grpo")
def grpo_command(
    model: ModelArgument,
    out: OutOption,
    env: o.EnvOption = DEFAULT_ENV,
    scenarios: o.ScenariosOption = None,
    split: Annotated[
        str | None, typer.Option("--split", help="train or test; train by default, where the scenarios have splits.")
    ] = None,
    max_turns: o.TurnsOption = None,
    steps: Annotated[int, typer.Option("--steps", min=1, help="Updates.")] = 100,
    batch_size: Annotated[int, typer.Option("--batch-size", min=2, help="Conversations an update and process.")] = 8,
    num_generations: Annotated[
        int, typer.Option("--num-generations", min=2, help="Conversations of a scenario that are compared.")
    ] = 4,
    accumulation: AccumulationOption = 1,
    lr: LearningRateOption = 1e-5,
    temperature: Annotated[float, typer.Option("--temperature", help="Of the sampling.")] = 1.0,
    max_new_tokens: Annotated[int, typer.Option("--new-tokens", min=1, help="Longest utterance.")] = 64,
    kl_beta: Annotated[float, typer.Option("--kl-beta", help="Weight of the KL to the starting policy.")] = 0.0,
    bf16: Bf16Option = False,
    load_in_8bit: EightBitOption = False,
    gradient_checkpointing: CheckpointingOption = "selective",
    tensorboard: TensorboardOption = False,
    seed: SeedOption = 0,
) -> None:
    """Train online, on conversations with the simulated user, through TRL's GRPO."""
    from elicit_gym.agents.local_model import load_model
    from elicit_gym.agents.training.grpo import GRPOSettings, train_grpo

    if temperature <= 0:
        raise SettingError(f"Training by GRPO: expected a temperature above 0, got {temperature:g}: it has to sample.")
    settings = GRPOSettings(
        policy_lr=lr, max_steps=steps, batch_size=batch_size, num_generations=num_generations,
        accumulation=accumulation, temperature=temperature, max_new_tokens=max_new_tokens, kl_beta=kl_beta, bf16=bf16,
        gradient_checkpointing=gradient_checkpointing,  # type: ignore[arg-type]
        seed=seed,
    )  # fmt: skip
    network, tokenizer = load_model(model, dtype="float32", load_in_8bit=load_in_8bit)
    with o.stoppable(f"Conversations are saved in {out / 'episodes'}; the policy is not."):
        train_grpo(
            network.train(),
            tokenizer,
            out,
            env_id=env,
            env_kwargs=_for_training(env, o.env_kwargs(scenarios, split, max_turns)),
            settings=settings,
            tensorboard=tensorboard,
        )
    typer.echo(f"Policy: {out / 'best'}")


@train_app.command("merge")
def merge_command(
    policy: Annotated[Path, typer.Argument(help="Folder of a trained policy with an adapter.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the plain model.")],
) -> None:
    """Merge an adapter into its model, for serving."""
    from elicit_gym.agents.local_model import load_model
    from elicit_gym.agents.policy_folder import base_model_of, read_config, save_policy

    config = read_config(policy)
    network, tokenizer = load_model(base_model_of(policy), adapter=policy, dtype="float32")
    save_policy(out, network.merge_and_unload(), tokenizer, {**config, "merged": True})
    typer.echo(f"Model: {out}")
