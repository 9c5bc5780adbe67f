"""The steps from what was said to numbers per window, and from those to estimates by domain and paired differences."""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from elicit_gym.offline.evaluation.metrics import Encoder, progression_of_vectors
from elicit_gym.offline.windows import Window
from elicit_gym.statistics.estimates import Estimate, cluster_mean, cluster_ratio
from elicit_gym.statistics.significance import PairedTest, correct_for_family, sign_flip_test, swap_test

__all__ = [
    "ALL_METRICS",
    "METRICS",
    "OF_EMBEDDINGS",
    "UNIT",
    "Metric",
    "MetricDifference",
    "Numbers",
    "TokenCounter",
    "WindowNumbers",
    "by_domain",
    "paired_differences",
]

Metric: TypeAlias = Literal[
    "perplexity",
    "response_length",
    "prompt_length",
    "progression",
    "turn_length_ratio",
    "turn_length_ratio_published",
    "similarity",
]
ALL_METRICS: tuple[Metric, ...] = get_args(Metric)
METRICS: tuple[Metric, ...] = tuple(metric for metric in ALL_METRICS if metric != "turn_length_ratio_published")
"""Those that are measured where nobody chooses; the published ratio is the same one with a token more per turn."""
OF_EMBEDDINGS = frozenset({"progression", "similarity"})
"""Those that need an encoder."""

UNIT = "interview"
"""What is drawn independently: the windows of one interview are not."""
_BOUNDS = {
    "progression": (0.0, 2.0),
    "prompt_length": (0.0, math.inf),
    "response_length": (0.0, math.inf),
    "similarity": (-1.0, 1.0),
}
"""What a mean can be by its definition: cosines and distances by cosine, numbers of tokens."""

TokenCounter = Callable[[Sequence[str]], list[int]]
Floats = NDArray[np.float64]
Numbers = dict[str, Floats]
"""For each metric, one number per window (NaN for none), shape (n,); a ratio of sums has columns, shape (n, m)."""


@dataclass(frozen=True, kw_only=True)
class MetricDifference:
    """How the first policy differs from the second in one metric on the same windows.

    Attributes:
        metric: the metric, or ``perplexity_ratio``.
        difference: first less second; of perplexities the ratio, first over second.
        test: over interviews, corrected for the number of pairs.
    """

    first: str
    second: str
    metric: str
    difference: Estimate
    test: PairedTest

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        names = {"first": self.first, "second": self.second, "metric": self.metric}
        return names | self.difference.to_row() | self.test.to_row()


