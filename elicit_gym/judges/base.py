"""The judge protocol."""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from elicit_gym.types import JudgeRequest, Verdict

__all__ = ["BatchJudge", "Judge", "judge_all"]


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

    def judge_batch(self, requests: Sequence[JudgeRequest]) -> list[tuple[Verdict, ...]]:
        """Return what `judge` would for each request, in order."""
        ...


def judge_all(judge: Judge, requests: Sequence[JudgeRequest]) -> list[tuple[Verdict, ...]]:
    """Judge all requests, in one batch where the judge can."""
    if isinstance(judge, BatchJudge):
        return judge.judge_batch(requests)
    return [judge.judge(request) for request in requests]
