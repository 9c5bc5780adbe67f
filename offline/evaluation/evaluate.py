"""Next-turn evaluation on YIELD's windows: the paper's Tables 6, 7 and 8, with intervals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from elicit_gym.errors import EpisodeFailure, FatalModelError, SettingError, boundary
from elicit_gym.offline.evaluation.answers import Answer, AnswerFile
from elicit_gym.offline.evaluation.estimates import (
    ALL_METRICS,
    METRICS,
    OF_EMBEDDINGS,
    Metric,
    MetricDifference,
    Numbers,
    TokenCounter,
    WindowNumbers,
    by_domain,
    paired_differences,
)
from elicit_gym.offline.evaluation.metrics import Encoder
from elicit_gym.offline.windows import Window
from elicit_gym.policy import BatchPolicy, CountingPolicy, LogProb, Policy, ScoringPolicy
from elicit_gym.reporting.progress import progress_bar
from elicit_gym.statistics.estimates import Estimate
from elicit_gym.types import ChatHistory

__all__ = ["NextTurnResult", "YieldEvaluation", "evaluate_yield"]

CHUNK = 64


@dataclass(frozen=True, kw_only=True)
class NextTurnResult:
    """What one policy (or a reference) said to every window.

    Attributes:
        name: the policy's name; ``real`` and ``shuffled`` are the references.
        utterances: one per window; None if the policy failed.
        failures: the reason of each failure, by the window's index.
        log_probs, num_tokens: the log probability and number of tokens of the *human's* utterance under this policy;
            None if it cannot score text.
        prompt_tokens: the number of tokens that the policy read before it spoke; None if it does not report it.
    """

    name: str
    utterances: tuple[str | None, ...]
    failures: Mapping[int, str] = field(default_factory=dict)
    log_probs: tuple[float, ...] | None = None
    num_tokens: tuple[int, ...] | None = None
    prompt_tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class YieldEvaluation:
    """The result of an evaluation.

    Attributes:
        tables: the estimates by metric, row and domain (or ``all``).
        differences: see `elicit_gym.offline.evaluation.estimates.paired_differences`.
        results: what each policy said.
        windows: the windows to which it was said.
        numbers: the number of each window and metric, by the result's name.
    """

    tables: Mapping[Metric, Mapping[str, Mapping[str, Estimate]]]
    differences: tuple[MetricDifference, ...]
    results: tuple[NextTurnResult, ...]
    windows: tuple[Window, ...]
    numbers: Mapping[str, Numbers]

    @property
    def rows(self) -> tuple[str, ...]:
        """The names that any table has a row for: the references first, then the policies."""
        named = ("real", "shuffled", *(result.name for result in self.results[1:]))
        return tuple(name for name in named if any(name in rows for rows in self.tables.values()))

    @property
    def domains(self) -> tuple[str, ...]:
        """The columns of the tables: every domain of a window, and all of them."""
        return (*sorted({window.domain for window in self.windows}), "all")

    def to_row(self) -> dict[str, Any]:
        """Convert the estimates to JSON types."""
        return {
            "tables": {
                metric: {row: {d: e.to_row() for d, e in cells.items()} for row, cells in rows.items()}
                for metric, rows in self.tables.items()
            },
            "differences": [difference.to_row() for difference in self.differences],
            "failed": {result.name: len(result.failures) for result in self.results if result.failures},
        }


def evaluate_yield(
    policies: Sequence[Policy],
    windows: Sequence[Window],
    *,
    encoder: Encoder | None,
    count_tokens: TokenCounter,
    metrics: Sequence[Metric] = METRICS,
    shuffled: Sequence[Window] | None = None,
    k: int = 5,
    gamma: float = 0.5,
    store: AnswerFile | None = None,
    progress: bool = False,
) -> YieldEvaluation:
    """Ask each policy for the turn that the human took, and measure it beside the human's.

    Args:
        policies: the policies, which must have different names; those with `log_prob_batch` get a perplexity, too.
        windows: the windows, usually those of the test split.
        encoder: the encoder for Progression and similarity; None if neither is among the metrics.
        count_tokens: the token counter for lengths, the same for all policies, so that they can be compared.
        metrics: what to measure.
        shuffled: the windows of the shuffled control corpus, for its row.
        k: the number of turns that Progression looks back.
        gamma: the decay of Progression.
        store: where answers are kept as they come; those that are there are not asked for again.
        progress: show progress bars.

    Returns:
        Estimates by domain and in all, with intervals over dialogues, and paired differences.

    Raises:
        SettingError: there are no windows, two policies have the same name, or a metric needs an encoder.
        FatalModelError: no call to a policy's model can succeed. If a single call fails, its window is missing for
            that policy.

    References:
        YIELD, Section 5 and 6.5. Progression of a window is that of its turns with the last one replaced.
    """
    if not windows:
        raise SettingError("Evaluating on YIELD: expected windows, got none. Check the data and its split.")
    names = [policy.name for policy in policies]
    if len(set(names)) < len(names) or {"real", "shuffled"} & set(names):
        raise SettingError(f"Evaluating on YIELD: expected policies with different names, got {', '.join(names)}.")
    if encoder is None and OF_EMBEDDINGS & set(metrics):
        raise SettingError(
            f"Evaluating on YIELD: expected an encoder for {' and '.join(sorted(OF_EMBEDDINGS & set(metrics)))}, got "
            "none. Name one, or leave these metrics out."
        )
    results = [NextTurnResult(name="real", utterances=tuple(window.action for window in windows))]
    results += [_ask(policy, windows, store, progress) for policy in policies]
    meter = WindowNumbers(windows, encoder, count_tokens, k=k, gamma=gamma)
    measured = {result.name: _measure(result, meter, metrics) for result in results}
    domains = [window.domain for window in windows]
    clusters = [window.episode_id for window in windows]
    rows = [(result.name, measured[result.name], domains, clusters) for result in results]
    if shuffled:
        control = WindowNumbers(shuffled, encoder, count_tokens, k=k, gamma=gamma)
        numbers = control.measure([window.action for window in shuffled])
        rows.insert(1, ("shuffled", numbers, [w.domain for w in shuffled], [w.episode_id for w in shuffled]))
    tables = {
        metric: {
            name: by_domain(metric, numbers[metric], its_domains, its_clusters)
            for name, numbers, its_domains, its_clusters in rows
            if metric in numbers
        }
        for metric in ALL_METRICS
        if metric in metrics
    }
    return YieldEvaluation(
        tables=tables,
        differences=tuple(paired_differences(measured, names, clusters, tuple(tables))),
        results=tuple(results),
        windows=tuple(windows),
        numbers=measured,
    )


def _ask(policy: Policy, windows: Sequence[Window], store: AnswerFile | None, progress: bool) -> NextTurnResult:
    answers = store.known(policy.name) if store is not None else {}
    missing = [i for i in range(len(windows)) if i not in answers]
    policy.reset(0)
    with progress_bar(policy.name, len(windows), done=len(answers), show=progress) as advance:
        for start in range(0, len(missing), CHUNK):
            chosen = missing[start : start + CHUNK]
            new = _answer(policy, [windows[i] for i in chosen], chosen)
            answers.update({answer.index: answer for answer in new})
            if store is not None:
                store.append(new)
            for _ in new:
                advance()
    ordered = [answers[i] for i in range(len(windows))]
    log_probs = [a.log_prob for a in ordered if a.log_prob is not None]
    num_tokens = [a.num_tokens for a in ordered if a.num_tokens is not None]
    prompt_tokens = [a.prompt_tokens for a in ordered if a.prompt_tokens is not None]
    return NextTurnResult(
        name=policy.name,
        utterances=tuple(answer.said for answer in ordered),
        failures={answer.index: answer.failure or "" for answer in ordered if answer.said is None},
        log_probs=tuple(log_probs) or None,
        num_tokens=tuple(num_tokens) or None,
        prompt_tokens=tuple(prompt_tokens) or None,
    )


def _answer(policy: Policy, windows: Sequence[Window], indexes: Sequence[int]) -> list[Answer]:
    histories = [window.context for window in windows]
    said = _say(policy, histories)
    scored: list[LogProb | None] = [None] * len(windows)
    if isinstance(policy, ScoringPolicy):
        scored = list(policy.log_prob_batch(histories, [window.action for window in windows]))
    read: list[int | None] = [None] * len(windows)
    if isinstance(policy, CountingPolicy):
        read = list(policy.count_prompt_tokens(histories))
    return [
        Answer(
            policy=policy.name, index=i, prompt_tokens=tokens,
            said=None if isinstance(text, EpisodeFailure) else text,
            failure=str(text) if isinstance(text, EpisodeFailure) else None,
            log_prob=s.total if s is not None else None, num_tokens=s.num_tokens if s is not None else None,
        )
        for i, text, s, tokens in zip(indexes, said, scored, read, strict=True)
    ]  # fmt: skip


def _say(policy: Policy, histories: Sequence[ChatHistory]) -> list[str | EpisodeFailure]:
    """Ask for all at once and, if that fails, one by one, so that a window that cannot be answered spoils no other."""
    if isinstance(policy, BatchPolicy):
        try:
            with boundary("policy", f"Asking the policy {policy.name!r} for {len(histories)} utterances"):
                return list(policy.act_batch(histories))
        except FatalModelError:
            raise
        except EpisodeFailure:
            pass
    said: list[str | EpisodeFailure] = []
    for history in histories:
        try:
            with boundary("policy", f"Asking the policy {policy.name!r} for an utterance"):
                said.append(policy.act(history))
        except FatalModelError:
            raise
        except EpisodeFailure as error:
            said.append(error)
    return said


def _measure(result: NextTurnResult, meter: WindowNumbers, metrics: Sequence[Metric]) -> Numbers:
    numbers = meter.measure(result.utterances)
    if result.name != "real" and "similarity" in metrics:
        numbers["similarity"] = meter.similarity(result.utterances)
    if result.log_probs is not None and result.num_tokens is not None:
        numbers["perplexity"] = np.stack([-np.array(result.log_probs), np.array(result.num_tokens)], axis=1)
    if result.prompt_tokens is not None:
        numbers["prompt_length"] = np.array(result.prompt_tokens, dtype=np.float64)
    return numbers