class WindowNumbers:
    """Measure utterances on windows; what depends on the windows alone is counted once for all policies.

    Args:
        windows: the windows, shape (n,).
        encoder: the encoder for Progression and similarity; None where neither is measured.
        count_tokens: the token counter for lengths.
        k: the number of turns that Progression looks back.
        gamma: the decay of Progression.
    """

    def __init__(
        self, windows: Sequence[Window], encoder: Encoder | None, count_tokens: TokenCounter, *, k: int, gamma: float
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
        """Return response length, the four sums of both turn-length ratios and, with an encoder, Progression.

        Args:
            utterances: the utterances, shape (n,); the numbers of a missing one (None) are NaN.
        """
        lengths = np.array(self._count([said or "" for said in utterances]), dtype=np.float64)
        lengths[[said is None for said in utterances]] = np.nan
        ratios = self._turns.copy()
        ratios[:, 2] += lengths
        ratios[:, 3] += 1
        with_first_token = ratios + ratios[:, [1, 1, 3, 3]] * [1, 0, 1, 0]
        numbers = {
            "response_length": lengths,
            "turn_length_ratio": ratios,
            "turn_length_ratio_published": with_first_token,
        }
        if self._encoder is not None:
            numbers["progression"] = self._progression(utterances, self._encoder)
        return numbers

    def similarity(self, utterances: Sequence[str | None]) -> Floats:
        """Return the cosine similarity of each utterance to the human's, NaN for a missing one, shape (n,)."""
        assert self._encoder is not None
        human = self._encoder([window.action or " " for window in self._windows])
        ours = self._encoder([said or " " for said in utterances])
        norms = np.linalg.norm(human, axis=1) * np.linalg.norm(ours, axis=1)
        cosines: Floats = ((human * ours).sum(axis=1) / np.where(norms == 0, 1.0, norms)).astype(np.float64)
        cosines[[said is None for said in utterances]] = np.nan
        return cosines

    def _progression(self, utterances: Sequence[str | None], encoder: Encoder) -> Floats:
        dialogues = [
            [*(m.content for m in window.context if m.role != "system"), said or ""]
            for window, said in zip(self._windows, utterances, strict=True)
        ]
        encoder([text for dialogue in dialogues for text in dialogue if text])  # all distinct texts at once
        moved = [
            progression_of_vectors(encoder(dialogue), self._k, self._gamma) if all(dialogue) else None
            for dialogue in dialogues
        ]
        return np.array([np.nan if value is None else value for value in moved])


def _perplexity(sums: Floats) -> Floats:
    result: Floats = np.exp(sums[..., 0] / sums[..., 1])
    return result


def _turn_length_ratio(sums: Floats) -> Floats:
    result: Floats = (sums[..., 0] / sums[..., 1]) / np.maximum(sums[..., 2] / sums[..., 3], 1e-9)
    return result


_OF_SUMS = {
    "perplexity": _perplexity,
    "turn_length_ratio": _turn_length_ratio,
    "turn_length_ratio_published": _turn_length_ratio,
}


def by_domain(metric: str, values: Floats, domains: Sequence[str], clusters: Sequence[str]) -> dict[str, Estimate]:
    """Estimate a metric in each domain and in all, with intervals over dialogues.

    Args:
        metric: one of `ALL_METRICS`.
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
            cells[domain] = _known_mean(values[chosen], own, _BOUNDS[metric])
    return cells


def _known_ratio(values: Floats, clusters: Sequence[str], statistic: Callable[[Floats], Floats]) -> Estimate:
    kept, own = _known(values, clusters)
    return cluster_ratio(kept, own, statistic, unit=UNIT, positive=True)


def _known_mean(values: Floats, clusters: Sequence[str], bounds: tuple[float, float]) -> Estimate:
    kept, own = _known(values, clusters)
    return cluster_mean(kept.tolist(), own, unit=UNIT, bounds=bounds)


def _known(values: Floats, clusters: Sequence[str]) -> tuple[Floats, list[str]]:
    known: NDArray[np.bool_] = np.logical_not(np.isnan(values.reshape(len(values), -1)).any(axis=1))
    return values[known], [c for c, keep in zip(clusters, known, strict=True) if keep]


def paired_differences(
    measured: Mapping[str, Numbers],
    names: Sequence[str],
    clusters: Sequence[str],
    metrics: Sequence[Metric] = METRICS,
) -> list[MetricDifference]:
    """Compare every two policies on the same windows, metric by metric.

    Args:
        measured: the numbers by policy.
        names: the policies to compare.
        clusters: the dialogue of each window, shape (n,).
        metrics: those to compare by.

    Returns:
        The differences of each metric that both policies have; of perplexities the ratio, where both were measured on
        the same tokens. The tests exchange the two policies in whole dialogues and are corrected, metric by metric, for
        the number of pairs.
    """
    found: list[MetricDifference] = []
    for metric in metrics:
        if metric == "prompt_length":
            continue
        own: list[MetricDifference] = []
        for first, second in combinations(names, 2):
            if metric not in measured[first] or metric not in measured[second]:
                continue
            one, other = measured[first][metric], measured[second][metric]
            if metric == "perplexity" and not np.array_equal(one[:, 1], other[:, 1]):
                continue  # other tokens: perplexities of two vocabularies have no ratio that means anything
            difference, test = _difference(metric, one, other, clusters)
            shown = "perplexity_ratio" if metric == "perplexity" else metric
            own.append(MetricDifference(first=first, second=second, metric=shown, difference=difference, test=test))
        tests = correct_for_family([row.test for row in own])
        found += [replace(row, test=test) for row, test in zip(own, tests, strict=True)]
    return found


def _difference(metric: str, first: Floats, second: Floats, clusters: Sequence[str]) -> tuple[Estimate, PairedTest]:
    if metric in ("turn_length_ratio", "turn_length_ratio_published"):
        both, own = _known(np.concatenate([first, second], axis=1), clusters)  # (n, 8)
        gap = cluster_ratio(
            both, own, lambda s: _turn_length_ratio(s[..., :4]) - _turn_length_ratio(s[..., 4:]), unit=UNIT
        )
        return gap, swap_test(both[:, :4], both[:, 4:], own, _turn_length_ratio, unit=UNIT)
    if metric == "perplexity":
        nats = first[:, 0] - second[:, 0]
        ratio = cluster_ratio(np.stack([nats, first[:, 1]], axis=1), clusters, _perplexity, unit=UNIT, positive=True)
        return ratio, sign_flip_test(nats.tolist(), clusters, unit=UNIT)
    lowest, highest = _BOUNDS[metric]
    gaps, own = _known(first - second, clusters)
    bounds = (lowest - highest, highest - lowest)
    return cluster_mean(gaps.tolist(), own, unit=UNIT, bounds=bounds), sign_flip_test(gaps.tolist(), own, unit=UNIT)
