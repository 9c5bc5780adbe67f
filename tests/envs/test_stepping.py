"""One step and one accounting: whoever steps a conversation, alone or among others, gets the same."""

from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from gymnasium.error import InvalidAction, ResetNeeded
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_gym import EpisodeRecord, load_scenarios
from elicit_gym.envs.conversation import Conversation
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.envs.infoquest_vector import InfoQuestVectorEnv
from elicit_gym.envs.step_result import StepResult
from elicit_gym.envs.stepping import Parts, step_conversations
from elicit_gym.errors import (
    EpisodeFailure,
    FatalModelError,
    JudgeFailure,
    ModelFailure,
    RewardFailure,
    UserSimulatorFailure,
)
from elicit_gym.evaluation.compare import compare_runs
from elicit_gym.evaluation.rejudge import rejudge
from elicit_gym.rewards import ChecklistGain, RewardStep
from elicit_gym.rollout.collect import collect_episodes
from elicit_gym.rollout.run_episode import run_episode, turn_of
from elicit_gym.strict_json import json_text
from elicit_gym.types import JudgeRequest, Usage, UserReply, UserTurn, Verdict
from tests.envs.parts import Goes, Leaving, LeavingInBatches, Moody, MoodyInBatches, Weighted, registered_parts
from tests.rollout.players import Chooser

SCENARIOS = load_scenarios()
WEIGHTS = st.fixed_dictionaries(
    {key: st.sampled_from([0.0, 1.0, -0.25, 3.5]) for key in ("gain", "kept", "turn", "last")}
)
UNITS = st.lists(
    st.tuples(st.sampled_from([s.id for s in SCENARIOS[:12]]), st.integers(0, 3)), min_size=1, max_size=6, unique=True
)


@pytest.fixture(scope="module", autouse=True)
def _parts() -> Any:
    with registered_parts():
        yield


def by_the_environment(record: EpisodeRecord, env: InfoQuestEnv) -> tuple[list[Any], list[Any]]:
    """Play a record's actions in a single environment: its turns, and all that the environment returned."""
    env.reset(seed=record.seed, options={"scenario_id": record.scenario_id})
    steps = [env.step(turn.action) for turn in record.episode.turns]
    turns = [turn_of(t.action, StepResult.from_gym(*s)) for t, s in zip(record.episode.turns, steps, strict=True)]
    return turns, steps


@given(
    units=UNITS, weights=WEIGHTS, max_turns=st.integers(1, 9), seed=st.integers(0, 10**6), batches=st.booleans(),
    concurrency=st.integers(2, 5),
)  # fmt: skip
@settings(max_examples=25, deadline=None)
def test_single_vector_lock_step_and_rejudge_agree(
    units: list[tuple[str, int]], weights: dict[str, float], max_turns: int, seed: int, batches: bool, concurrency: int
) -> None:
    suffix = "-in-batches" if batches else ""
    kwargs = {
        "max_turns": max_turns, "judge": f"moody{suffix}", "user_simulator": f"leaving{suffix}", "reward": "weighted",
        "reward_kwargs": weights,
    }  # fmt: skip
    ids = sorted({scenario_id for scenario_id, _ in units})
    repeats = 1 + max(repeat for _, repeat in units)
    common: dict[str, Any] = {"env_kwargs": kwargs, "scenario_ids": ids, "repeats": repeats, "seed": seed}
    records = collect_episodes(Chooser(), **common)
    # In lock-step.
    assert collect_episodes(Chooser(), **common, concurrency=concurrency) == records
    # By the single environment.
    env = InfoQuestEnv(**kwargs)  # type: ignore[arg-type]
    returned = []
    for record in records:
        turns, steps = by_the_environment(record, env)
        returned.append(steps)
        assert tuple(turns) == record.episode.turns
        assert [t or u for _, _, t, u, _ in steps] == [False] * (len(turns) - 1) + [True]
        last = steps[-1]
        assert (last[2], last[3], last[4]["left"]) == (
            record.episode.terminated, record.episode.truncated, record.episode.left,
        )  # fmt: skip
        assert last[0] == record.episode.history
        assert all(last[4]["checklist"]) == record.episode.success == (record.episode.satisfied == set(range(5)))
    # By the vector environment.
    envs = InfoQuestVectorEnv(num_envs=len(records), autoreset_mode="NextStep", **kwargs)
    envs.reset(seed=[r.seed for r in records], options={"scenario_ids": [r.scenario_id for r in records]})
    for t in range(max(len(steps) for steps in returned)):
        actions = [r.episode.turns[t].action if t < len(r.episode.turns) else "ignored" for r in records]
        histories, rewards, terminated, truncated, infos = envs.step(actions)
        for i, steps in enumerate(returned):
            if t < len(steps):
                own = {key: infos[key][i] for key in steps[t][4]}
                assert (histories[i], rewards[i], terminated[i], truncated[i], own) == steps[t]
    # By a judge who judges it all again.
    again = rejudge(records, SCENARIOS, env.judge, reward=env.reward, max_turns=max_turns)
    assert again.records == tuple(records)
    assert (again.num_ended_earlier, again.num_cut_off) == (0, 0)


