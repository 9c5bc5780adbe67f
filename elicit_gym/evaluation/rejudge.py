"""Judge saved conversations anew, without replaying policy and user, and see how far the two judges agree."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from gymnasium.utils.seeding import np_random

from elicit_gym.envs.conversation import Conversation
from elicit_gym.envs.infoquest import draw_episode
from elicit_gym.envs.step_result import StepResult
from elicit_gym.envs.stepping import JudgedAction, judge_actions, make_step, reward_of
from elicit_gym.episode import EpisodeRecord, Failure, Turn
from elicit_gym.errors import BudgetExceeded, EpisodeFailure, FatalModelError, RewardFailure, SettingError
from elicit_gym.evaluation.metrics import total_reward
from elicit_gym.evaluation.summary import UNIT, by_policy
from elicit_gym.judges.base import Judge, check_scenarios
from elicit_gym.llm.runtime import current_runtime
from elicit_gym.llm.spending import on_account_of
from elicit_gym.redaction import redact
from elicit_gym.rewards import Reward
from elicit_gym.rollout.estimate import check_prices
from elicit_gym.rollout.run_episode import turn_of
from elicit_gym.rollout.usage import UsageRow, usage_of_run
from elicit_gym.statistics.estimates import Estimate, cluster_kappa, cluster_mean
from elicit_gym.types import ItemKind, Scenario, UserReply

__all__ = ["Rejudged", "rejudge"]

CHUNK = 256
"""Conversations that are judged in one batch."""

Pair = tuple[ItemKind, bool, bool | None, str]
"""Kind of the item, the answers of the first and the second judge, the opening message."""


@dataclass(frozen=True, kw_only=True)
class Rejudged:
    """What a second judge says of a run.

    Attributes:
        records: the same conversations under the second judge's verdicts. A conversation that would have ended earlier
            ends there: its later messages are left out. One that would have gone on is truncated where the recording
            stops.
        kappa: Cohen's kappa over (turn, item) pairs that were pending under both judges, by item kind and ``all``, with
            an interval over opening messages; no value where one of the judges gave a single answer throughout.
        agreement: share of equal answers, by kind, likewise.
        num_unscored: pairs that the second judge could not score; in no kappa.
        num_ended_earlier: conversations that would have ended earlier.
        num_cut_off: conversations that would have gone on.
        failures: conversations that the second judge failed on, by source; they are in none of these numbers.
        returns: mean return of each policy under the first and the second judge, on the conversations that both judged.
        usage: what the second judge's calls have cost.
        stopped: why not all conversations were judged (no call can succeed, or the budget is spent); None where all
            were.
    """

    records: tuple[EpisodeRecord, ...]
    kappa: Mapping[str, Estimate]
    agreement: Mapping[str, Estimate]
    num_unscored: int
    num_ended_earlier: int
    num_cut_off: int
    failures: Mapping[str, int]
    returns: Mapping[str, tuple[float, float]]
    usage: tuple[UsageRow, ...] = ()
    stopped: str | None = None

    def rankings(self) -> tuple[list[str], list[str]]:
        """Return the policies from best to worst, under the first and the second judge."""
        by_first = sorted(self.returns, key=lambda policy: -self.returns[policy][0])
        by_second = sorted(self.returns, key=lambda policy: -self.returns[policy][1])
        return by_first, by_second

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types, without the records."""
        first, second = self.rankings()
        return {
            "kappa": {kind: estimate.to_row() for kind, estimate in self.kappa.items()},
            "agreement": {kind: estimate.to_row() for kind, estimate in self.agreement.items()},
            "num_unscored": self.num_unscored,
            "num_ended_earlier": self.num_ended_earlier,
            "num_cut_off": self.num_cut_off,
            "failures": dict(self.failures),
            "returns": {policy: list(pair) for policy, pair in self.returns.items()},
            "ranking_before": first,
            "ranking_after": second,
            "usage": [row.to_row() for row in self.usage],
            "stopped": self.stopped,
        }


