"""The judge protocol."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from elicit_gym.batches import answer_all
from elicit_gym.errors import EpisodeFailure
from elicit_gym.types import JudgeReply, JudgeRequest, Scenario, Verdict

__all__ = ["JUDGING", "BatchJudge", "Judge", "ScenarioCheckingJudge", "check_scenarios", "judge_all", "judge_replies"]

JUDGING = "Judging a message"


@runtime_checkable
class Judge(Protocol):
    """Says which pending checklist items the latest message satisfies.

    A judge keeps nothing between calls, so that one judge serves many conversations, threads and re-judged runs.
    """

    name: str

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        """Return one verdict for each pending item, in the order of `request.pending`."""
        ...


@runtime_checkable
class BatchJudge(Judge, Protocol):
    """A judge that scores many conversations in one go."""

    def judge_batch(self, requests: Sequence[JudgeRequest]) -> Sequence[tuple[Verdict, ...] | EpisodeFailure]:
        """Return what `judge` would for each request, in order; a failure stands in the place of its own request."""
        ...


@runtime_checkable
class ScenarioCheckingJudge(Judge, Protocol):
    """A judge that needs more of a scenario than every scenario has, and says so before the first episode."""

    def check_scenarios(self, scenarios: Sequence[Scenario]) -> None:
        """Refuse scenarios that it cannot judge.

        Raises:
            SettingError: names the scenario and what it lacks.
        """
        ...


def check_scenarios(judge: Judge, scenarios: Sequence[Scenario]) -> None:
    """Let a judge look at the scenarios that it will judge, where it wants to.

    Raises:
        SettingError: it cannot judge one of them.
    """
    if isinstance(judge, ScenarioCheckingJudge):
        judge.check_scenarios(scenarios)


def judge_all(judge: Judge, requests: Sequence[JudgeRequest]) -> list[tuple[Verdict, ...] | EpisodeFailure]:
    """Judge all requests, in one batch where the judge can.

    Returns:
        The verdicts of each request, in order; a failure, attributed, stands in the place of its own request.

    Raises:
        FatalModelError: no call to a model can succeed.
    """
    # Protocols are slow to ask for: one request needs no batch.
    batch = judge.judge_batch if len(requests) > 1 and isinstance(judge, BatchJudge) else None
    return answer_all(requests, judge.judge, batch, source="judge", doing=JUDGING)


def judge_replies(pending: Sequence[int], verdicts: Sequence[Verdict]) -> tuple[JudgeReply, ...]:
    """Return what a judge wrote about the items that were pending; nothing for one that does not write."""
    for verdict in verdicts:
        if verdict.raw is not None:
            break
    else:
        return ()
    return tuple(
        JudgeReply(item=item, satisfied=v.satisfied, replies=(*v.earlier, v.raw), reason=v.reason)
        for item, v in zip(pending, verdicts, strict=True)
        if v.raw is not None
    )
