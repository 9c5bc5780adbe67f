"""The steps from what was said to numbers per window, and from those to estimates by domain and paired differences."""

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_gym.offline.evaluation.metrics import Encoder, progression_of_vectors
from elicit_gym.offline.windows import Window
from elicit_gym.statistics import Estimate, cluster_mean, cluster_ratio, holm, sign_flip_p_value

__all__ = ["METRICS", "Numbers", "TokenCounter", "WindowNumbers", "by_domain", "paired_differences"]

METRICS = ("perplexity", "response_length", "prompt_length", "progression", "turn_length_ratio", "similarity")

TokenCounter = Callable[[Sequence[str]], list[int]]
Floats = NDArray[np.float64]
Numbers = dict[str, Floats]
"""For each metric, one number per window (NaN for none), shape (n,); a ratio of sums has columns, shape (n, m)."""


class WindowNumbers:
    """Measure utterances on windows; what depends on the windows alone is counted once for all policies.

    Args:
        windows: the windows, shape (n,).
        encoder: the encoder for Progression and similarity.
        count_tokens: the token counter for lengths.
        k: the number of turns that Progression looks back.
        gamma: the decay of Progression.
    """

    def __init__(
        self, windows: Sequence[Window], encoder: Encoder, count_tokens: TokenCounter, *, k: int, gamma: float
    ) -> None:
        self._windows, self._encoder, self._count, self._k, self._gamma = windows, encoder, count_tokens, k, gamma
        turns = [(m.role, m.content) for window in windows for m in window.context if m.role != "system"]
        distinct = list(dict.fromkeys(text for _, text in turns))
        lengths = dict(zip(distinct, count_tokens(distinct), strict=True))
        # Tokens and number of the answers, then those of the questions before the measured one. Shape (n, 4).
        self._turns = np.array(
            [
                [
                    number
                    for role in ("user", "assistant")
                    for said in [[lengths[m.content] for m in window.context if m.role == role]]
                    for number in (sum(said), len(said))
                ]
                for window in windows
            ],
            dtype=np.float64,
        )

    def measure(self, utterances: Sequence[str | None]) -> Numbers:
        """Return response length, Progression and the four sums of the turn-length ratio.

        Args:
            utterances: the utterances, shape (n,); the numbers of a missing one (None) are NaN.
        """
        dialogues = [
            [*(m.content for m in window.context if m.role != "system"), said or ""]
            for window, said in zip(self._windows, utterances, strict=True)
        ]
        self._encoder([text for dialogue in dialogues for text in dialogue if text])  # all distinct texts at once
        moved = [self._progression(dialogue) if all(dialogue) else None for dialogue in dialogues]
        lengths = np.array(self._count([said or "" for said in utterances]), dtype=np.float64)
        lengths[[said is None for said in utterances]] = np.nan
        ratios = self._turns.copy()
        ratios[:, 2] += lengths
        ratios[:, 3] += 1
        return {
            "response_length": lengths,
            "progression": np.array([np.nan if value is None else value for value in moved]),
            "turn_length_ratio": ratios,
        }

    def similarity(self, utterances: Sequence[str | None]) -> Floats:
        """Return the cosine similarity of each utterance to the human's, NaN for a missing one, shape (n,)."""
        human = self._encoder([window.action or " " for window in self._windows])
        ours = self._encoder([said or " " for said in utterances])
        norms = np.linalg.norm(human, axis=1) * np.linalg.norm(ours, axis=1)
        cosines: Floats = ((human * ours).sum(axis=1) / np.where(norms == 0, 1.0, norms)).astype(np.float64)
        cosines[[said is None for said in utterances]] = np.nan
        return cosines

    def _progression(self, dialogue: Sequence[str]) -> float | None:
        return progression_of_vectors(self._encoder(dialogue), self._k, self._gamma)


def _perplexity(sums: Floats) -> Floats:
    result: Floats = np.exp(sums[..., 0] / sums[..., 1])
    return result


