"""From records to numbers: what one policy did, and how two policies differ on the same units."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from elicit_gym.episode import EpisodeRecord
from elicit_gym.evaluation.metrics import METRICS, num_turns, total_reward
from elicit_gym.statistics import (
    Estimate,
    cluster_estimate,
    cluster_mean,
    holm,
    sign_flip_p_value,
    worst_mean,
)

__all__ = ["PairSummary", "PolicySummary", "best_quarter", "summarise_pairs", "summarise_policies", "worst_quarter"]


@dataclass(frozen=True, kw_only=True)
class PolicySummary:
    """What one policy did.

    Attributes:
        metrics: by name, see `elicit_gym.evaluation.metrics.METRICS`.
        worst_quarter: mean return of the worst 25 % of episodes (the paper's Figure 4).
        curve: mean cumulative reward after each turn, shape (max_turns,) (Figure 3).
        worst_curve: the same over the worst 25 % of episodes, that selection held fixed (Figure 4).
        best_lengths: the number of episodes of each length among the best 25 % (Figure 5).
        return_if_unscored_were_yes: the upper bound of the mean return; the mean itself counts unscored items as "no".
        num_unscored: the number of verdicts that the judge could not give.
        failures: the number of failed episodes by source; no mean counts them.
        flags: the user simulator's repairs, counted by name.
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
            "failures": dict(self.failures),
            "flags": dict(self.flags),
        }


@dataclass(frozen=True, kw_only=True)
class PairSummary:
    """How the first policy differs from the second on the units that both finished.

    Attributes:
        difference: mean return of the first less that of the second.
        p_value: of the sign-flip test; None with fewer than two clusters.
        p_corrected: after Holm's correction for the number of pairs.
    """

    first: str
    second: str
    difference: Estimate
    wins: int
    ties: int
    losses: int
    p_value: float | None
    p_corrected: float | None

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""
        return {
            "first": self.first,
            "second": self.second,
            "difference": self.difference.to_row(),
            "wins": self.wins,
            "ties": self.ties,
            "losses": self.losses,
            "p_value": self.p_value,
            "p_corrected": self.p_corrected,
        }


def by_policy(records: Sequence[EpisodeRecord]) -> dict[str, list[EpisodeRecord]]:
    """Group records by policy, in order of appearance."""
    grouped: dict[str, list[EpisodeRecord]] = {}
    for record in records:
        grouped.setdefault(record.policy, []).append(record)
    return grouped


def worst_quarter(records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Return the 25 % of episodes with the lowest returns, at least one."""
    return sorted(records, key=total_reward)[: max(1, round(0.25 * len(records)))] if records else []


def best_quarter(records: Sequence[EpisodeRecord]) -> list[EpisodeRecord]:
    """Return the 25 % of episodes with the highest returns, shorter ones first among equals, at least one."""
    ranked = sorted(records, key=lambda record: (-total_reward(record), num_turns(record)))
    return ranked[: max(1, round(0.25 * len(ranked)))] if ranked else []


def _curve(records: Sequence[EpisodeRecord], max_turns: int) -> tuple[Estimate, ...]:
    clusters = [record.episode.opening_message for record in records]
    totals = np.zeros((len(records), max_turns))
    for i, record in enumerate(records):
        for t, turn in enumerate(record.episode.turns):
            totals[i, t] = turn.reward
    totals = totals.cumsum(axis=1)
    return tuple(cluster_mean(totals[:, t].tolist(), clusters) for t in range(max_turns))


def _summarise(policy: str, records: Sequence[EpisodeRecord], max_turns: int, privileged: bool) -> PolicySummary:
    finished = [record for record in records if record.failure is None]
    clusters = [record.episode.opening_message for record in finished]
    metrics: dict[str, Estimate] = {}
    for name, metric in METRICS.items():
        measured = [
            (value, c) for record, c in zip(finished, clusters, strict=True) if (value := metric(record)) is not None
        ]
        metrics[name] = cluster_mean([value for value, _ in measured], [c for _, c in measured])
    if metrics["turns_to_success"].value is None:
        metrics["turns_to_success"] = Estimate(value=None, reason="no successful episode")
    returns = [total_reward(record) for record in finished]
    return PolicySummary(
        policy=policy,
        privileged=privileged,
        num_episodes=len(finished),
        metrics=metrics,
        worst_quarter=cluster_estimate(returns, clusters, worst_mean),
        curve=_curve(finished, max_turns),
        worst_curve=_curve(worst_quarter(finished), max_turns),
        best_lengths=dict(sorted(Counter(int(num_turns(record)) for record in best_quarter(finished)).items())),
        return_if_unscored_were_yes=float(
            np.mean([r + len(record.episode.doubtful) for r, record in zip(returns, finished, strict=True)])
        )
        if finished
        else None,
        num_unscored=sum(len(turn.unscored) for record in finished for turn in record.episode.turns),
        failures=dict(Counter(record.failure.source for record in records if record.failure is not None)),
        flags=dict(Counter(flag for record in records for turn in record.episode.turns for flag in turn.flags)),
    )


def summarise_policies(
    records: Sequence[EpisodeRecord], *, max_turns: int = 10, privileged: Sequence[str] = ()
) -> list[PolicySummary]:
    """Summarise each policy, in order of appearance.

    Args:
        records: episodes of any number of policies.
        max_turns: the length of the curves.
        privileged: the names of the policies that know the hidden context.
    """
    return [_summarise(policy, own, max_turns, policy in privileged) for policy, own in by_policy(records).items()]


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
        raw.append((first, second, differences, clusters, sign_flip_p_value(differences, clusters)))
    corrected = holm([p for *_, p in raw])
    return [
        PairSummary(
            first=first,
            second=second,
            difference=cluster_mean(differences, clusters),
            wins=sum(d > 0 for d in differences),
            ties=sum(d == 0 for d in differences),
            losses=sum(d < 0 for d in differences),
            p_value=p,
            p_corrected=p_holm,
        )
        for (first, second, differences, clusters, p), p_holm in zip(raw, corrected, strict=True)
    ]
