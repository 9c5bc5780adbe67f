"""The commands that train local models."""

from pathlib import Path
from typing import Annotated, Any

import typer

from elicit_gym.agents.training.settings import AWRSettings, GRPOSettings, SFTSettings, TrainingSettings
from elicit_gym.cli import data_options as d
from elicit_gym.cli import options as o
from elicit_gym.cli.command import Command, command_group, takes_settings
from elicit_gym.errors import SettingError
from elicit_gym.reporting.terminal import echo
from elicit_gym.rollout.collect import DEFAULT_ENV

__all__ = ["train_app"]

train_app = command_group(
    "Train a local model: on human interviews by SFT or AWR, or on its own conversations by GRPO."
)

ModelArgument = Annotated[
    str,
    typer.Argument(
        help=(
            "Train this base model (an id on the Hugging Face hub, or a folder), or go on with the trained policy in "
            "this folder."
        )
    ),
]
OutOption = Annotated[Path, o.out_option("The folder gets the policy, its checkpoints and a log.")]
EightBitOption = Annotated[
    bool, typer.Option("--load-in-8bit", help="Load the base model with its weights quantized to 8 bits.")
]
TensorboardOption = Annotated[
    bool, typer.Option("--tensorboard", help="Write events for TensorBoard into the folder, too.")
]


def _start(model: str, settings: TrainingSettings, load_in_8bit: bool) -> tuple[Any, Any]:
    from elicit_gym.agents.training.start import load_for_training

    network, tokenizer, remark = load_for_training(model, settings, load_in_8bit=load_in_8bit)
    if remark is not None:
        echo(remark)
    return network, tokenizer


def _prepare(
    model: str, data: str, split_kwargs: dict[str, Any], settings: TrainingSettings, load_in_8bit: bool
) -> tuple[Any, Any, Any, Any]:
    from elicit_gym.offline.load_windows import has_splits, load_windows

    network, tokenizer = _start(model, settings, load_in_8bit)
    train = load_windows(data, "train", tokenizer=tokenizer, **split_kwargs)
    try:
        dev = []
        if has_splits(data, split_kwargs["path"]):
            dev = load_windows(data, "dev", tokenizer=tokenizer, **split_kwargs)
    except SettingError:
        dev = []
    echo(f"{len(train)} training windows, {len(dev)} for choosing the best checkpoint.")
    return network, tokenizer, train, dev


@train_app.command("sft", cls=Command)
@takes_settings(SFTSettings)
def sft_command(
    model: ModelArgument,
    out: OutOption,
    settings: SFTSettings,
    data: d.DataOption = "sample/all-v1",
    path: d.PathOption = None,
    reward: d.RewardOption = "factual_novelty",
    entity_cache: d.EntityCacheOption = None,
    max_window_tokens: d.WindowTokensOption = 512,
    limit: d.WindowLimitOption = None,
    load_in_8bit: EightBitOption = False,
    resume: o.ResumeOption = False,
    tensorboard: TensorboardOption = False,
) -> None:
    """Fine-tune on the humans' utterances, through TRL."""
    from elicit_gym.agents.training.sft import train_sft

    chosen = {"path": path, "reward": reward, "cache": entity_cache, "max_tokens": max_window_tokens, "limit": limit}
    with o.alone_in(out), o.stoppable(f"Checkpoints are saved; go on with: --resume --out {out}"):
        network, tokenizer, train, dev = _prepare(model, data, chosen, settings, load_in_8bit)
        train_sft(network, tokenizer, train, out, dev=dev, settings=settings, resume=resume, tensorboard=tensorboard)
    echo(f"Policy: {out / 'best'}")


@train_app.command("awr", cls=Command)
@takes_settings(AWRSettings)
def awr_command(
    model: ModelArgument,
    out: OutOption,
    settings: AWRSettings,
    data: d.DataOption = "sample/all-v1",
    path: d.PathOption = None,
    reward: d.RewardOption = "factual_novelty",
    entity_cache: d.EntityCacheOption = None,
    max_window_tokens: d.WindowTokensOption = 512,
    limit: d.WindowLimitOption = None,
    load_in_8bit: EightBitOption = False,
    resume: o.ResumeOption = False,
    tensorboard: TensorboardOption = False,
) -> None:
    """Fine-tune by advantage-weighted regression.

    It runs in several processes when 'elicit-gym' is replaced by 'accelerate launch -m elicit_gym.cli'.
    """
    from elicit_gym.agents.training.awr import train_awr

    chosen = {"path": path, "reward": reward, "cache": entity_cache, "max_tokens": max_window_tokens, "limit": limit}
    with o.alone_in(out), o.stoppable(f"Checkpoints are saved; go on with: --resume --out {out}"):
        network, tokenizer, train, dev = _prepare(model, data, chosen, settings, load_in_8bit)
        train_awr(
            network,
            tokenizer,
            train,
            out,
            dev=dev,
            settings=settings,
            resume=resume,
            progress=True,
            tensorboard=tensorboard,
        )
    echo(f"Policy: {out / 'best'}")


def _for_training(env: str, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Keep the test scenarios out of training, where nobody chose a split and the environment draws from all."""
    from elicit_gym.rollout.units import sample_environment

    drawn = sample_environment(env, kwargs)
    if drawn.describe_scenarios().split is None and any(scenario.split == "train" for scenario in drawn.scenarios):
        return {**kwargs, "split": "train"}
    return kwargs


@train_app.command("grpo", cls=Command)
@takes_settings(GRPOSettings)
def grpo_command(
    model: ModelArgument,
    out: OutOption,
    settings: GRPOSettings,
    env: o.EnvOption = DEFAULT_ENV,
    scenarios: o.ScenariosOption = None,
    split: o.SplitOption = None,
    max_turns: o.TurnsOption = None,
    load_in_8bit: EightBitOption = False,
    tensorboard: TensorboardOption = False,
) -> None:
    """Train online, on conversations with the simulated user, through TRL's GRPO."""
    from elicit_gym.agents.training.grpo import train_grpo

    with o.alone_in(out), o.stoppable(f"Conversations are saved in {out / 'episodes'}; the policy is not."):
        network, tokenizer = _start(model, settings, load_in_8bit)
        train_grpo(
            network,
            tokenizer,
            out,
            env_id=env,
            env_kwargs=_for_training(env, o.env_kwargs(scenarios, split, max_turns)),
            settings=settings,
            tensorboard=tensorboard,
        )
    echo(f"Policy: {out / 'best'}")


@train_app.command("merge", cls=Command)
def merge_command(
    policy: Annotated[Path, typer.Argument(help="Merge the trained policy in this folder.")],
    out: Annotated[Path, o.out_option("The folder gets the plain model.")],
) -> None:
    """Merge an adapter into its model, for serving."""
    from elicit_gym.agents.local_model import load_model
    from elicit_gym.agents.policy_folder import base_model_of, read_config, save_policy
    from elicit_gym.files import check_output

    check_output(out, [policy])
    config = read_config(policy)
    network, tokenizer = load_model(base_model_of(policy), adapter=policy, dtype="float32")
    save_policy(out, network.merge_and_unload(), tokenizer, {**config, "merged": True})
    echo(f"Model: {out}")
