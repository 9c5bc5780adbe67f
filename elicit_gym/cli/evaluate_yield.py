"""The command that measures policies against real elicitors."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elicit_gym.cli import data_options as d
from elicit_gym.cli import model_options as m
from elicit_gym.cli import options as o
from elicit_gym.errors import SettingError
from elicit_gym.offline.evaluation.estimates import ALL_METRICS, METRICS, OF_EMBEDDINGS, Metric
from elicit_gym.registry import unknown_name
from elicit_gym.reporting.terminal import echo

if TYPE_CHECKING:
    from elicit_gym.offline.evaluation.estimates import TokenCounter

__all__ = ["evaluate_command"]


def evaluate_command(
    policies: Annotated[list[str], m.POLICIES],
    data: d.DataOption = "sample/all-v1",
    split: d.DataSplitOption = "test",
    path: d.PathOption = None,
    max_window_tokens: d.WindowTokensOption = 512,
    limit: d.WindowLimitOption = None,
    metric: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="Measure this alone; give it several times for several. Without it, all is measured but the published "
            "turn-length ratio. Only 'progression' and 'similarity' need an encoder.",
        ),
    ] = None,
    tokenizer: d.TokenizerOption = None,
    encoder: Annotated[
        str,
        typer.Option(
            "--encoder", help="Measure Progression and similarity with this sentence-transformers model or folder."
        ),
    ] = "sentence-transformers/all-MiniLM-L12-v2",
    progression_turns: Annotated[
        int, typer.Option("--progression-turns", min=1, help="Let Progression look back this many turns.")
    ] = 5,
    progression_decay: Annotated[
        float,
        typer.Option(
            "--progression-decay",
            help="Let each further turn back count less in Progression by this factor, above 0 and at most 1.",
        ),
    ] = 0.5,
    system_prompt: m.SystemPromptOption = "plain",
    api_base: m.ApiBaseOption = None,
    temperature: m.TemperatureOption = None,
    max_new_tokens: Annotated[int, m.MAX_NEW_TOKENS] = 128,
    out: Annotated[
        Path | None, o.out_option("Without it, the numbers are only printed; with it, a report is written, too.")
    ] = None,
    resume: o.ResumeOption = False,
) -> None:
    """Measure policies against real elicitors on test windows, as in the paper's Tables 6, 7 and 8."""
    from elicit_gym.agents import load_policy
    from elicit_gym.offline.evaluation.answers import AnswerFile, evaluation_manifest
    from elicit_gym.offline.evaluation.evaluate import evaluate_yield
    from elicit_gym.offline.evaluation.metrics import load_encoder
    from elicit_gym.offline.evaluation.report import write_yield_report
    from elicit_gym.offline.evaluation.tables import print_yield_evaluation
    from elicit_gym.offline.load_windows import load_shuffled_windows, load_tokenizer, load_windows

    metrics = _checked_metrics(metric)
    if not 0 < progression_decay <= 1:
        raise SettingError(
            f"Evaluating on YIELD: expected --progression-decay above 0 and at most 1, got {progression_decay:g}. "
            "Choose another value."
        )
    if resume and out is None:
        raise SettingError("Resuming: expected the folder of the evaluation, got none. Name it with --out.")
    # What the work needs comes before it: whoever lacks the encoder learns it now and not after the last answer.
    loaded = [
        load_policy(
            spec, system_prompt=system_prompt, api_base=api_base, temperature=temperature, max_tokens=max_new_tokens
        )
        for spec in policies
    ]
    encode = load_encoder(encoder) if OF_EMBEDDINGS & set(metrics) else None
    counting = load_tokenizer(tokenizer) if tokenizer is not None else None
    of_windows: dict[str, Any] = {
        "path": path, "max_tokens": max_window_tokens, "limit": limit, "tokenizer": counting,
    }  # fmt: skip
    windows = load_windows(data, split, reward="reply_length", **of_windows)
    shuffled = load_shuffled_windows(data, split, **of_windows)
    count = _token_counter(counting, loaded)
    manifest = evaluation_manifest(
        loaded,
        windows,
        data=f"{data} {split}",
        settings={
            "max_new_tokens": max_new_tokens,
            "temperature": temperature,
            "encoder": encoder,
            "k": progression_turns,
            "gamma": progression_decay,
        },
    )
    advice = "Nothing was saved." if out is None else f"Answers are saved; go on with: --resume --out {out}"
    with o.alone_in(out), o.stoppable(advice):
        store = AnswerFile(out, manifest, resume=resume) if out is not None else None
        result = evaluate_yield(
            loaded, windows, encoder=encode, count_tokens=count, metrics=metrics, k=progression_turns,
            gamma=progression_decay, shuffled=shuffled, store=store, progress=True,
        )  # fmt: skip
        report = write_yield_report(result, out, manifest) if out is not None else None
    print_yield_evaluation(result)
    if report is not None:
        echo(f"\nReport: {report}")


def _checked_metrics(names: Sequence[str] | None) -> tuple[Metric, ...]:
    for name in names or ():
        if name not in ALL_METRICS:
            raise unknown_name("metric", name, ALL_METRICS)
    return tuple(metric for metric in ALL_METRICS if metric in (names or METRICS))


def _token_counter(tokenizer: Any, policies: Sequence[Any]) -> "TokenCounter":
    """Return a counter: the tokenizer that was named, else the first local model's, else words and punctuation."""
    from elicit_gym.agents.local_policy import LocalPolicy
    from elicit_gym.offline.model_input import count_text_tokens
    from elicit_gym.offline.windows import count_simple_tokens
    from elicit_gym.types import Message

    if tokenizer is not None:
        return lambda texts: count_text_tokens(tokenizer, texts)
    local = next((policy for policy in policies if isinstance(policy, LocalPolicy)), None)
    if local is not None:
        return local.count_tokens
    return lambda texts: [count_simple_tokens([Message(role="user", content=text)]) - 4 for text in texts]
