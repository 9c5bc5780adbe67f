"""Re-judging saved runs."""

import json
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest
from rich.console import Console

from elicit_gym import EpisodeRecord, collect_episodes, load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.errors import FatalModelError, SettingError
from elicit_gym.evaluation.comparison import comparison_of
from elicit_gym.evaluation.rejudge import Rejudged, rejudge
from elicit_gym.evaluation.saved import LoadedRun, load_any_run
from elicit_gym.evaluation.tables import print_rejudged
from elicit_gym.judges.base import Judge
from elicit_gym.judges.llm import LLMJudge
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.llm.budget import Budget
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.rewards import ChecklistGain, ChecklistGainPerTurnCost, FinalChecklist, Reward
from elicit_gym.rollout.collect import collect_policies
from elicit_gym.rollout.storage import load_run
from elicit_gym.types import JudgeRequest, Scenario, Verdict
from tests import doubles
from tests.envs.parts import Moody, registered_parts
from tests.fault_server import FaultServer, default_answer

SCENARIOS = load_scenarios()
IDS = [s.id for s in SCENARIOS[:10]]


def collected(policy: str, **kwargs: Any) -> list[EpisodeRecord]:
    return collect_episodes(load_policy(policy), scenario_ids=IDS, **kwargs)


def judged(
    records: list[EpisodeRecord], judge: Judge, *, reward: Reward | None = None, max_turns: int = 10
) -> Rejudged:
    return rejudge(records, SCENARIOS, judge, reward=reward or ChecklistGain(), max_turns=max_turns)


PICKY_ID = IDS[3]


class Picky(ScriptedJudge):
    """Fails on one scenario."""

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        if request.scenario.id == PICKY_ID:
            raise ConnectionError("gone")
        return super().judge(request)


class Fixed:
    """Gives one answer, unscored for the items in `unscored`."""

    name = "fixed"

    def __init__(self, answer: bool, unscored: tuple[int, ...] = ()) -> None:
        self.answer = answer
        self.unscored = unscored

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return tuple(
            Verdict(satisfied=None, reason="x") if i in self.unscored else Verdict(satisfied=self.answer)
            for i in request.pending
        )


@pytest.fixture(scope="module", autouse=True)
def _parts() -> Any:
    with registered_parts():
        yield


ENVIRONMENTS: list[dict[str, Any]] = [
    {},
    {"reward": "final_checklist"},
    {"reward": "checklist_gain_per_turn_cost", "reward_kwargs": {"cost": 0.3}},
    {"max_turns": 4, "reward": "checklist_gain_per_turn_cost"},
    {"judge": "moody"},
    {"judge": "moody", "user_simulator": "leaving", "reward": "checklist_gain_per_turn_cost"},
]


@pytest.mark.parametrize("env_kwargs", ENVIRONMENTS, ids=str)
def test_the_same_judge_agrees_with_itself_and_changes_nothing(env_kwargs: dict[str, Any], tmp_path: Path) -> None:
    policies = [load_policy(name) for name in ("ask-one", "oracle", "adaptive")]
    records, _ = collect_policies(policies, env_kwargs=env_kwargs, scenario_ids=IDS, seed=5, out=tmp_path / "run")
    loaded = load_any_run(tmp_path / "run")
    judge = Moody() if "judge" in env_kwargs else ScriptedJudge()
    # The reward is the run's own, as its manifest has it.
    result = rejudge(loaded.records, loaded.scenarios, judge, reward=loaded.reward(), max_turns=loaded.max_turns)
    assert result.records == tuple(records)
    assert {estimate.value for estimate in result.kappa.values()} <= {1.0, None}
    assert result.agreement["all"].value == 1.0
    assert result.agreement["all"].low == pytest.approx(0.05 ** (1 / 5))  # five alike leave much room
    assert all(first == second for first, second in result.returns.values())
    assert (result.num_ended_earlier, result.num_cut_off, result.failures) == (0, 0, {})
    if not env_kwargs:
        assert [result.kappa[kind].value for kind in ("all", "ask", "advice")] == [1.0] * 3
        assert result.kappa["all"].reason == "no interval: all 5 opening messages alike"
        assert result.rankings() == (["oracle", "adaptive", "ask-one"],) * 2
    if "user_simulator" in env_kwargs:
        assert any(record.episode.left for record in result.records)