def rejudge(
    records: Sequence[EpisodeRecord], scenarios: Sequence[Scenario], judge: Judge, *, reward: Reward, max_turns: int
) -> Rejudged:
    """Judge every message of finished episodes anew.

    The second judge is asked what an environment would ask it: its own pending items, under the seed that the
    conversation had. The same judge therefore gives the same verdicts and the same returns.

    Args:
        records: of any number of policies; failed episodes are left out.
        scenarios: all that the run's environment could draw: the conversations' seeds derive from their number.
        judge: the second judge. Many conversations go to it in one batch, turn by turn.
        reward: the run's own.
        max_turns: likewise.

    A request that fails costs its own conversation. Where no call can succeed any more, or the budget is spent, the
    rest of the conversations fail, and what was judged before stands.

    Raises:
        SettingError: a record's scenario is not among `scenarios`, the judge cannot judge it, or a budget in dollars
            meets a model whose price is unknown.
        FatalModelError: no call to a model can succeed, and none has.
    """
    runtime = current_runtime()
    check_prices(runtime.budget, runtime.prices, (), judge=judge)
    mark = runtime.budget.ledger.snapshot()
    by_id = {scenario.id: scenario for scenario in scenarios}
    finished = [record for record in records if record.failure is None]
    unknown = sorted({record.scenario_id for record in finished} - set(by_id))
    if unknown:
        raise SettingError(
            f"Re-judging: expected the scenarios that the run was made with, {unknown[0]!r} is not among them. "
            "Name their source (--scenarios)."
        )
    check_scenarios(judge, [by_id[scenario_id] for scenario_id in dict.fromkeys(r.scenario_id for r in finished)])
    replays: list[_Replay] = []
    stopped: EpisodeFailure | None = None
    for start in range(0, len(finished), CHUNK):
        chunk = []
        for record in finished[start : start + CHUNK]:
            _, seed = draw_episode(np_random(record.seed)[0], len(scenarios))
            chunk.append(_Replay(record, Conversation(by_id[record.scenario_id], max_turns=max_turns, seed=seed)))
        replays += chunk
        try:
            if stopped is None:
                _replay_all(chunk, judge, reward)
        except FatalModelError as error:
            if not any(replay.judged for replay in replays):
                raise
            stopped = error
        stopped = stopped or next((r.error for r in chunk if isinstance(r.error, BudgetExceeded)), None)
        for replay in chunk:
            if stopped is not None and not replay.done:
                replay.fail(stopped)
    result = _summarise(replays)
    usage = tuple(usage_of_run(runtime.budget.ledger.rows(mark)))
    return replace(result, usage=usage, stopped=None if stopped is None else str(stopped))


