"""The commands that train local models and evaluate policies on YIELD."""

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elicit_gym import cli_options as o
from elicit_gym.errors import SettingError

if TYPE_CHECKING:
    from elicit_gym.offline.windows import Window

__all__ = ["evaluate_command", "train_app"]

train_app = typer.Typer(help="Train a local model on human interviews: SFT or AWR.", no_args_is_help=True)

ModelArgument = Annotated[str, typer.Argument(help="Hub id or folder of a causal language model.")]
DataOption = Annotated[
    str, typer.Option("--data", help="A dataset id (data list), a built Arrow file, or released JSON lines of windows.")
]
PathOption = Annotated[Path | None, typer.Option("--path", help="A local copy of the corpus.")]
OutOption = Annotated[Path, typer.Option("--out", help="Folder for the policy, its checkpoints and its log.")]
RewardOption = Annotated[str, typer.Option("--reward", help="For dataset ids.")]
CacheOption = Annotated[Path | None, typer.Option("--cache", help="SQLite file that keeps entities.")]
MaxTokensOption = Annotated[int, typer.Option("--max-tokens", min=8, help="Longer windows are left out.")]
LimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Use so many windows only.")]
EpochsOption = Annotated[int, typer.Option("--epochs", min=1)]
BatchOption = Annotated[int, typer.Option("--batch-size", min=1, help="Examples a step and process.")]
AccumulationOption = Annotated[int, typer.Option("--accumulation", min=1, help="Steps for one update.")]
LearningRateOption = Annotated[float, typer.Option("--lr", help="Of the policy.")]
Bf16Option = Annotated[bool, typer.Option("--bf16", help="Mixed precision.")]
CheckpointingOption = Annotated[bool, typer.Option("--gradient-checkpointing", help="Less memory, more time.")]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Go on from the latest checkpoint in --out.")]
TensorboardOption = Annotated[bool, typer.Option("--tensorboard", help="Write events below --out.")]
SeedOption = Annotated[int, typer.Option("--seed")]


def load_windows(
    data: str,
    split: str | None,
    *,
    path: Path | None = None,
    reward: str = "factual_novelty",
    cache: Path | None = None,
    max_tokens: int = 512,
    limit: int | None = None,
    tokenizer: Any = None,
) -> "list[Window]":
    """Load windows from a dataset id, a built file, or released rows.

    Raises:
        SettingError: there are none.
    """
    from elicit_gym.offline.dataset import OfflineDataset
    from elicit_gym.offline.datasets import load_dataset
    from elicit_gym.offline.exports import read_published
    from elicit_gym.offline.windows import WindowRules, chat_template_counter

    if data.endswith(".jsonl"):
        windows = list(read_published(data))
    else:
        if Path(data).is_file():
            dataset = OfflineDataset.open(data).filter(split=split)
        else:
            dataset = load_dataset(data, split=split, path=path, reward=reward, cache=cache)
        rules = WindowRules(max_tokens=max_tokens)
        if tokenizer is not None:
            rules = WindowRules(max_tokens=max_tokens, count_tokens=chat_template_counter(tokenizer))
        windows = list(dataset.windows(rules, Counter()))
    if not windows:
        raise SettingError(f"Loading windows from {data}: expected some in split {split!r}, got none. Check the data.")
    return windows[:limit]


def _prepare(model: str, data: str, split_kwargs: dict[str, Any]) -> tuple[Any, Any, Any, Any]:
    from elicit_gym.agents.local_model import load_model

    network, tokenizer = load_model(model, dtype="float32")
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
    data: DataOption = "sample/all-v1",
    path: PathOption = None,
    reward: RewardOption = "factual_novelty",
    cache: CacheOption = None,
    max_tokens: MaxTokensOption = 512,
    limit: LimitOption = None,
    epochs: EpochsOption = 1,
    batch_size: BatchOption = 4,
    accumulation: AccumulationOption = 1,
    lr: LearningRateOption = 1e-5,
    bf16: Bf16Option = False,
    gradient_checkpointing: CheckpointingOption = False,
    resume: ResumeOption = False,
    tensorboard: TensorboardOption = False,
    seed: SeedOption = 0,
) -> None:
    """Fine-tune on the humans' utterances, through TRL."""
    from elicit_gym.agents.sft import train_sft
    from elicit_gym.agents.training_settings import TrainingSettings

    chosen = {"path": path, "reward": reward, "cache": cache, "max_tokens": max_tokens, "limit": limit}
    network, tokenizer, train, dev = _prepare(model, data, chosen)
    settings = TrainingSettings(
        policy_lr=lr, epochs=epochs, batch_size=batch_size, accumulation=accumulation, bf16=bf16,
        gradient_checkpointing=gradient_checkpointing, seed=seed,
    )  # fmt: skip
    with o.stoppable(f"Checkpoints are saved; go on with: --resume --out {out}"):
        train_sft(network, tokenizer, train, out, dev=dev, settings=settings, resume=resume, tensorboard=tensorboard)
    typer.echo(f"Policy: {out / 'best'}")