def test_a_registered_variants_reward_and_length_are_the_runs_own(tmp_path: Path) -> None:
    entry_point = "elicit_gym.envs.infoquest:InfoQuestEnv"
    kwargs = {"reward": "checklist_gain_per_turn_cost", "reward_kwargs": {"cost": 0.5}, "max_turns": 3}
    gym.register("tests/Short-v0", entry_point=entry_point, kwargs=kwargs)
    try:
        records = collect_episodes(load_policy("ask-one"), "tests/Short-v0", scenario_ids=IDS, out=tmp_path / "run")
        loaded = load_any_run(tmp_path / "run")
        assert loaded.max_turns == 3
        assert loaded.reward() == ChecklistGainPerTurnCost(0.5)
    finally:
        gym.registry.pop("tests/Short-v0")
    assert judged(records, ScriptedJudge(), reward=ChecklistGainPerTurnCost(0.5), max_turns=3).records == tuple(records)


def test_a_reward_that_the_registry_does_not_know_is_said(tmp_path: Path) -> None:
    collected("ask-one", out=tmp_path / "run")
    path = tmp_path / "run" / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["environment"]["reward"]["name"] = "os:system"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    run = LoadedRun(comparison_of(*_loaded(tmp_path / "run")))
    with pytest.raises(SettingError, match="expected one of checklist_gain, .* in its manifest, got 'os:system'"):
        run.reward()


def _loaded(folder: Path) -> tuple[list[EpisodeRecord], tuple[Scenario, ...], dict[str, Any]]:
    records, manifest = load_run(folder)
    return records, SCENARIOS, manifest


def test_a_conversation_that_would_have_ended_earlier_ends_there() -> None:
    records = collected("oracle", env_kwargs={"reward": "checklist_gain_per_turn_cost"})
    always = judged(records, Fixed(True), reward=ChecklistGainPerTurnCost())
    assert always.num_ended_earlier == len(records)
    assert always.num_cut_off == 0
    for record in always.records:
        assert (record.episode.terminated, record.episode.truncated, record.episode.success) == (True, False, True)
        assert [turn.reward for turn in record.episode.turns] == [4.9]  # turns that would not have been cost nothing
        assert record.episode.turns[0].reply is None
    assert always.returns["oracle"][1] == pytest.approx(4.9)
    text = printed(always)
    assert "10 conversations would have ended earlier" in text
    assert "gone on" not in text


def test_a_conversation_that_would_have_gone_on_is_truncated_where_the_recording_stops() -> None:
    records = collected("oracle")
    never = judged(records, Fixed(False), reward=FinalChecklist())
    assert never.returns["oracle"] == (5.0, 0.0)
    assert never.kappa["all"].value == pytest.approx(0.0)
    assert never.num_cut_off == len(records)
    assert never.num_ended_earlier == 0
    for record, before in zip(never.records, records, strict=True):
        assert (record.episode.terminated, record.episode.truncated) == (False, True)
        assert [t.action for t in record.episode.turns] == [t.action for t in before.episode.turns]
        assert [t.reply for t in record.episode.turns] == [t.reply for t in before.episode.turns]
    assert "10 conversations would have gone on" in printed(never)
    # A delayed reward is paid where the recording stops.
    most = judged(records, Fixed(True, unscored=(4,)), reward=FinalChecklist())
    assert most.returns["oracle"] == (5.0, 4.0)
    assert all(record.episode.turns[-1].reward == 4.0 for record in most.records)
    # The full length is no cut.
    assert judged(collected("ask-one"), Fixed(False)).num_cut_off == 0


def test_unscored_pairs_are_counted_and_in_no_kappa() -> None:
    records = collected("ask-one")
    result = judged(records, Fixed(False, unscored=(4,)))
    assert result.num_unscored == sum(len(r.episode.turns) for r in records)  # item 4, the advice, stays pending
    assert result.agreement["advice"].num == 0
    assert (result.kappa["advice"].value, result.kappa["advice"].reason) == (None, "nothing measured")
    assert all(4 in record.episode.doubtful for record in result.records)


