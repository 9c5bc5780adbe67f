"""Next-turn evaluation on YIELD's windows: the paper's Tables 6, 7 and 8, with intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_gym.agents.yield_metrics import Encoder, progression_of_vectors
from elicit_gym.errors import SettingError
from elicit_gym.evaluation.statistics import Estimate, cluster_mean, cluster_ratio
from elicit_gym.offline.windows import Window
from elicit_gym.policy import BatchPolicy, Policy
from elicit_gym.rollout.progress import progress_bar
from elicit_gym.rollout.storage import write_json

__all__ = ["METRICS", "NextTurnResult", "YieldEvaluation", "evaluate_yield"]

METRICS = ("perplexity", "response_length", "progression", "turn_length_ratio", "similarity")

TokenCounter = Callable[[Sequence[str]], list[int]]


@dataclass(frozen=True, kw_only=True)
class NextTurnResult:
    """What one policy (or a reference) said to every window.

    Attributes:
        name: of the policy; ``real`` and ``shuffled`` are the references.
        utterances: one for each window.
        log_probs, num_tokens: of the *human's* utterance under this policy; None where it cannot score text.
    """

    name: str
    utterances: tuple[str, ...]
    log_probs: tuple[float, ...] | None = None
    num_tokens: tuple[int, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class YieldEvaluation:
    """What came out.

    Attributes:
        tables: metric, then row, then domain (or ``all``) to an estimate.
        differences: for each two policies and each metric but perplexity, the paired difference over all windows.
        results: what was said.
        windows: what it was said to.
    """

    tables: Mapping[str, Mapping[str, Mapping[str, Estimate]]]
    differences: tuple[Mapping[str, Any], ...]
    results: tuple[NextTurnResult, ...]
    windows: tuple[Window, ...]

    def to_row(self) -> dict[str, Any]:
        """Convert the numbers to JSON types."""
        return {
            "tables": {
                metric: {row: {d: e.to_row() for d, e in cells.items()} for row, cells in rows.items()}
                for metric, rows in self.tables.items()
            },
            "differences": [dict(difference) for difference in self.differences],
        }

    def save(self, folder: str | Path) -> Path:
        """Write ``summary.json`` and ``samples.jsonl`` (every window with what each policy said)."""
        import json

        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        write_json(folder / "summary.json", self.to_row())
        with (folder / "samples.jsonl").open("w", encoding="utf-8") as file:
            for i, window in enumerate(self.windows):
                row = {
                    "block_id": window.block_id,
                    "domain": window.domain,
                    "context": [[m.role, m.content] for m in window.context],
                    "said": {result.name: result.utterances[i] for result in self.results},
                }
                file.write(json.dumps(row) + "\n")
        return folder / "summary.json"


def evaluate_yield(
    policies: Sequence[Policy],
    windows: Sequence[Window],
    *,
    encoder: Encoder,
    count_tokens: TokenCounter,
    shuffled: Sequence[Window] | None = None,
    k: int = 5,
    gamma: float = 0.5,
    progress: bool = False,
) -> YieldEvaluation:
    """Ask each policy for the turn that the human took, and measure it beside the human's.

    Args:
        policies: with different names; those with `log_prob_batch` get a perplexity too.
        windows: of the test split.
        encoder: for Progression and similarity.
        count_tokens: for lengths; one tokenizer for all policies, so that they can be compared.
        shuffled: windows of the shuffled control corpus, for its row.
        k: of Progression.
        gamma: of Progression.
        progress: show bars.

    Returns:
        Estimates by domain and in all, with intervals by bootstrap over dialogues, and paired differences.

    Raises:
        SettingError: there are no windows, or two policies have one name.

    References:
        YIELD, Section 5 and 6.5. Progression of a window is that of its turns with the last one replaced.
    """
    if not windows:
        raise SettingError("Evaluating on YIELD: expected windows, got none. Check the data and its split.")
    names = [policy.name for policy in policies]
    if len(set(names)) < len(names) or {"real", "shuffled"} & set(names):
        raise SettingError(f"Evaluating on YIELD: expected policies with different names, got {', '.join(names)}.")
    results = [NextTurnResult(name="real", utterances=tuple(window.action for window in windows))]
    results += [_ask(policy, windows, progress) for policy in policies]
    measured = {result.name: _measure(result, windows, encoder, count_tokens, k, gamma) for result in results}
    domains = [window.domain for window in windows]
    clusters = [window.episode_id for window in windows]
    tables: dict[str, dict[str, dict[str, Estimate]]] = {metric: {} for metric in METRICS}
    rows = [(result.name, measured[result.name], domains, clusters) for result in results]
    if shuffled:
        control = NextTurnResult(name="shuffled", utterances=tuple(window.action for window in shuffled))
        numbers = _measure(control, shuffled, encoder, count_tokens, k, gamma)
        rows.insert(1, ("shuffled", numbers, [w.domain for w in shuffled], [w.episode_id for w in shuffled]))
    for name, numbers, its_domains, its_clusters in rows:
        for metric in METRICS:
            if metric in numbers:
                tables[metric][name] = _by_domain(metric, numbers, its_domains, its_clusters)
    return YieldEvaluation(
        tables=tables,
        differences=tuple(_differences(measured, names, clusters)),
        results=tuple(results),
        windows=tuple(windows),
    )


def _ask(policy: Policy, windows: Sequence[Window], progress: bool) -> NextTurnResult:
    said: list[str] = []
    size = 64
    policy.reset(0)
    with progress_bar(policy.name, len(windows), show=progress) as advance:
        for start in range(0, len(windows), size):
            part = [window.context for window in windows[start : start + size]]
            said += policy.act_batch(part) if isinstance(policy, BatchPolicy) else [policy.act(h) for h in part]
            for _ in part:
                advance()
    score = getattr(policy, "log_prob_batch", None)
    if score is None:
        return NextTurnResult(name=policy.name, utterances=tuple(said))
    scored = score([window.context for window in windows], [window.action for window in windows])
    return NextTurnResult(
        name=policy.name,
        utterances=tuple(said),
        log_probs=tuple(s.total for s in scored),
        num_tokens=tuple(s.num_tokens for s in scored),
    )


Numbers = dict[str, NDArray[np.float64]]


def _measure(
    result: NextTurnResult,
    windows: Sequence[Window],
    encoder: Encoder,
    count_tokens: TokenCounter,
    k: int,
    gamma: float,
) -> Numbers:
    """Return numbers for each window; a ratio of sums is kept as two columns, shape (n, 2)."""
    dialogues = [
        [*(m.content for m in window.context if m.role != "system"), said]
        for window, said in zip(windows, result.utterances, strict=True)
    ]
    encoder([text for dialogue in dialogues for text in dialogue if text])  # all distinct texts, in one go
    moved = [progression_of_vectors(encoder([t for t in d if t]), k, gamma) if all(d) else None for d in dialogues]
    said_tokens = count_tokens(result.utterances)
    answers = [[m.content for m in window.context if m.role == "user"] for window in windows]
    asked = [[m.content for m in window.context if m.role == "assistant"] for window in windows]
    answer_tokens = iter(count_tokens([text for some in answers for text in some]))
    asked_tokens = iter(count_tokens([text for some in asked for text in some]))
    ratios = np.array(
        [
            [sum(next(answer_tokens) for _ in a), len(a), sum(next(asked_tokens) for _ in q) + n, len(q) + 1]
            for a, q, n in zip(answers, asked, said_tokens, strict=True)
        ],
        dtype=np.float64,
    )
    human = encoder([window.action or " " for window in windows])
    ours = encoder([said or " " for said in result.utterances])
    norms = np.linalg.norm(human, axis=1) * np.linalg.norm(ours, axis=1)
    numbers: Numbers = {
        "response_length": np.array(said_tokens, dtype=np.float64),
        "progression": np.array([np.nan if value is None else value for value in moved]),
        "turn_length_ratio": ratios,
    }
    if result.name not in ("real", "shuffled"):
        numbers["similarity"] = (human * ours).sum(axis=1) / np.where(norms == 0, 1.0, norms)
    if result.log_probs is not None and result.num_tokens is not None:
        numbers["perplexity"] = np.stack([-np.array(result.log_probs), np.array(result.num_tokens)], axis=1)
    return numbers


def _by_domain(metric: str, numbers: Numbers, domains: Sequence[str], clusters: Sequence[str]) -> dict[str, Estimate]:
    cells = {}
    for domain in (*sorted(set(domains)), "all"):
        chosen = [i for i, d in enumerate(domains) if domain in (d, "all")]
        values = numbers[metric][chosen]
        own = [clusters[i] for i in chosen]
        if metric == "perplexity":
            cells[domain] = cluster_ratio(values, own, lambda sums: np.exp(sums[..., 0] / sums[..., 1]))
        elif metric == "turn_length_ratio":
            cells[domain] = cluster_ratio(
                values, own, lambda s: (s[..., 0] / s[..., 1]) / np.maximum(s[..., 2] / s[..., 3], 1e-9)
            )
        else:
            known = ~np.isnan(values)
            kept = [c for c, keep in zip(own, known, strict=True) if keep]
            cells[domain] = cluster_mean(values[known].tolist(), kept)
    return cells


def _differences(
    measured: Mapping[str, Numbers], names: Sequence[str], clusters: Sequence[str]
) -> list[Mapping[str, Any]]:
    rows: list[Mapping[str, Any]] = []
    for first, second in combinations(names, 2):
        for metric in ("response_length", "progression", "similarity"):
            gap = measured[first][metric] - measured[second][metric]
            known = ~np.isnan(gap)
            estimate = cluster_mean(gap[known].tolist(), [c for c, keep in zip(clusters, known, strict=True) if keep])
            rows.append({"first": first, "second": second, "metric": metric, **estimate.to_row()})
    return rows