@train_app.command("awr")
def awr_command(
    model: ModelArgument,
    out: OutOption,
    data: DataOption = "sample/all-v1",
    path: PathOption = None,
    reward: RewardOption = "factual_novelty",
    cache: CacheOption = None,
    max_tokens: MaxTokensOption = 512,
    limit: LimitOption = None,
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
    gradient_checkpointing: CheckpointingOption = False,
    resume: ResumeOption = False,
    tensorboard: TensorboardOption = False,
    seed: SeedOption = 0,
) -> None:
    """Fine-tune by advantage-weighted regression; spread it with: accelerate launch -m elicit_gym.cli train awr ..."""
    from elicit_gym.agents.awr import AWRConfig, train_awr

    if value_input not in ("history", "history_action") or standardise not in ("dataset", "batch", "none"):
        raise SettingError(
            f"Training by AWR: expected --value-input history or history_action and --standardise dataset, batch or "
            f"none, got {value_input!r} and {standardise!r}."
        )
    chosen = {"path": path, "reward": reward, "cache": cache, "max_tokens": max_tokens, "limit": limit}
    network, tokenizer, train, dev = _prepare(model, data, chosen)
    config = AWRConfig(
        alpha=alpha, beta=beta, max_weight=max_weight or None, value_input=value_input,  # type: ignore[arg-type]
        standardise_returns=standardise, policy_lr=lr, value_lr=value_lr, epochs=epochs,  # type: ignore[arg-type]
        batch_size=batch_size, accumulation=accumulation, bf16=bf16, gradient_checkpointing=gradient_checkpointing,
        seed=seed,
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


@train_app.command("merge")
def merge_command(
    policy: Annotated[Path, typer.Argument(help="Folder of a trained policy with an adapter.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the plain model.")],
) -> None:
    """Merge an adapter into its model, for serving."""
    from elicit_gym.agents.checkpoint import read_config, save_policy
    from elicit_gym.agents.local_model import load_model

    config = read_config(policy)
    network, tokenizer = load_model(config["base_model"], adapter=policy, dtype="float32")
    save_policy(out, network.merge_and_unload(), tokenizer, {**config, "merged": True})
    typer.echo(f"Model: {out}")


def evaluate_command(
    policies: Annotated[list[str], typer.Argument(help="hf:MODEL, folders of trained policies, litellm:MODEL, ...")],
    data: DataOption = "sample/all-v1",
    split: Annotated[str, typer.Option("--split")] = "test",
    path: PathOption = None,
    reward: RewardOption = "reply_length",
    max_tokens: MaxTokensOption = 512,
    limit: LimitOption = None,
    tokenizer: Annotated[
        str | None, typer.Option("--tokenizer", help="For lengths; of the first local model by default.")
    ] = None,
    encoder: Annotated[
        str, typer.Option("--encoder", help="sentence-transformers model for Progression.")
    ] = "sentence-transformers/all-MiniLM-L12-v2",
    system_prompt: o.SystemPromptOption = "plain",
    api_base: o.ApiBaseOption = None,
    new_tokens: Annotated[int, typer.Option("--new-tokens", min=1, help="Longest utterance.")] = 128,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for the numbers and samples.")] = None,
) -> None:
    """Measure policies against real elicitors on test windows: the paper's Tables 6, 7 and 8."""
    from elicit_gym.agents import load_policy
    from elicit_gym.agents.evaluate_yield import evaluate_yield
    from elicit_gym.agents.local_model import LocalPolicy
    from elicit_gym.agents.yield_metrics import load_encoder
    from elicit_gym.agents.yield_tables import print_yield_evaluation
    from elicit_gym.offline.model_input import count_text_tokens
    from elicit_gym.offline.windows import count_simple_tokens
    from elicit_gym.types import Message

    loaded = [
        load_policy(spec, system_prompt=system_prompt, api_base=api_base, max_tokens=new_tokens) for spec in policies
    ]
    windows = load_windows(data, split, path=path, reward=reward, max_tokens=max_tokens, limit=limit)
    local = next((policy for policy in loaded if isinstance(policy, LocalPolicy)), None)
    if tokenizer is not None:
        from transformers import AutoTokenizer

        made = AutoTokenizer.from_pretrained(tokenizer)

        def count(texts: Any) -> list[int]:
            return count_text_tokens(made, texts)
    elif local is not None:
        count = local.count_tokens
    else:

        def count(texts: Any) -> list[int]:
            return [count_simple_tokens([Message(role="user", content=text)]) - 4 for text in texts]

    control = _shuffled_windows(data, split, path, max_tokens, limit)
    with o.stoppable("Nothing was saved."):
        result = evaluate_yield(
            loaded, windows, encoder=load_encoder(encoder), count_tokens=count, shuffled=control, progress=True
        )
    print_yield_evaluation(result)
    if out is not None:
        typer.echo(f"\nNumbers: {result.save(out)}")


def _shuffled_windows(
    data: str, split: str, path: Path | None, max_tokens: int, limit: int | None
) -> "list[Window] | None":
    """Return windows of the shuffled control corpus, where the data come from a corpus."""
    from elicit_gym.offline.corpora import load_corpus
    from elicit_gym.offline.dataset import OfflineDataset
    from elicit_gym.offline.rewards import ReplyLength
    from elicit_gym.offline.windows import WindowRules

    if Path(data).is_file():
        return None
    corpus, _, part = data.partition("/")
    dialogues = load_corpus(corpus, split, path=path)
    domain = part.removesuffix("-v1")
    chosen = dialogues if domain == "all" else dialogues.filter(domain=domain)
    dataset = OfflineDataset.from_dialogues(chosen.shuffled(), ReplyLength())
    return list(dataset.windows(WindowRules(max_tokens=max_tokens)))[:limit] or None
