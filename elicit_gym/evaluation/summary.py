"""From records to numbers: what one policy did, and how two policies differ on the same units."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from elicit_gym.episode import EpisodeRecord
from elicit_gym.evaluation.metrics import METRICS, num_turns, total_reward
from elicit_gym.statistics.estimates import (
    Estimate,
    cluster_mean,
    cluster_worst_mean,
)
from elicit_gym.statistics.significance import PairedTest, correct_for_family, sign_flip_test
from elicit_gym.types import NUM_ITEMS

__all__ = [
    "UNIT",
    "PairSummary",
    "PolicySummary",
    "best_quarter",
    "return_bounds",
    "summarise_pairs",
    "summarise_policies",
]

UNIT = "opening message"
"""What is drawn independently: the scenarios and repeats under one opening message are not."""
_BOUNDS = {
    "questions_per_message": (0.0, math.inf),
    "repeated_questions": (0.0, math.inf),
    "success_rate": (0.0, 1.0),
    "turns_to_success": (1.0, math.inf),
    "words_per_message": (0.0, math.inf),
}
"""What a metric can be by its definition."""


@dataclass(frozen=True, kw_only=True)
class PolicySummary:
    """What one policy did.

    Attributes:
        metrics: by name, see `elicit_gym.evaluation.metrics.METRICS`.
        worst_quarter: mean return of the worst 25 % of episodes (the paper's Figure 4).
        curve: mean cumulative reward after each turn, shape (max_turns,) (Figure 3).
        worst_curve: the same over the worst 25 % of episodes (Figure 4).
        best_lengths: episodes of each length among the best 25 % (Figure 5).
        return_if_unscored_were_yes: upper bound of the mean return; the mean itself counts unscored items as "no".
        num_unscored: verdicts that the judge could not give.
        num_left: episodes that the user left before everything was satisfied.
        failures: failed episodes by source; they are in no mean.
        flags: repairs of the user simulator by name.
    """

    policy: str
    privileged: bool
    num_episodes: int
    metrics: Mapping[str, Estimate]
    worst_quarter: Estimate
    curve: tuple[Estimate, ...]
    worst_curve: tuple[Estimate, ...]
    best_lengths: Mapping[int, int]
    return_if_unscored_were_yes: float | None
    num_unscored: int
    num_left: int
    failures: Mapping[str, int]
    flags: Mapping[str, int]

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {
            "policy": self.policy,
            "privileged": self.privileged,
            "num_episodes": self.num_episodes,
            "metrics": {name: estimate.to_row() for name, estimate in self.metrics.items()},
            "worst_quarter": self.worst_quarter.to_row(),
            "curve": [estimate.to_row() for estimate in self.curve],
            "worst_curve": [estimate.to_row() for estimate in self.worst_curve],
            "best_lengths": {str(length): count for length, count in self.best_lengths.items()},
            "return_if_unscored_were_yes": self.return_if_unscored_were_yes,
            "num_unscored": self.num_unscored,
            "num_left": self.num_left,
            "failures": dict(self.failures),
            "flags": dict(self.flags),
        }


@dataclass(frozen=True, kw_only=True)
class PairSummary:
    """How the first policy differs from the second on the units that both finished.

    Attributes:
        difference: mean return of the first less that of the second.
        test: sign-flip test over opening messages, corrected for the number of pairs.
    """

    first: str
    second: str
    difference: Estimate
    wins: int
    ties: int
    losses: int
    test: PairedTest

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {
            "first": self.first,
            "second": self.second,
            "difference": self.difference.to_row(),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            **self.test.to_row(),
        }


def by_policy(records: Sequence[EpisodeRecord]) -> dict[str, list[EpisodeRecord]]:
    """Group records by policy, in order of appearance."""
    grouped: dict[str, list[EpisodeRecord]] = {}
    for record in records:
        grouped.setdefault(record.policy, []).append(record)
    return grouped


def best_quarter(records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Return the 25 % of episodes with the highest returns, shorter ones first among equals, at least one."""
    ranked = sorted(records, key=lambda record: (-total_reward(record), num_turns(record)))
    return ranked[: max(1, round(0.25 * len(ranked)))] if ranked else []


def return_bounds(records: Sequence[EpisodeRecord]) -> tuple[float, float]:
    """Return what a return can be: 0 to 5 where every reward was the number of items newly satisfied, else anything."""
    turns = (turn for record in records for turn in record.episode.turns)
    gained = all(turn.reward == len(turn.newly_satisfied) for turn in turns)
    return (0.0, float(NUM_ITEMS)) if gained else (-math.inf, math.inf)


def _totals(records: Sequence[EpisodeRecord], max_turns: int) -> NDArray[np.float64]:
    """Return the cumulative reward after each turn, shape (n, max_turns)."""
    totals = np.zeros((len(records), max_turns))
    for i, record in enumerate(records):
        for t, turn in enumerate(record.episode.turns):
            totals[i, t] = turn.reward
    return totals.cumsum(axis=1)


def _summarise(
    policy: str, records: Sequence[EpisodeRecord], max_turns: int, privileged: bool, bounds: tuple[float, float]
) -> PolicySummary:
    finished = [record for record in records if record.failure is None]
    clusters = [record.episode.opening_message for record in finished]
    metrics: dict[str, Estimate] = {}
    for name, metric in METRICS.items():
        measured = [
            (value, c) for record, c in zip(finished, clusters, strict=True) if (value := metric(record)) is not None
        ]
        metrics[name] = cluster_mean(
            [value for value, _ in measured],
            [c for _, c in measured],
            unit=UNIT,
            bounds=bounds if name == "return" else _BOUNDS[name],
        )
    if metrics["turns_to_success"].value is None:
        metrics["turns_to_success"] = Estimate(value=None, reason="no successful episode")
    returns = [total_reward(record) for record in finished]
    totals = _totals(finished, max_turns).T.tolist()
    known: dict[str, Any] = {"unit": UNIT, "bounds": bounds}
    return PolicySummary(
        policy=policy,
        privileged=privileged,
        num_episodes=len(finished),
        metrics=metrics,
        worst_quarter=cluster_worst_mean(returns, clusters, **known),
        curve=tuple(cluster_mean(total, clusters, **known) for total in totals),
        worst_curve=tuple(cluster_worst_mean(returns, clusters, of=total, **known) for total in totals),
        best_lengths=dict(sorted(Counter(int(num_turns(record)) for record in best_quarter(finished)).items())),
        return_if_unscored_were_yes=float(
            np.mean([r + len(record.episode.doubtful) for r, record in zip(returns, finished, strict=True)])
        )
        if finished
        else None,
        num_unscored=sum(len(turn.unscored) for record in finished for turn in record.episode.turns),
        num_left=sum(record.episode.left for record in finished),
        failures=dict(Counter(record.failure.source for record in records if record.failure is not None)),
        flags=dict(Counter(flag for record in records for turn in record.episode.turns for flag in turn.flags)),
    )


def summarise_policies(
    records: Sequence[EpisodeRecord], *, max_turns: int, privileged: Sequence[str] = ()
) -> list[PolicySummary]:
    """Summarise each policy, in order of appearance.

    Args:
        records: episodes of any number of policies.
        max_turns: the length of the curves.
        privileged: the names of the policies that know the hidden context.
    """
    bounds = return_bounds(records)
    return [
        _summarise(policy, own, max_turns, policy in privileged, bounds) for policy, own in by_policy(records).items()
    ]


def summarise_pairs(records: Sequence[EpisodeRecord]) -> list[PairSummary]:
    """Compare every two policies on the (scenario, repeat) units that both finished."""
    units: dict[str, dict[tuple[str, int], EpisodeRecord]] = {
        policy: {(r.scenario_id, r.repeat): r for r in own if r.failure is None}
        for policy, own in by_policy(records).items()
    }
    raw = []
    for first, second in combinations(units, 2):
        shared = [unit for unit in units[first] if unit in units[second]]
        differences = [total_reward(units[first][unit]) - total_reward(units[second][unit]) for unit in shared]
        clusters = [units[first][unit].episode.opening_message for unit in shared]
        raw.append((first, second, differences, clusters))
    tests = correct_for_family([sign_flip_test(gaps, clusters, unit=UNIT) for *_, gaps, clusters in raw])
    lowest, highest = return_bounds(records)
    bounds = (lowest - highest, highest - lowest)
    return [
        PairSummary(
            first=first,
            second=second,
            difference=cluster_mean(differences, clusters, unit=UNIT, bounds=bounds),
            wins=sum(d > 0 for d in differences),
            ties=sum(d == 0 for d in differences),
            losses=sum(d < 0 for d in differences),
            test=test,
        )
        for (first, second, differences, clusters), test in zip(raw, tests, strict=True)
    ]