def test_a_failing_judge_costs_its_own_conversation_only() -> None:
    records = collected("ask-one") + collected("oracle")
    result = judged(records, Picky())
    failed = [record for record in result.records if record.failure is not None]
    assert {record.scenario_id for record in failed} == {PICKY_ID}
    assert result.failures == {"judge": 2}
    assert all(r.failure and (r.failure.source, r.failure.turn) == ("judge", 1) for r in failed)
    kept = [(r, b) for r, b in zip(result.records, records, strict=True) if r.failure is None]
    assert len(kept) == 18
    assert all(again == before for again, before in kept)
    # Both means are over the conversations that both judged.
    assert all(first == second for first, second in result.returns.values())
    assert "Left out: 2 failed by the judge. First: Judging a message" in printed(result)
    json.dumps(result.to_row())


def test_the_first_judges_costs_and_repairs_give_way_to_the_seconds() -> None:
    env_kwargs = {"judge": "moody", "user_simulator": "leaving"}
    records = collected("ask-one", env_kwargs=env_kwargs)
    model = doubles.judge()
    result = judged(records, LLMJudge(model))
    calls = 0
    for record, before in zip(result.records, records, strict=True):
        for turn, first in zip(record.episode.turns, before.episode.turns, strict=False):
            judges = [usage for usage in turn.usage if usage.seat == "judge"]
            assert {usage.model for usage in judges} == {"double-judge"}
            calls += len(judges)
            if turn.reply is not None:
                assert [u for u in turn.usage if u.seat != "judge"] == [u for u in first.usage if u.seat != "judge"]
                assert [f for f in turn.flags if "judge:" not in f] == [f for f in first.flags if "judge:" not in f]
            assert "judge:odd" not in turn.flags
    assert calls == len(model.requests)


def test_scenarios_must_be_there() -> None:
    records = collected("ask-one")
    with pytest.raises(SettingError, match="'00-a' is not among them"):
        rejudge(records, SCENARIOS[20:], ScriptedJudge(), reward=ChecklistGain(), max_turns=10)


def printed(result: Rejudged) -> str:
    console = Console(width=200)
    with console.capture() as capture:
        print_rejudged(result, console)
    return capture.get()


def _llm_judge(server: FaultServer) -> LLMJudge:
    return LLMJudge("tiny", api_base=server.api_base, transport="http")


def test_a_refused_request_costs_its_own_conversation_and_the_cost_is_told() -> None:
    records = collected("ask-one")
    with FaultServer(rate=0.01, faults=["400-filter-openai"], seed=1) as server, llm_runtime(Runtime()):
        result = judged(records, _llm_judge(server))
        answered = server.seen["none"]
    failed = [record for record in result.records if record.failure is not None]
    assert 0 < len(failed) < len(records)
    assert {(r.failure.source, r.failure.seat) for r in failed if r.failure} == {("model", "judge")}
    assert result.stopped is None
    (row,) = result.usage
    assert (row.seat, row.calls, row.failed_calls) == ("judge", answered, server.seen["400-filter-openai"])
    assert "in the seat of the judge. First: Calling tiny: status 400" in printed(result)


def test_what_was_judged_stands_where_no_call_can_succeed_any_more() -> None:
    records = collected("ask-one")

    def answer(messages: list[dict[str, str]]) -> str:
        if sum(server.seen.values()) > 60:
            server.rate = 1.0
        return default_answer(messages)

    with FaultServer(answer, faults=["401"]) as server, llm_runtime(Runtime(concurrency=4, model_concurrency=4)):
        result = judged(records, _llm_judge(server))
        assert result.stopped is not None
        assert "3 calls in a row failed like this" in result.stopped
        assert len(result.records) == len(records)
        assert sum(server.seen.values()) < 90
        with pytest.raises(FatalModelError):  # nothing was judged: there is nothing to keep
            judged(records, _llm_judge(server))


def test_a_budget_ends_a_rejudging_and_keeps_what_was_judged() -> None:
    records = collected("ask-one")
    with FaultServer() as server:
        with llm_runtime(Runtime(budget=Budget(tokens=1_500))):
            result = judged(records, _llm_judge(server))
        assert "budget of 1,500 tokens" in (result.stopped or "")
        assert sum(row.input_tokens + row.output_tokens for row in result.usage) <= 1_700
        with llm_runtime(Runtime(budget=Budget(usd=1.0))), pytest.raises(SettingError, match="--price judge=IN/OUT"):
            judged(records, _llm_judge(server))
