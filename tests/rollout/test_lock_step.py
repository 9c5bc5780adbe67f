"""Conversations in lock step: the same records, in full batches."""

from typing import Any

import pytest

from elicit_gym import EpisodeRecord
from elicit_gym.agents import load_policy
from tests.rollout.players import Blank, Chooser, Unseeded, run


@pytest.mark.parametrize("make", [Chooser, Unseeded, lambda: load_policy("oracle"), lambda: load_policy("random")])
@pytest.mark.parametrize("concurrency", [2, 4, 64])
def test_the_records_are_the_same(make: Any, concurrency: int) -> None:
    assert run(make(), concurrency) == run(make(), 1)


def test_lock_step_answers_in_full_batches_and_fills_free_places() -> None:
    policy = Chooser()
    run(lambda: policy, 4)
    assert policy.batches[:30] == [4] * 30  # 15 conversations of 10 turns: only the last three are fewer than four
    assert policy.batches[30:] == [3] * 10
    assert sum(policy.batches) == sum(len(r.episode.turns) for r in run(Chooser(), 1))


def test_failures_stay_with_their_conversation() -> None:
    opening = next(r for r in run(Chooser(), 1) if r.scenario_id == "11-b").episode.opening_message
    failing = run(Chooser(fail_on=opening), 4)
    assert failing == run(Chooser(fail_on=opening), 1)
    assert {r.scenario_id for r in failing if r.failure} == {"11-b"}
    assert all(r.failure.source == "policy" and r.failure.turn == 3 for r in failing if r.failure)
    # A batch of the wrong size is no answer: each conversation is asked by itself.
    assert run(Chooser(broken_batch=True), 4) == run(Chooser(), 1)


def test_a_failing_judge_and_a_blank_message_are_attributed_in_lock_step_too() -> None:
    picky = {"judge": "tests.rollout.players:Picky"}
    alone, together = (run(Chooser(), n, env_kwargs=picky) for n in (1, 4))
    assert {(r.scenario_id, r.failure.source) for r in together if r.failure} == {("07-a", "judge")}

    def bare(records: list[EpisodeRecord]) -> list[Any]:  # the failure's text names the call, which was another
        return [(r.unit, r.episode, r.failure and (r.failure.source, r.failure.turn)) for r in records]

    assert bare(together) == bare(alone)
    blank = run(Blank(), 4)
    assert blank == run(Blank(), 1)
    assert {r.failure.source for r in blank if r.failure} == {"policy"}
    assert 0 < sum(r.failure is not None for r in blank) < len(blank)
