"""What a plug-in may have beside its contract: protocols that are used by `isinstance`, checked, and shown."""

import ast
import inspect
from collections.abc import Sequence
from typing import Any, Protocol

import gymnasium as gym
import pytest

from elicit_gym import collect_episodes, load_scenarios, parts, policy
from elicit_gym.agents import load_policy
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.errors import FatalModelError, SettingError
from elicit_gym.evaluation.rejudge import rejudge
from elicit_gym.judges import base as judges
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.llm import types as models
from elicit_gym.llm.scripted import ScriptedChatModel
from elicit_gym.llm.types import ChatRequest
from elicit_gym.policy import LogProb
from elicit_gym.rewards import ChecklistGain
from elicit_gym.rollout.estimate import estimate_usage
from elicit_gym.rollout.lock_step import in_lock_step
from elicit_gym.testing import check_judge, check_policy, check_user_simulator
from elicit_gym.types import (
    ChatHistory,
    Description,
    JudgeRequest,
    Message,
    Scenario,
    Usage,
    UserReply,
    UserTurn,
    Verdict,
)
from elicit_gym.user_simulators import base as users
from tests.commands import command
from tests.conftest import ROOT

SOURCES = [path for folder in ("elicit_gym", "offline", "agents") for path in (ROOT / folder).rglob("*.py")]
CONTRACTS = [
    kind
    for module in (parts, policy, judges, users, models)
    for kind in vars(module).values()
    if inspect.isclass(kind) and getattr(kind, "_is_protocol", False) and kind is not Protocol
]
OPTIONAL = {
    "CheckablePart", "CountingPolicy", "DescribedPart", "ModelPart", "NetworkBoundPolicy", "PrivilegedPolicy",
    "PromptedPart", "ScenarioCheckingJudge", "ScenarioPolicy", "ScoringPolicy", "SpendingPolicy", "StochasticPolicy",
}  # fmt: skip


def members(kind: type) -> set[str]:
    return {n for n in (*vars(kind), *inspect.get_annotations(kind)) if not n.startswith("_")}


def test_no_member_of_a_contract_is_probed_for() -> None:
    wanted = {name for kind in CONTRACTS for name in members(kind)}
    assert {"check", "prompts", "model", "privileged", "log_prob_batch", "count_prompt_tokens"} <= wanted
    probed = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {node.args[1].value}"
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in ("getattr", "hasattr")
        and isinstance(node.args[1], ast.Constant)
        and node.args[1].value in wanted
    ]
    assert probed == []


def test_every_optional_contract_is_shown_in_the_readme_and_checked() -> None:
    assert {kind.__name__ for kind in CONTRACTS} >= OPTIONAL
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    checks = (ROOT / "elicit_gym" / "testing.py").read_text(encoding="utf-8")
    for name in OPTIONAL:
        assert f"`{name}`" in readme, name
        assert name in checks, name


def answer(request: ChatRequest) -> str:
    return "Result: No"


class Full:
    """Has everything that a part can have, and breaks one of it."""

    name = "full"

    def __init__(self, broken: str = "") -> None:
        self.broken = broken
        self.model: Any = object() if broken == "model" else ScriptedChatModel(answer, name="double")
        self.privileged: Any = "yes" if broken == "privileged" else True
        self.network_bound: Any = "yes" if broken == "network_bound" else True
        self.described = 0

    def check(self) -> None:
        if self.broken == "check":
            raise FatalModelError("")
        if self.broken == "no server":
            raise FatalModelError("no server")

    @property
    def prompts(self) -> Sequence[Any]:
        class Prompt:
            name = "own"
            sha256 = "no hash" if self.broken == "prompts" else "0" * 64

        return (Prompt(),)

    def describe(self) -> Any:
        self.described += self.broken == "moody"
        if self.broken == "describe":
            return {"name": "full"}
        return Description(name="full", kind="mine", settings={"called": self.described})

    def reset(self, seed: int) -> None: ...

    def act(self, history: ChatHistory) -> str:
        return "What?"

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        return ["What?"] * len(histories)

    def for_scenario(self, scenario: Scenario) -> "Full":
        return self

    def take_usage(self) -> Any:
        usage = Usage(seat="policy", model="m", calls=1, input_tokens=1, output_tokens=1, cost_usd=None)
        return ((usage,), ()) if self.broken == "take_usage" else ((), ())

    def log_prob_batch(self, histories: Sequence[ChatHistory], actions: Sequence[str]) -> list[LogProb]:
        return [LogProb(1.0 if self.broken == "log_prob_batch" else -1.0, 2)] * len(histories)

    def count_prompt_tokens(self, histories: Sequence[ChatHistory]) -> list[int]:
        return [0 if self.broken == "count_prompt_tokens" else 3] * len(histories)

    def reply(self, turn: UserTurn) -> UserReply:
        return UserReply(text="Well.")

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        return (Verdict(satisfied=False),) * len(request.pending)

    def check_scenarios(self, scenarios: Sequence[Scenario]) -> None:
        if self.broken == "check_scenarios":
            raise SettingError("no examples")


SHARED = ["check", "prompts", "describe", "moody", "model"]
OF_POLICIES = ["privileged", "network_bound", "take_usage", "log_prob_batch", "count_prompt_tokens"]


@pytest.mark.parametrize("broken", [*SHARED, *OF_POLICIES])
def test_a_broken_optional_part_of_a_policy_is_told(broken: str) -> None:
    with pytest.raises((AssertionError, SettingError), match="expected"):
        check_policy(Full(broken))