def conversations(num: int, max_turns: int = 10) -> list[Conversation]:
    return [Conversation(SCENARIOS[i], max_turns=max_turns, seed=i) for i in range(num)]


def state(conversation: Conversation) -> list[Any]:
    return [getattr(conversation, name) for name in Conversation.__slots__]


@pytest.mark.parametrize("judge", [Moody, MoodyInBatches])
@pytest.mark.parametrize("user", [Leaving, LeavingInBatches])
@pytest.mark.filterwarnings("ignore:.*one by one")
def test_a_failure_is_its_own_conversations_and_changes_nothing(judge: type[Moody], user: type[Leaving]) -> None:
    parts = Parts(user_simulator=user(), judge=judge(), reward=ChecklistGain())
    some = conversations(4)
    twins = conversations(4)
    actions = ["What do you need?", "bang?", "crash?", "When is it due?"]
    before = [state(c) for c in some]
    results = step_conversations(parts, some, actions)
    assert [type(result) for result in results] == [StepResult, JudgeFailure, UserSimulatorFailure, StepResult]
    assert [state(c) == b for c, b in zip(some, before, strict=True)] == [False, True, True, False]
    assert str(results[1]) == "Judging a message: RuntimeError: the judge fell over"
    alone = [step_conversations(parts, [c], [a])[0] for c, a in zip(twins, actions, strict=True)]
    assert [results[0], results[3]] == [alone[0], alone[3]]
    assert [str(r) for r in alone[1:3]] == [str(r) for r in results[1:3]]  # whoever was in the batch with it
    # Together or not at all.
    now = [state(c) for c in some]
    with pytest.raises(JudgeFailure):
        step_conversations(parts, some, actions, atomic=True)
    with pytest.raises(UserSimulatorFailure):
        step_conversations(parts, some, ["Why?", "Why?", "crash?", "Why?"], atomic=True)
    assert [state(c) for c in some] == now


class Broken:
    """A judge and a user that break their contracts in one way."""

    name = "broken"

    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def _give(self) -> Any:
        if isinstance(self.answer, Exception):
            raise self.answer
        return self.answer

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return self._give()  # type: ignore[no-any-return]

    def reply(self, turn: UserTurn) -> UserReply:
        return self._give()  # type: ignore[no-any-return]


NO = Verdict(satisfied=False)


@pytest.mark.parametrize(
    "answer",
    [
        None,
        (),
        (NO,) * 4,
        (NO,) * 6,
        [NO] * 5,
        (True,) * 5,
        "yyyyy",
        iter([NO] * 5),
        KeyError("x"),
        NotImplementedError(),
    ],
    ids=lambda answer: type(answer).__name__,
)
def test_a_judge_that_breaks_its_contract_is_the_judges_failure(answer: Any) -> None:
    parts = Parts(user_simulator=Leaving(), judge=Broken(answer), reward=ChecklistGain())
    (conversation,) = conversations(1)
    before = state(conversation)
    (result,) = step_conversations(parts, [conversation], ["What do you need?"])
    assert isinstance(result, JudgeFailure)
    assert state(conversation) == before


@pytest.mark.parametrize(
    "answer", [None, "text", UserReply(text=" "), UserReply(text=3), OSError("x")], ids=lambda a: type(a).__name__
)  # type: ignore[arg-type]
def test_a_user_that_breaks_its_contract_is_the_users_failure(answer: Any) -> None:
    parts = Parts(user_simulator=Broken(answer), judge=Moody(), reward=ChecklistGain())
    (conversation,) = conversations(1)
    before = state(conversation)
    (result,) = step_conversations(parts, [conversation], ["What do you need?"])
    assert isinstance(result, UserSimulatorFailure)
    assert state(conversation) == before


