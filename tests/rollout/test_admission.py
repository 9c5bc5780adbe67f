"""A budget stops the starting of episodes: what is paid for is kept, resumed runs go on, and all calls are counted."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elicit_gym import collect_episodes, compare, load_scenarios
from elicit_gym.agents.llm_policy import LLMPolicy
from elicit_gym.errors import SettingError
from elicit_gym.evaluation.failures import SHORT_FIRST
from elicit_gym.llm.budget import Budget
from elicit_gym.llm.prices import parse_prices
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.rollout.storage import load_run
from tests.fault_server import FaultServer

ENV = "elicit_gym/InfoQuestLLM-v0"
IDS = [s.id for s in load_scenarios()[:24]]
Tokens = Callable[[list[dict[str, str]], str], tuple[int, int]]


def even(messages: list[dict[str, str]], text: str) -> tuple[int, int]:
    return 40, 10


def by_length(messages: list[dict[str, str]], text: str) -> tuple[int, int]:
    return sum(len(m["content"]) for m in messages) // 4, len(text) // 4


def wild(messages: list[dict[str, str]], text: str) -> tuple[int, int]:
    """Some conversations cost ten times what others do, as those of a model that thinks."""
    return 50, 10 * len(messages[-1]["content"]) if sum(map(len, messages[-1]["content"].split())) % 7 == 0 else 20


def thinking(messages: list[dict[str, str]], text: str) -> tuple[int, int]:
    """Every message costs far more than an estimate by its length says."""
    return sum(len(m["content"]) for m in messages) // 4, 9_000


COSTS = pytest.mark.parametrize(
    ("tokens", "kept_at_least"), [(even, 0.95), (by_length, 0.95), (wild, 0.0), (thinking, 0.9)]
)


def arguments(server: FaultServer, out: Path, **more: Any) -> dict[str, Any]:
    model = {"model": "tiny", "api_base": server.api_base, "transport": "http"}
    seats = {"user_simulator_kwargs": model, "judge_kwargs": model, "max_turns": 2}
    return {"env_kwargs": seats, "scenario_ids": IDS, "concurrency": 32, "out": out, **more}


def policy(server: FaultServer, name: str | None = None) -> LLMPolicy:
    return LLMPolicy("tiny", api_base=server.api_base, transport="http", name=name)


def price_of_a_run(tokens: Tokens) -> int:
    with FaultServer(tokens=tokens) as server, llm_runtime(Runtime()):
        seats = arguments(server, Path("unused"))
        collect_episodes(policy(server), ENV, **{**seats, "out": None})
        return server.tokens_spent


@COSTS
def test_a_budget_keeps_what_is_paid_for_and_resumed_runs_reach_the_end(
    tokens: Tokens, kept_at_least: float, tmp_path: Path
) -> None:
    whole = price_of_a_run(tokens)
    with FaultServer(tokens=tokens, latency=0.01) as server:
        made = 0
        for share in (0.25, 0.25, 0.6, 1.8):
            limit = round(share * whole)
            with llm_runtime(Runtime(budget=Budget(tokens=limit))):
                resume = (tmp_path / "run").exists()
                comparison = compare([policy(server)], ENV, **arguments(server, tmp_path / "run"), resume=resume)
            done = [r for r in comparison.records if r.failure is None]
            assert server.tokens_spent <= 1.02 * limit
            # The money went into episodes that are there. Where some cost ten times what others do, those that turn out
            # to be dear are cut off in the beginning; over the whole run that is bounded below.
            kept = sum(u.input_tokens + u.output_tokens for r in done for t in r.episode.turns for u in t.usage)
            if tokens is not wild:
                assert kept >= kept_at_least * server.tokens_spent
            stopped = comparison.manifest.stopped
            if len(done) < len(IDS):
                assert stopped is not None
                assert f"{len(done)} of {len(IDS)} episodes are there" in stopped
                assert SHORT_FIRST in (tmp_path / "run" / "report.html").read_text()
                assert comparison.to_row()["warning"] == SHORT_FIRST
                assert len(done) > made or share == 0.25  # the second time there is no new money
            else:
                assert stopped is None
            # The books hold every call, those of episodes that were cut off included.
            assert sum(row.input_tokens + row.output_tokens for row in comparison.usage) == server.tokens_spent
            made = len(done)
        if tokens is not wild:
            assert made == len(IDS)
            assert server.tokens_spent <= (1.05 + 2 * (1 - kept_at_least)) * whole
        with llm_runtime(Runtime()):
            last = compare([policy(server)], ENV, **arguments(server, tmp_path / "run"), resume=True)
        assert len(last.records) == len(IDS)
    assert load_run(tmp_path / "run")[1].stopped is None


def test_a_budget_of_less_than_an_episode_ends_within_it_and_learns(tmp_path: Path) -> None:
    with FaultServer(tokens=even) as server:
        run = arguments(server, tmp_path / "run")
        with llm_runtime(Runtime(budget=Budget(tokens=300))):
            first = compare([policy(server)], ENV, **run)
        assert first.records == ()
        assert 300 <= server.tokens_spent <= 600  # the five calls of a judge go out at once
        assert "0 of 24 episodes" in (first.manifest.stopped or "")
        (line,) = first.without_a_result()
        assert line.startswith("tiny: no episode was finished. Keeping to a budget of 300 tokens")
        spent = server.tokens_spent
        with llm_runtime(Runtime(budget=Budget(tokens=300))):
            compare([policy(server)], ENV, **run, resume=True)
        assert server.tokens_spent == spent  # a resumed run counts what was spent before
        with llm_runtime(Runtime(budget=Budget(tokens=5_000))):
            more = compare([policy(server)], ENV, **run, resume=True)
        assert len(more.records) >= 5


def test_policies_share_a_budget_so_that_they_can_be_compared(tmp_path: Path) -> None:
    with FaultServer(tokens=even) as server, llm_runtime(Runtime(budget=Budget(tokens=30_000))):
        pair = [policy(server, "one"), policy(server, "two")]
        comparison = compare(pair, ENV, **arguments(server, tmp_path / "run"))
    counts = [summary.num_episodes for summary in comparison.policies]
    assert min(counts) > 5
    assert abs(counts[0] - counts[1]) <= 1
    (pairs,) = comparison.pairs
    assert pairs.wins + pairs.ties + pairs.losses >= min(counts) - 1


def test_a_killed_run_has_been_paid_for(tmp_path: Path) -> None:
    class Killed(BaseException):
        pass

    class Dying(LLMPolicy):
        turns = 0

        def act(self, history: Any) -> str:
            Dying.turns += 1
            if Dying.turns > 9:
                raise Killed
            return super().act(history)

    with FaultServer(tokens=even) as server:
        run = arguments(server, tmp_path / "run", concurrency=1)
        dying = Dying("tiny", api_base=server.api_base, transport="http")
        with llm_runtime(Runtime(budget=Budget(tokens=100_000))), pytest.raises(Killed):
            collect_episodes(dying, ENV, **run)
        _, manifest = load_run(tmp_path / "run")
        assert sum(row.spent.tokens for row in manifest.spent) == server.tokens_spent > 0


def test_a_budget_in_dollars_needs_a_price_for_every_seat(tmp_path: Path) -> None:
    with FaultServer(tokens=even) as server:
        run = arguments(server, tmp_path / "run")
        with llm_runtime(Runtime(budget=Budget(usd=1.0))), pytest.raises(SettingError) as caught:
            compare([policy(server)], ENV, **run)
        for seat in ("policy", "user", "judge"):
            assert f"the {seat}'s model 'tiny'" in str(caught.value)
            assert f"--price {seat}=IN/OUT" in str(caught.value)
        assert not server.bodies
        assert not (tmp_path / "run").exists()
        prices = parse_prices(["policy=1/2", "user=0/0", "judge=10/20"])
        with llm_runtime(Runtime(budget=Budget(usd=0.05), prices=prices)):
            comparison = compare([policy(server)], ENV, **run)
        rows = {row.seat: row for row in comparison.usage}
        assert rows["user_simulator"].cost_usd == 0.0
        judged = rows["judge"]
        assert judged.cost_usd == pytest.approx((10 * judged.input_tokens + 20 * judged.output_tokens) / 1e6)
        assert 0.03 < sum(row.cost_usd or 0 for row in comparison.usage) <= 0.05
        with llm_runtime(Runtime(budget=Budget(usd=1.0), prices=parse_prices(["tiny=1/1"]))):
            assert len(compare([policy(server)], ENV, **run, resume=True).records) == len(IDS)


@pytest.mark.parametrize(
    "text", ["judge", "judge=", "=1/2", "judge=1", "judge=a/b", "judge=-1/2", "judge=inf/1", "judge=1/2/3"]
)
def test_a_price_is_written_in_one_way(text: str) -> None:
    with pytest.raises(SettingError, match="expected SEAT=IN/OUT in US dollars per million tokens"):
        parse_prices([text])


def test_calls_that_failed_and_those_of_the_cache_are_told_apart(tmp_path: Path) -> None:
    from elicit_gym.llm.cache import ResponseCache

    cache = tmp_path / "c.sqlite"
    with FaultServer(tokens=even, rate=0.12, faults=["500", "empty"], seed=4) as server:
        run = arguments(server, tmp_path / "run", scenario_ids=IDS[:6], concurrency=4)
        with llm_runtime(Runtime(cache=ResponseCache(cache))):
            paid = compare([policy(server)], ENV, **run)
        answered = sum(server.seen.values()) - server.seen["500"]
        assert sum(row.calls for row in paid.usage) == answered
        assert sum(row.failed_calls for row in paid.usage) == server.seen["500"]
        server.rate = 0.0
        with llm_runtime(Runtime(cache=ResponseCache(cache))):
            free = compare([policy(server)], ENV, **{**run, "out": tmp_path / "again"})
        assert sum(row.calls for row in free.usage) == 0
        assert sum(row.cached_calls for row in free.usage) == server.seen["none"]
        assert free.records == paid.records


def test_a_start_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    with FaultServer(rate=1.0, faults=["401"]) as server, llm_runtime(Runtime()):
        from elicit_gym.errors import FatalModelError

        with pytest.raises(FatalModelError, match="3 calls in a row failed like this"):
            compare([policy(server)], ENV, **arguments(server, tmp_path / "new" / "run"))
        assert list(tmp_path.iterdir()) == []
        gone = server
    with llm_runtime(Runtime()), pytest.raises(FatalModelError, match="expected a server at"):
        compare([policy(gone)], ENV, **arguments(gone, tmp_path / "new" / "run"))
    assert list(tmp_path.iterdir()) == []


def test_one_filtered_message_fails_alone(tmp_path: Path) -> None:
    with FaultServer(rate=0.1, faults=["400-filter-openai"], seed=3) as server, llm_runtime(Runtime()):
        comparison = compare([policy(server)], ENV, **arguments(server, tmp_path / "run"))
    failures = [r.failure for r in comparison.records if r.failure]
    assert len(comparison.records) == len(IDS)
    assert 0 < len(failures) < len(IDS)
    assert {f.source for f in failures} == {"model"}
    assert {"judge"} <= {f.seat for f in failures} <= {"policy", "user_simulator", "judge"}
    notes = (tmp_path / "run" / "report.html").read_text()
    assert "failed by the model in the seat of the judge. First: Calling tiny: status 400" in notes