@pytest.mark.parametrize("broken", SHARED)
def test_a_broken_optional_part_of_another_seat_is_told(broken: str) -> None:
    for check in (check_user_simulator, check_judge):
        with pytest.raises((AssertionError, SettingError), match="expected"):
            check(Full(broken))  # type: ignore[arg-type]


def test_a_whole_one_is_not() -> None:
    for broken in ("", "no server"):
        check_policy(Full(broken))
        check_user_simulator(Full(broken))
        check_judge(Full(broken))
    with pytest.raises(AssertionError, match="expected the bundled scenarios to be judged, got: no examples"):
        check_judge(Full("check_scenarios"))


class Plain:
    """Answers in batches; spends, or waits for a network, or neither."""

    name = "plain"

    def reset(self, seed: int) -> None: ...

    def act(self, history: ChatHistory) -> str:
        return "What?"

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        return ["What?"] * len(histories)


class Spending(Plain):
    def take_usage(self) -> Any:
        usage = Usage(seat="policy", model="local", calls=1, input_tokens=1, output_tokens=1, cost_usd=0.5)
        return (usage,), ()


class Waiting(Plain):
    network_bound = True


def test_spending_and_waiting_for_a_network_are_two_things() -> None:
    assert [in_lock_step(p) for p in (Plain(), Spending(), Waiting())] == [True, False, False]
    assert not isinstance(Waiting(), policy.SpendingPolicy)
    assert not isinstance(Spending(), policy.NetworkBoundPolicy)
    ids = [scenario.id for scenario in load_scenarios()[:3]]
    records = collect_episodes(Spending(), scenario_ids=ids, env_kwargs={"max_turns": 2}, concurrency=3)
    assert [len(turn.usage) for record in records for turn in record.episode.turns] == [1] * 6


class Marked(Plain):
    privileged = True


def test_a_mark_is_enough_for_a_report() -> None:
    assert policy.is_privileged(Marked())
    assert not policy.is_privileged(Plain())
    assert isinstance(load_policy("oracle"), policy.ScenarioPolicy)
    assert not isinstance(Marked(), policy.ScenarioPolicy)


class ModelJudge(ScriptedJudge):
    """A judge of one's own that holds a model."""

    name = "model-judge"

    def __init__(self) -> None:
        self.model = ScriptedChatModel(answer, name="openai/gpt-4o-mini")


class ModelUser:
    name = "model-user"

    def __init__(self) -> None:
        self.model = ScriptedChatModel(answer, name="openai/gpt-4o-mini")

    def reply(self, turn: UserTurn) -> UserReply:
        return UserReply(text="Well.")


def test_a_dry_run_counts_a_judge_of_ones_own(capsys: pytest.CaptureFixture[str]) -> None:
    mine = "tests.contracts.test_optional"
    options = ["--judge", f"{mine}:ModelJudge", "--user", f"{mine}:ModelUser", "--repeats", 1, "--max-turns", 4]
    assert command("compare", "naive", "--dry-run", *options) == 0
    out = capsys.readouterr().out
    assert "costs nothing" not in out
    assert "2,400" in out  # 120 scenarios, 4 turns, 5 items
    assert "360" in out  # and 3 replies
    assert "$" in out
    rows = estimate_usage(
        load_scenarios()[:2], repeats=1, max_turns=2, user_simulator=ModelUser(), judge=ModelJudge(),
        policies=[load_policy("naive")],
    )  # fmt: skip
    assert {(row.seat, row.calls) for row in rows} == {("judge", 20), ("user_simulator", 2)}
    assert all(row.input_tokens > 0 for row in rows)


class Choosy(ScriptedJudge):
    """Judges scenarios with a short description only."""

    name = "choosy"
    seen: list[int] = []  # noqa: RUF012 - counts calls over all instances

    def __init__(self, longest: int = 10_000) -> None:
        self.longest = longest

    def check_scenarios(self, scenarios: Sequence[Scenario]) -> None:
        self.seen.append(len(scenarios))
        for scenario in scenarios:
            if len(scenario.description) > self.longest:
                raise SettingError(f"Judging {scenario.id}: expected a description of {self.longest} characters.")


def test_a_judge_looks_at_the_scenarios_once_and_may_refuse_them() -> None:
    Choosy.seen.clear()
    env = InfoQuestEnv(judge=Choosy(), split="test")
    env.reset(seed=1)
    env.step("What?")
    assert Choosy.seen == [60]
    kwargs = {"judge": "tests.contracts.test_optional:Choosy", "judge_kwargs": {"longest": 3}}
    with pytest.raises(SettingError, match="expected a description of 3 characters"):
        gym.make("elicit_gym/InfoQuest-v0", **kwargs)
    with pytest.raises(SettingError, match="expected a description of 3 characters"):
        collect_episodes(load_policy("naive"), env_kwargs=kwargs)
    records = collect_episodes(load_policy("naive"), scenario_ids=["00-a"], env_kwargs={"max_turns": 1})
    with pytest.raises(SettingError, match="Judging 00-a: expected a description"):
        rejudge(records, load_scenarios(), Choosy(3), reward=ChecklistGain(), max_turns=1)
    Choosy.seen.clear()
    again = rejudge(records, load_scenarios(), Choosy(), reward=ChecklistGain(), max_turns=1)
    assert again.agreement["all"].value == 1.0
    assert Choosy.seen == [1]


def test_a_message_is_no_part() -> None:
    assert parts.model_name(Message(role="user", content="x")) is None
    assert parts.prompt_hashes(object()) == {}