@pytest.mark.parametrize("in_batches", [False, True])
def test_failures_keep_whose_they_are_and_fatal_ones_end_it(in_batches: bool) -> None:
    class Service(MoodyInBatches if in_batches else Moody):  # type: ignore[misc]
        failure: EpisodeFailure = ModelFailure("dead")

        def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
            if "bang" in request.assistant_message:
                raise self.failure
            return super().judge(request)

        def judge_batch(self, requests: Any) -> Any:
            return [self.failure if "bang" in r.assistant_message else super(Service, self).judge(r) for r in requests]

    service = Service()
    if not in_batches:
        del Service.judge_batch
    parts = Parts(user_simulator=Leaving(), judge=service, reward=ChecklistGain())
    results = step_conversations(parts, conversations(2), ["What?", "bang?"])
    assert isinstance(results[0], StepResult)
    assert results[1] is service.failure
    service.failure = FatalModelError("no key")
    some = conversations(2)
    before = [state(c) for c in some]
    with pytest.raises(FatalModelError):
        step_conversations(parts, some, ["What?", "bang?"])
    assert [state(c) for c in some] == before


def test_a_broken_batch_is_said_and_answered_one_by_one() -> None:
    class Short(MoodyInBatches):
        def judge_batch(self, requests: Any) -> Any:
            return super().judge_batch(requests)[1:]

    parts = Parts(user_simulator=Leaving(), judge=Short(), reward=ChecklistGain())
    with pytest.warns(UserWarning, match="expected a batch to have 3 answers, got 2. They are asked for one by one"):
        results = step_conversations(parts, conversations(3), ["What?"] * 3)
    assert results == step_conversations(
        Parts(user_simulator=Leaving(), judge=Moody(), reward=ChecklistGain()), conversations(3), ["What?"] * 3
    )


def test_mistakes_of_the_caller_change_nothing() -> None:
    parts = Parts(user_simulator=Leaving(), judge=Moody(), reward=ChecklistGain())
    some = conversations(2, max_turns=1)
    with pytest.raises(InvalidAction):
        step_conversations(parts, some, ["What?", " "])
    with pytest.raises(ValueError, match="argument 2 is shorter"):
        step_conversations(parts, some, ["What?"])
    assert [c.turn for c in some] == [0, 0]
    step_conversations(parts, some[:1], ["What?"])
    with pytest.raises(ResetNeeded):
        step_conversations(parts, some, ["What?", "What?"])
    assert [c.turn for c in some] == [1, 0]
    assert step_conversations(parts, [], []) == []


def test_a_user_who_leaves_ends_the_episode_without_success() -> None:
    env = InfoQuestEnv(user_simulator=Goes(), reward=Weighted(last=1.0, gain=0.0))
    _, info = env.reset(seed=1)
    assert info["left"] is False
    history, reward, terminated, truncated, info = env.step("What do you need?")
    assert (terminated, truncated, info["left"], reward) == (True, False, True, 1.0)
    assert [m.role for m in history] == ["user", "assistant", "user"]
    assert history[-1].content == "Goodbye."
    assert not all(info["checklist"])
    assert env.conversation is not None
    assert not env.conversation.success
    with pytest.raises(ResetNeeded):
        env.step("Wait!")
    assert env.reset(seed=1)[1]["left"] is False
    # Nobody is asked after the last turn, nor where everything is satisfied.
    env = InfoQuestEnv(user_simulator=Goes(), max_turns=1)
    env.reset(seed=1)
    *_, terminated, truncated, info = env.step("What do you need?")
    assert (terminated, truncated, info["left"]) == (False, True, False)
    yes = InfoQuestEnv(user_simulator=Goes(), judge=Broken((Verdict(satisfied=True),) * 5))
    yes.reset(seed=1)
    *_, terminated, truncated, info = yes.step("What do you need?")
    assert (terminated, truncated, info["left"], all(info["checklist"])) == (True, False, False, True)


@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_leaving_in_the_vector_environment(mode: str) -> None:
    envs = InfoQuestVectorEnv(num_envs=3, autoreset_mode=mode, user_simulator=Goes())
    envs.reset(seed=2)
    histories, _, terminated, truncated, infos = envs.step(["What do you need?"] * 3)
    assert terminated.tolist() == [True] * 3
    assert truncated.tolist() == [False] * 3
    left = infos["final_info"]["left"] if mode == "SameStep" else infos["left"]
    assert left.dtype == np.bool_
    assert left.tolist() == [True] * 3
    ended = infos["final_obs"] if mode == "SameStep" else histories
    assert all(history[-1].content == "Goodbye." for history in ended)


def _raises(step: RewardStep) -> float:
    raise ZeroDivisionError("by what")