def _turn_length_ratio(sums: Floats) -> Floats:
    result: Floats = (sums[..., 0] / sums[..., 1]) / np.maximum(sums[..., 2] / sums[..., 3], 1e-9)
    return result


_OF_SUMS = {"perplexity": _perplexity, "turn_length_ratio": _turn_length_ratio}


def by_domain(metric: str, values: Floats, domains: Sequence[str], clusters: Sequence[str]) -> dict[str, Estimate]:
    """Estimate a metric in each domain and in all, with intervals over dialogues.

    Args:
        metric: one of `METRICS`.
        values: the numbers of each window; see `Numbers`.
        domains: the domain of each window, shape (n,).
        clusters: the dialogue of each window, shape (n,).
    """
    cells = {}
    for domain in (*sorted(set(domains)), "all"):
        chosen = [i for i, d in enumerate(domains) if domain in (d, "all")]
        own = [clusters[i] for i in chosen]
        if metric in _OF_SUMS:
            cells[domain] = _known_ratio(values[chosen], own, _OF_SUMS[metric])
        else:
            cells[domain] = _known_mean(values[chosen], own)
    return cells


def _known_ratio(values: Floats, clusters: Sequence[str], statistic: Callable[[Floats], Floats]) -> Estimate:
    known: NDArray[np.bool_] = np.logical_not(np.isnan(values).any(axis=1))
    return cluster_ratio(values[known], [c for c, keep in zip(clusters, known, strict=True) if keep], statistic)


def _known_mean(values: Floats, clusters: Sequence[str]) -> Estimate:
    known = ~np.isnan(values)
    return cluster_mean(values[known].tolist(), [c for c, keep in zip(clusters, known, strict=True) if keep])


def paired_differences(
    measured: Mapping[str, Numbers], names: Sequence[str], clusters: Sequence[str]
) -> list[Mapping[str, Any]]:
    """Compare every two policies on the same windows, metric by metric.

    Args:
        measured: the numbers by policy.
        names: the policies to compare.
        clusters: the dialogue of each window, shape (n,).

    Returns:
        Rows with ``first``, ``second``, ``metric``, the difference (first minus second; of perplexities their ratio,
        where both were measured on the same tokens) with its interval, and for means the p-value of a sign-flip test
        over dialogues, alone and by Holm's correction over the pairs.
    """
    rows: list[dict[str, Any]] = []
    for metric in METRICS:
        if metric == "prompt_length":
            continue
        own: list[dict[str, Any]] = []
        for first, second in combinations(names, 2):
            if metric in measured[first] and metric in measured[second]:
                found = _difference(metric, measured[first][metric], measured[second][metric], clusters)
                if found is not None:
                    estimate, p_value = found
                    shown = "perplexity_ratio" if metric == "perplexity" else metric
                    row = {"first": first, "second": second, "metric": shown, **estimate.to_row()}
                    own.append(row | {"p_value": p_value})
        for row, p_corrected in zip(own, holm([row["p_value"] for row in own]), strict=True):
            rows.append(row | {"p_corrected": p_corrected})
    return list(rows)


def _difference(
    metric: str, first: Floats, second: Floats, clusters: Sequence[str]
) -> tuple[Estimate, float | None] | None:
    if metric == "turn_length_ratio":
        both = np.concatenate([first, second], axis=1)  # (n, 8)
        return _known_ratio(
            both, clusters, lambda s: _turn_length_ratio(s[..., :4]) - _turn_length_ratio(s[..., 4:])
        ), None
    if metric == "perplexity":
        if not np.array_equal(first[:, 1], second[:, 1]):
            return None  # the tokens differ: the ratio of perplexities over two vocabularies means nothing
        gap = first[:, 0] - second[:, 0]
        columns = np.stack([gap, first[:, 1]], axis=1)
        return cluster_ratio(columns, clusters, _perplexity), sign_flip_p_value(gap.tolist(), clusters)
    gap = first - second
    known = ~np.isnan(gap)
    kept = [c for c, keep in zip(clusters, known, strict=True) if keep]
    return cluster_mean(gap[known].tolist(), kept), sign_flip_p_value(gap[known].tolist(), kept)
