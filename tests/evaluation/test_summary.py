"""From records to numbers."""

import math
from dataclasses import replace

import pytest

from elicit_gym.agents import load_policy
from elicit_gym.episode import Episode, EpisodeRecord, Failure, Turn
from elicit_gym.evaluation.metrics import METRICS
from elicit_gym.evaluation.noise_floor import noise_floor
from elicit_gym.evaluation.summary import best_quarter, return_bounds, summarise_pairs, summarise_policies


def record(
    policy: str, scenario: str, rewards: list[int], *, failed: bool = False, repeat: int = 0,
    unscored: tuple[int, ...] = (), action: str = "What is it?",
) -> EpisodeRecord:  # fmt: skip
    done = 0
    turns = []
    for i, gain in enumerate(rewards):
        newly = tuple(range(done, done + gain))
        done += gain
        turns.append(
            Turn(action=action, reply=None if i == len(rewards) - 1 else "Ok.", reward=float(gain),
                 newly_satisfied=newly, unscored=unscored if i == 0 else ())
        )  # fmt: skip
    return EpisodeRecord(
        policy=policy, env_id="e", scenario_id=scenario, repeat=repeat, seed=0,
        episode=Episode(opening_message=scenario[0], turns=tuple(turns), terminated=done == 5 and not failed,
                        truncated=done < 5 and not failed),
        failure=Failure(source="policy", message="no", turn=1) if failed else None,
    )  # fmt: skip


RECORDS = [
    record("a", "x1", [1, 1, 0]), record("a", "y1", [0, 0, 0]), record("a", "z1", [5]), record("a", "w1", [0, 1, 0]),
    record("b", "x1", [1, 0, 0]), record("b", "y1", [0, 0, 0]), record("b", "z1", [0, 0, 0], failed=True),
    record("b", "w1", [0, 3, 0]),
]  # fmt: skip


def test_means_leave_failures_out() -> None:
    a, b = summarise_policies(RECORDS, max_turns=3)
    assert a.metrics["return"].value == 2.0
    assert a.metrics["success_rate"].value == 0.25
    assert a.metrics["turns_to_success"].value == 1.0
    assert b.num_episodes == 3
    assert b.metrics["return"].value == pytest.approx(4 / 3)
    assert b.failures == {"policy": 1}
    assert b.metrics["turns_to_success"].value is None
    assert b.metrics["turns_to_success"].reason == "no successful episode"


def test_the_curve_goes_on_after_an_early_end() -> None:
    (a, _) = summarise_policies(RECORDS, max_turns=3)
    assert [estimate.value for estimate in a.curve] == [1.5, 2.0, 2.0]
    assert [estimate.value for estimate in a.worst_curve] == [0, 0, 0]


def test_the_best_quarter() -> None:
    own = [r for r in RECORDS if r.policy == "a"]
    assert [r.scenario_id for r in best_quarter(own)] == ["z1"]
    assert summarise_policies(RECORDS, max_turns=3)[0].best_lengths == {1: 1}


def test_pairs_use_what_both_finished() -> None:
    (pair,) = summarise_pairs(RECORDS)
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 1)
    assert pair.difference.value == pytest.approx((1 + 0 - 2) / 3)
    assert pair.difference.num == 3


def test_few_opening_messages_have_no_interval_and_cannot_be_significant() -> None:
    (a, _), (pair,) = summarise_policies(RECORDS, max_turns=3), summarise_pairs(RECORDS)
    for estimate in (a.metrics["return"], a.metrics["success_rate"], a.worst_quarter, *a.curve, *a.worst_curve):
        assert estimate.value is not None
        assert (estimate.low, estimate.reason) == (None, "no interval: 4 opening messages")
    assert a.metrics["turns_to_success"].reason == "no interval: 1 opening message"
    assert pair.difference.reason == "no interval: 3 opening messages"
    assert (pair.test.p_value, pair.test.p_corrected) == (None, None)
    row = pair.to_row()
    assert row["test_reason"] == "cannot be significant with 3 opening messages"
    assert row["p_value"] is None
    assert row["difference"]["reason"] == "no interval: 3 opening messages"


def test_intervals_of_returns_keep_to_what_a_return_can_be() -> None:
    assert return_bounds(RECORDS) == (0, 5)
    rows = [record("a", f"{chr(97 + i)}1", [5] if i == 0 else [0, 0]) for i in range(6)]
    (a,) = summarise_policies(rows, max_turns=2)
    ends = [(e.low, e.high) for e in (a.metrics["return"], *a.curve)]
    assert ends == [(0, 5)] * 3
    assert (a.metrics["success_rate"].low, a.metrics["success_rate"].high) == (0, 1)
    # A reward that costs turns can be below 0: nothing is known of its bounds, and nothing is cut.
    costly = [replace(r, episode=replace(r.episode, turns=tuple(replace(t, reward=t.reward - 0.1) for t in r.episode.turns)))
              for r in rows]  # fmt: skip
    assert return_bounds(costly) == (-math.inf, math.inf)
    (b,) = summarise_policies(costly, max_turns=2)
    assert (b.metrics["return"].low or 0) < -0.1


def test_the_worst_curve_ends_where_the_worst_quarter_is() -> None:
    records = [record("a", f"{chr(97 + i)}{k}", [i % 3, k]) for i in range(10) for k in range(2)]
    (a,) = summarise_policies(records, max_turns=2)
    assert a.worst_curve[-1] == a.worst_quarter
    assert a.worst_quarter.low is not None


def test_unscored_items_bound_the_return() -> None:
    (summary,) = summarise_policies(
        [record("a", "x1", [0, 1], unscored=(0, 3)), record("a", "y1", [0, 0])], max_turns=2
    )
    assert summary.metrics["return"].value == 0.5
    assert summary.return_if_unscored_were_yes == 1.0  # item 3 might have been a yes, item 0 became one later
    assert summary.num_unscored == 2


def test_all_failed_is_nothing_and_not_zero() -> None:
    (summary,) = summarise_policies([record("a", "x1", [1], failed=True)], max_turns=2)
    assert summary.metrics["return"].value is None
    assert summary.return_if_unscored_were_yes is None
    assert summary.num_episodes == 0


def test_metrics_of_messages() -> None:
    chatty = record("a", "x1", [0, 0], action="What is your budget? Your budget is what? Fine.")
    assert METRICS["questions_per_message"](chatty) == 2
    assert METRICS["repeated_questions"](chatty) == 3
    assert METRICS["words_per_message"](chatty) == 9
    empty = record("a", "x1", [])
    assert METRICS["words_per_message"](empty) is None


class Coin:
    """Returns depend on the seed."""

    name = "coin"

    def reset(self, seed: int) -> None:
        self.lucky = seed % 2

    def act(self, history: object) -> str:
        return "How much money can you spend?" if self.lucky else "Nice."


def test_noise_floor() -> None:
    ids = [f"{i:02d}-{k}" for i in range(0, 40, 2) for k in "ab"]
    still = noise_floor(load_policy("ask-one"), scenario_ids=ids, repeats=2)
    assert still.floors == (None, None)  # no noise seen, which is no proof that there is none
    assert [e.reason for e in still.by_repeats] == ["no interval: all 20 opening messages alike"] * 2
    assert still.num_changed == 0
    moving = noise_floor(Coin(), scenario_ids=ids, repeats=3)
    assert moving.num_changed > 0
    assert all(floor is not None and floor > 0 for floor in moving.floors)
    for estimate in moving.by_repeats:
        assert estimate.low is not None
        assert estimate.high is not None
        assert estimate.low <= 0 <= estimate.high