BAD_REWARDS: dict[str, Any] = {
    "nan": lambda step: float("nan"), "inf": lambda step: float("-inf"), "numpy": lambda step: np.float32("inf"),
    "text": lambda step: "much", "none": lambda step: None, "huge": lambda step: 10**400, "raises": _raises,
}  # fmt: skip


@pytest.mark.parametrize("bad", BAD_REWARDS.values(), ids=BAD_REWARDS)
def test_a_reward_that_is_not_a_number_is_a_failure_and_the_step_was_not_made(bad: Any) -> None:
    env = InfoQuestEnv(reward=bad)
    env.reset(seed=0)
    conversation = env.conversation
    assert conversation is not None
    with pytest.raises(RewardFailure, match="Rewarding a step: "):
        env.step("When is it?")
    assert (conversation.turn, len(conversation.history)) == (0, 1)
    record = run_episode(env, Chooser(), scenario_id="00-a")
    assert record.failure is not None
    assert (record.failure.source, record.failure.turn, record.episode.turns) == ("reward", 1, ())

    def on_the_second(step: RewardStep) -> float:
        return float(bad(step)) if step.turn == 2 else 0.5

    conversations = [Conversation(SCENARIOS[i], max_turns=4, seed=i) for i in (0, 1)]
    parts = Parts(user_simulator=env.user_simulator, judge=env.judge, reward=on_the_second)
    first = step_conversations(parts, conversations[:1], ["Why?"])
    assert isinstance(first[0], StepResult)
    results = step_conversations(parts, conversations, ["Why?", "Why?"])
    assert isinstance(results[0], RewardFailure)
    assert isinstance(results[1], StepResult)
    assert [c.turn for c in conversations] == [1, 1]
    assert results[1].reward == 0.5
    with pytest.raises(RewardFailure):
        step_conversations(parts, conversations, ["Why?", "Why?"], atomic=True)
    assert [c.turn for c in conversations] == [1, 1]


def test_a_wrapper_that_spoils_the_reward_is_a_failure_of_the_reward() -> None:
    env = gym.wrappers.TransformReward(InfoQuestEnv(), lambda reward: reward * np.float64("nan"))
    with np.errstate(all="ignore"):
        record = run_episode(env, Chooser(), scenario_id="00-a")
    assert record.failure is not None
    assert record.failure.source == "reward"
    assert "expected a finite number, got nan" in record.failure.message


@pytest.mark.parametrize("answer", [float("nan"), float("inf"), 1, 0.0, "no", (), np.float64(1)])
def test_a_verdict_that_is_none_is_a_failure_of_the_judge(answer: Any) -> None:
    class Odd:
        name = "odd"

        def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
            return (Verdict(satisfied=answer),) * len(request.pending)

    env = InfoQuestEnv(judge=Odd())
    env.reset(seed=0)
    with pytest.raises(
        JudgeFailure, match=r"expected a tuple of 5 verdicts, each True, False or None, got .*judge 'odd'"
    ):
        env.step("When is it?")
    failure = run_episode(env, Chooser(), scenario_id="00-a").failure
    assert failure is not None
    assert failure.source == "judge"


@pytest.mark.parametrize("answer", [np.True_, np.False_, True, None])
def test_a_verdict_of_numpys_is_one(answer: Any) -> None:
    class Plain:
        name = "plain"

        def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
            return (Verdict(satisfied=answer),) * len(request.pending)

    env = InfoQuestEnv(judge=Plain())
    env.reset(seed=0)
    _, reward, _, _, info = env.step("When is it?")
    assert reward == (5.0 if answer else 0.0)
    assert len(info["unscored"]) == (5 if answer is None else 0)


def test_costs_that_are_no_numbers_are_refused() -> None:
    for cost in (float("nan"), float("inf")):
        with pytest.raises(ValueError, match="expected a finite cost, got"):
            Usage(seat="judge", model="m", calls=1, input_tokens=1, output_tokens=1, cost_usd=cost)


def test_a_run_of_bad_rewards_is_saved_and_reported_as_failed(tmp_path: Path) -> None:
    reward = "tests.envs.test_stepping:NotANumber"
    collect_episodes(Chooser(), env_kwargs={"reward": reward}, scenario_ids=["00-a", "00-b"], out=tmp_path / "run")
    comparison = compare_runs([tmp_path / "run"])
    assert [record.failure.source for record in comparison.records if record.failure] == ["reward", "reward"]
    assert dict(comparison.policies[0].failures) == {"reward": 2}
    assert "NaN" not in json_text(comparison.to_row())


class NotANumber:
    """A reward that returns what is none."""

    def __call__(self, step: RewardStep) -> float:
        """Return NaN."""
        return float("nan")
