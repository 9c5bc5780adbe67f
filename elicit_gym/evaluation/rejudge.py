"""Judge saved conversations again, without replaying them, and see how far the two judges agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from elicit_gym.episode import EpisodeRecord, Turn
from elicit_gym.errors import SettingError
from elicit_gym.evaluation.metrics import total_reward
from elicit_gym.evaluation.summary import by_policy
from elicit_gym.judges.base import Judge, judge_all
from elicit_gym.scenarios.cues import compile_scenario
from elicit_gym.statistics import cohen_kappa
from elicit_gym.types import ItemKind, JudgeRequest, Scenario, Verdict

__all__ = ["Rejudged", "rejudge"]

CHUNK = 64


@dataclass(frozen=True, kw_only=True)
class Rejudged:
    """What a second judge says of a run.

    Attributes:
        records: the same conversations with the second judge's rewards, checklist gain. A conversation that it would
            have ended earlier keeps its later messages, which then earn nothing.
        kappa: Cohen's kappa over (turn, item) pairs that were pending under the first judge, by item kind and
            ``all``; None where one of the judges gave a single answer throughout.
        num_pairs: the number of pairs behind each kappa.
        agreement: the share of equal answers, by kind.
        num_unscored: the number of pairs that the second judge could not score; no kappa counts them.
        returns: each policy's mean return under the first and under the second judge.
    """

    records: tuple[EpisodeRecord, ...]
    kappa: Mapping[str, float | None]
    num_pairs: Mapping[str, int]
    agreement: Mapping[str, float | None]
    num_unscored: int
    returns: Mapping[str, tuple[float, float]]

    def rankings(self) -> tuple[list[str], list[str]]:
        """Return the policies from best to worst, under the first and the second judge."""
        by_first = sorted(self.returns, key=lambda policy: -self.returns[policy][0])
        by_second = sorted(self.returns, key=lambda policy: -self.returns[policy][1])
        return by_first, by_second

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types, without the records."""
        first, second = self.rankings()
        return {
            "kappa": dict(self.kappa),
            "agreement": dict(self.agreement),
            "num_pairs": dict(self.num_pairs),
            "num_unscored": self.num_unscored,
            "returns": {policy: list(pair) for policy, pair in self.returns.items()},
            "ranking_before": first,
            "ranking_after": second,
        }


def rejudge(records: Sequence[EpisodeRecord], scenarios: Sequence[Scenario], judge: Judge) -> Rejudged:
    """Judge every message of finished episodes again.

    Args:
        records: episodes of any number of policies; failed ones are left out.
        scenarios: the scenarios of the records.
        judge: the second judge, which gets the requests in batches, in the order of the records.

    Raises:
        SettingError: a record's scenario is not among `scenarios`.
    """
    by_id = {scenario.id: scenario for scenario in scenarios}
    finished = [record for record in records if record.failure is None]
    unknown = sorted({record.scenario_id for record in finished} - set(by_id))
    if unknown:
        raise SettingError(
            f"Re-judging: expected the scenarios that the run was made with, got some without {unknown[0]!r}. "
            "Name their source."
        )
    pairs: list[tuple[ItemKind, bool, bool | None]] = []
    anew: list[EpisodeRecord] = []
    for start in range(0, len(finished), CHUNK):
        chunk = finished[start : start + CHUNK]
        requests = [request for record in chunk for request in _requests(record, by_id[record.scenario_id])]
        verdicts = iter(judge_all(judge, requests))
        for record in chunk:
            given = [next(verdicts) for _ in record.episode.turns]
            pairs += _pairs(record, by_id[record.scenario_id], given)
            anew.append(_with_verdicts(record, given))
    kinds = {"all": pairs, "ask": [p for p in pairs if p[0] == "ask"], "advice": [p for p in pairs if p[0] == "advice"]}
    scored = {kind: [(a, b) for _, a, b in some if b is not None] for kind, some in kinds.items()}
    before, after = by_policy(finished), by_policy(anew)
    return Rejudged(
        records=tuple(anew),
        kappa={kind: cohen_kappa([a for a, _ in some], [b for _, b in some]) for kind, some in scored.items()},
        num_pairs={kind: len(some) for kind, some in scored.items()},
        agreement={kind: sum(a == b for a, b in some) / len(some) if some else None for kind, some in scored.items()},
        num_unscored=sum(answer is None for *_, answer in pairs),
        returns={policy: (_mean(before[policy]), _mean(after[policy])) for policy in before},
    )


def _mean(records: Sequence[EpisodeRecord]) -> float:
    return sum(map(total_reward, records)) / len(records)


def _requests(record: EpisodeRecord, scenario: Scenario) -> list[JudgeRequest]:
    """Return one request per turn, over all items: what one judge holds satisfied may still be open for the other."""
    cues = compile_scenario(scenario)
    disclosed: frozenset[str] = frozenset()
    heard = scenario.opening_message
    requests = []
    for turn in record.episode.turns:
        requests.append(
            JudgeRequest(
                scenario=scenario,
                pending=tuple(range(len(scenario.checklist))),
                user_message=heard,
                assistant_message=turn.action,
                disclosed=disclosed,
                seed=record.seed,
            )
        )
        heard = turn.reply or ""
        disclosed |= cues.disclosed_in(heard)
    return requests


def _pairs(
    record: EpisodeRecord, scenario: Scenario, given: Sequence[tuple[Verdict, ...]]
) -> list[tuple[ItemKind, bool, bool | None]]:
    satisfied: set[int] = set()
    pairs: list[tuple[ItemKind, bool, bool | None]] = []
    for turn, verdicts in zip(record.episode.turns, given, strict=True):
        for i, item in enumerate(scenario.checklist):
            if i not in satisfied and i not in turn.unscored:
                pairs.append((item.kind, i in turn.newly_satisfied, verdicts[i].satisfied))
        satisfied.update(turn.newly_satisfied)
    return pairs


def _with_verdicts(record: EpisodeRecord, given: Sequence[tuple[Verdict, ...]]) -> EpisodeRecord:
    satisfied: set[int] = set()
    turns: list[Turn] = []
    num_items = len(given[0]) if given else 0
    for turn, verdicts in zip(record.episode.turns, given, strict=True):
        newly = tuple(i for i, v in enumerate(verdicts) if v.satisfied and i not in satisfied)
        unscored = tuple(i for i, v in enumerate(verdicts) if v.satisfied is None and i not in satisfied)
        satisfied.update(newly)
        turns.append(replace(turn, newly_satisfied=newly, unscored=unscored, reward=float(len(newly))))
    done = num_items > 0 and len(satisfied) == num_items
    return replace(record, episode=replace(record.episode, turns=tuple(turns), terminated=done, truncated=not done))
