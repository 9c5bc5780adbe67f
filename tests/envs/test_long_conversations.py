"""Conversations of thousands of turns: what a step costs does not grow with the turns before it.

Counted in calls and not in seconds, so that a busy machine changes nothing. What is left to grow is the copy of the
history that every observation is, a tuple of references.
"""

import sys
from collections.abc import Callable
from typing import Any

import pytest

from elicit_gym import load_scenarios
from elicit_gym.agents import load_policy
from elicit_gym.agents.llm_policy import LLMPolicy
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.envs.infoquest_vector import InfoQuestVectorEnv
from elicit_gym.episode import EpisodeRecord
from elicit_gym.evaluation.figures import draw_figures
from elicit_gym.evaluation.rejudge import rejudge
from elicit_gym.evaluation.summary import summarise_policies
from elicit_gym.judges.llm import LLMJudge
from elicit_gym.rewards import ChecklistGain
from elicit_gym.rollout.estimate import estimate_usage
from elicit_gym.rollout.run_episode import run_episode
from elicit_gym.types import ChatHistory, JudgeRequest, Message, UserReply, UserTurn, Verdict
from elicit_gym.user_simulators.llm import LLMUserSimulator
from tests import doubles

LONG = 2_000
SCENARIOS = load_scenarios()


class Never:
    """A judge that says no, a user with one sentence, a policy with one question."""

    name = "never"

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return (Verdict(satisfied=False),) * len(request.pending)

    def reply(self, turn: UserTurn) -> UserReply:
        return UserReply(text="That is how it is.")

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return f"Is it number {len(history)}?"


def calls_of(function: Callable[[], object], name: str | None = None) -> int:
    """Count the calls that a function makes, Python's and C's; with a name, those of C's functions of that name."""
    count = 0

    def see(frame: Any, event: str, argument: Any) -> None:
        nonlocal count
        if name is None:
            count += event in ("call", "c_call")
        else:
            count += event == "c_call" and argument.__name__ == name

    before = sys.getprofile()
    sys.setprofile(see)
    try:
        function()
    finally:
        sys.setprofile(before)
    return count


def made(num_turns: int, **kwargs: Any) -> InfoQuestEnv:
    return InfoQuestEnv(max_turns=num_turns, judge=Never(), user_simulator=Never(), **kwargs)


@pytest.mark.parametrize("render_mode", [None, "human"])
def test_a_step_late_in_a_conversation_costs_what_an_early_one_costs(
    render_mode: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    env = made(2 * LONG)
    history, _ = env.reset(seed=0)

    def step() -> None:
        nonlocal history
        history, *_ = env.step(f"Is it number {len(history)}?")

    costs = {}
    for turn in range(LONG):
        looked_at = turn in (40, 50, LONG - 1)  # the first time only to load what is loaded once
        env.render_mode = render_mode if looked_at else None
        costs[turn] = calls_of(step) if looked_at else step()
    assert len(history) == 2 * LONG + 1
    assert costs[LONG - 1] == pytest.approx(costs[50], rel=0.1)
    if render_mode == "human":
        assert f"({2 * LONG + 1 - 20} earlier messages)" in capsys.readouterr().out


def test_and_so_in_the_vector_environment() -> None:
    envs = InfoQuestVectorEnv(num_envs=3, max_turns=2 * LONG, judge=Never(), user_simulator=Never())
    envs.reset(seed=0)
    costs = [
        calls_of(lambda: envs.step(["Is it?"] * 3)) if t in (50, LONG - 1) else envs.step(["Is it?"] * 3)
        for t in range(LONG)
    ]
    assert costs[LONG - 1] == costs[50]


def played(num_turns: int) -> EpisodeRecord:
    return run_episode(made(num_turns), Never(), scenario_id="00-a")


def test_episodes_records_and_re_judging_are_linear_in_the_turns() -> None:
    short, long = played(LONG // 10), played(LONG)
    assert len(long.episode.turns) == LONG

    def judged(record: EpisodeRecord) -> object:
        return rejudge([record], SCENARIOS, Never(), reward=ChecklistGain(), max_turns=len(record.episode.turns))

    for work in (
        lambda record: played(len(record.episode.turns)),
        lambda record: record.to_row(),
        lambda record: EpisodeRecord.from_row(record.to_row()),
        lambda record: record.episode.history,
        lambda record: list(record.episode.transitions()),
        judged,
    ):
        assert calls_of(lambda: work(long)) <= 10.5 * calls_of(lambda: work(short))  # noqa: B023 - called at once


def test_an_estimate_of_costs_does_not_play_the_whole_conversation() -> None:
    def estimated(max_turns: int) -> list[tuple[int, int, int]]:
        rows = estimate_usage(
            SCENARIOS[:2], repeats=1, max_turns=max_turns, user_simulator=LLMUserSimulator(doubles.user()),
            judge=LLMJudge(doubles.judge()), policies=[LLMPolicy(doubles.policy())],
        )  # fmt: skip
        return [(row.calls, row.input_tokens, row.output_tokens) for row in rows]

    assert calls_of(lambda: estimated(100 * LONG)) < 2 * calls_of(lambda: estimated(40))


def test_the_estimate_of_a_long_conversation_is_that_of_playing_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def estimated() -> list[tuple[str, int, int, int]]:
        rows = estimate_usage(
            SCENARIOS[:2], repeats=3, max_turns=157, user_simulator=LLMUserSimulator(doubles.user()),
            judge=LLMJudge(doubles.judge()), policies=[LLMPolicy(doubles.policy())],
        )  # fmt: skip
        return [(row.seat, row.calls, row.input_tokens, row.output_tokens) for row in rows]

    quick = estimated()
    monkeypatch.setattr("elicit_gym.rollout.estimate.PLAYED_TURNS", 1_000)
    for row, whole in zip(quick, estimated(), strict=True):
        assert row[:2] == whole[:2]
        assert row[2:] == pytest.approx(whole[2:], rel=1e-4)


def test_figures_of_long_conversations_have_few_ticks(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    from matplotlib.axis import XAxis

    longest = 0
    original = XAxis.get_major_ticks

    def counted(axis: XAxis, *arguments: Any) -> Any:
        nonlocal longest
        ticks = original(axis, *arguments)
        longest = max(longest, len(ticks))
        return ticks

    monkeypatch.setattr(XAxis, "get_major_ticks", counted)
    draw_figures(summarise_policies([played(400)], max_turns=400), [], tmp_path)
    assert 2 <= longest <= 15


@pytest.mark.parametrize("name", ["naive", "ask-many", "ask-one", "random", "adaptive"])
def test_baselines_read_a_message_once_and_not_again_in_every_turn_after_it(name: str) -> None:
    policy = load_policy(name)
    policy.reset(0)
    said = [f"My cousin number {i} has no car, and the council wants form {i} by Friday." for i in range(LONG)]
    history: list[Message] = []
    costs = []
    for i, text in enumerate(said):
        history.append(Message(role="user", content=text))
        looked_at = i in (50, LONG - 1)
        before = tuple(history)
        if looked_at:
            costs.append(calls_of(lambda: policy.act(before), "search"))  # noqa: B023
        history.append(Message(role="assistant", content=policy.act(before) if i % 20 in (9, 10, 18, 19) else "And?"))
    early, late = costs
    assert late <= 1.5 * early + 200