class _Replay:
    """A recorded conversation on its way through another judge."""

    def __init__(self, record: EpisodeRecord, conversation: Conversation) -> None:
        self.recorded, self.conversation = record, conversation
        self.turns: list[Turn] = []
        self.pairs: list[Pair] = []
        self.failure: Failure | None = None
        self.error: EpisodeFailure | None = None
        self._satisfied_before: set[int] = set()

    @property
    def done(self) -> bool:
        """Whether there is nothing left to judge."""
        return self.conversation.done or self.failure is not None or not self.recorded.episode.turns

    @property
    def judged(self) -> bool:
        """Whether anything of it was judged."""
        return bool(self.turns)

    @property
    def turn(self) -> Turn:
        """The recorded turn to be judged."""
        return self.recorded.episode.turns[len(self.turns)]

    @property
    def ended_earlier(self) -> bool:
        """Whether the conversation would have ended before the recorded end."""
        return len(self.turns) < len(self.recorded.episode.turns)

    @property
    def cut_off(self) -> bool:
        """Whether the conversation would have gone on at the recorded end."""
        return self.conversation.truncated and self.conversation.turn < self.conversation.max_turns

    def fail(self, error: EpisodeFailure) -> None:
        """Note that the judge failed."""
        self.error = error
        turn = len(self.turns) + 1
        self.failure = Failure(source=error.source, message=redact(str(error)), turn=turn, seat=error.seat)

    def reply(self) -> UserReply | None:
        """Return the user's recorded reply to the turn; None where the recording stops."""
        turn, episode = self.turn, self.recorded.episode
        last = len(self.turns) == len(episode.turns) - 1
        if turn.reply is None or (last and not episode.left):
            return None
        return UserReply(
            text=turn.reply,
            leaves=last,
            flags=tuple(flag for flag in turn.flags if not flag.startswith(("policy:", "judge:"))),
            usage=tuple(usage for usage in turn.usage if usage.seat not in ("policy", "judge")),
        )

    def compare(self, judged: JudgedAction) -> None:
        """Note both judges' answers on the items that are pending under both."""
        turn = self.turn
        for i, verdict in zip(judged.conversation.pending, judged.verdicts, strict=True):
            if i not in self._satisfied_before and i not in turn.unscored:
                kind = self.conversation.scenario.checklist[i].kind
                opening = self.recorded.episode.opening_message
                self.pairs.append((kind, i in turn.newly_satisfied, verdict.satisfied, opening))
        self._satisfied_before.update(turn.newly_satisfied)

    def take(self, result: StepResult) -> None:
        """Note the step that the verdicts make."""
        turn = self.turn
        spent = tuple(usage for usage in turn.usage if usage.seat == "policy")
        repaired = tuple(flag for flag in turn.flags if flag.startswith("policy:"))
        self.turns.append(turn_of(turn.action, result, spent, repaired))

    def record(self) -> EpisodeRecord:
        """Return the record under the second judge."""
        whole = self.failure is None
        episode = replace(
            self.recorded.episode,
            turns=tuple(self.turns),
            terminated=whole and self.conversation.terminated,
            truncated=whole and self.conversation.truncated,
            left=whole and self.conversation.left,
        )
        return replace(self.recorded, episode=episode, failure=self.failure)


def _replay_all(replays: Sequence[_Replay], judge: Judge, reward: Reward) -> None:
    while under_way := [replay for replay in replays if not replay.done]:
        with on_account_of("the second judge"):
            answers = judge_actions(judge, [r.conversation for r in under_way], [r.turn.action for r in under_way])
        for replay, judged in zip(under_way, answers, strict=True):
            if isinstance(judged, EpisodeFailure):
                replay.fail(judged)
            else:
                replay.compare(judged)
                reply = None if judged.turn is None else replay.reply()
                try:
                    replay.take(make_step(judged, reply, reward_of(reward, judged, reply)))
                except RewardFailure as failure:
                    replay.fail(failure)


def _summarise(replays: Sequence[_Replay]) -> Rejudged:
    whole = [replay for replay in replays if replay.failure is None]
    pairs = [pair for replay in whole for pair in replay.pairs]
    kinds = {"all": pairs, "ask": [p for p in pairs if p[0] == "ask"], "advice": [p for p in pairs if p[0] == "advice"]}
    scored = {kind: [pair for pair in some if pair[2] is not None] for kind, some in kinds.items()}
    records = [replay.record() for replay in replays]
    before = by_policy([replay.recorded for replay in whole])
    after = by_policy([record for record in records if record.failure is None])
    return Rejudged(
        records=tuple(records),
        kappa={
            kind: cluster_kappa([a for _, a, _, _ in some], [b for _, _, b, _ in some], _openings(some), unit=UNIT)
            for kind, some in scored.items()
        },
        agreement={
            kind: cluster_mean([a == b for _, a, b, _ in some], _openings(some), unit=UNIT, bounds=(0.0, 1.0))
            for kind, some in scored.items()
        },
        num_unscored=sum(answer is None for _, _, answer, _ in pairs),
        num_ended_earlier=sum(replay.ended_earlier for replay in whole),
        num_cut_off=sum(replay.cut_off for replay in whole),
        failures=dict(Counter(replay.failure.source for replay in replays if replay.failure is not None)),
        returns={policy: (_mean(before[policy]), _mean(after[policy])) for policy in before},
    )


def _openings(pairs: Sequence[Pair]) -> list[str]:
    return [opening for *_, opening in pairs]


def _mean(records: Sequence[EpisodeRecord]) -> float:
    return sum(map(total_reward, records)) / len(records)
