"""The environment is the one source of its defaults: no other place holds a number or a name of them."""

import ast
import inspect
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

import elicit_gym
from elicit_gym import collect_episodes, compare
from elicit_gym.agents import load_policy
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.errors import ManifestMismatchError
from elicit_gym.evaluation.compare import compare_runs
from elicit_gym.registration import DEFAULT_ENV
from elicit_gym.rollout.storage import load_run
from elicit_gym.rollout.units import environment_defaults, sample_environment
from tests.commands import command
from tests.conftest import ROOT
from tests.contracts.test_envs import OFFLINE_KWARGS

IDS = ["00-a", "00-b"]
OWN = {
    (name, parameter.default)
    for name, parameter in inspect.signature(InfoQuestEnv.__init__).parameters.items()
    if parameter.default not in (None, parameter.empty)
}
SOURCES = sorted(
    path
    for folder in ("elicit_gym", "offline", "agents")
    for path in (ROOT / folder).rglob("*.py")
    if not {"agents", "offline"} & set(path.relative_to(ROOT).parts[1:2])  # the links
)
THE_ENVIRONMENT = ROOT / "elicit_gym" / "envs" / "infoquest.py"
OTHERS = {
    ("compare.py", "judge", "scripted"),
    ("contrast.py", "judge", "scripted"),
    ("scenarios.py", "scenarios", "bundled"),
}
"""Not the environment's: the second judge of `rejudge`, the one that `contrast` tests, and the scenarios that
`scenarios stats` describes."""


def literals(tree: ast.AST) -> Iterator[tuple[str, Any]]:
    """Yield every place that says what an argument of the environment is where nobody gives it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            arguments = node.args
            named = [*arguments.posonlyargs, *arguments.args]
            defaults = [*zip(named[::-1], arguments.defaults[::-1], strict=False)]
            defaults += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d]
            yield from ((a.arg, d.value) for a, d in defaults if isinstance(d, ast.Constant))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            if isinstance(node.value, ast.Constant):
                yield node.target.id, node.value.value
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "get":
            values = [argument.value for argument in node.args if isinstance(argument, ast.Constant)]
            if len(values) == 2:
                yield str(values[0]), values[1]
        elif isinstance(node, ast.Compare) and isinstance(node.left, ast.Name):
            for right in node.comparators:
                if isinstance(right, ast.Constant):
                    yield node.left.id, right.value


def test_no_default_of_the_environment_is_written_twice() -> None:
    found = [
        (path.name, name, value)
        for path in SOURCES
        if path != THE_ENVIRONMENT
        for name, value in literals(ast.parse(path.read_text(encoding="utf-8")))
        if (name, value) in OWN
    ]
    assert ("max_turns", 10) in OWN
    assert set(found) == OTHERS


def test_the_default_environment_is_named_once() -> None:
    named = [
        path.relative_to(ROOT)
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and node.value == DEFAULT_ENV
    ]
    assert named == [Path("elicit_gym/registration.py")]


@pytest.fixture
def variant() -> Iterator[str]:
    gym.register(
        id="tests/Long-v0",
        entry_point="elicit_gym.envs.infoquest:InfoQuestEnv",
        kwargs={"max_turns": 14, "reward": "final_checklist", "split": "test"},
    )
    yield "tests/Long-v0"
    del gym.registry["tests/Long-v0"]


def test_defaults_are_read_from_the_environment(variant: str) -> None:
    for env_id in (*(i for i in elicit_gym.ENV_IDS if "InfoQuest" in i), variant):
        defaults = environment_defaults(env_id)
        made = sample_environment(env_id, OFFLINE_KWARGS.get(env_id, {}))
        told = made.describe()
        assert defaults["max_turns"] == made.max_turns == told.max_turns
        assert defaults["reward"] == told.reward.name
        assert (defaults["user_simulator"], defaults["judge"]) == (told.user_simulator.name, told.judge.name)
        scenarios = made.describe_scenarios()
        assert (defaults["scenarios"], defaults["split"]) == (scenarios.source, scenarios.split)
        records = collect_episodes(
            load_policy("naive"), env_id, env_kwargs=OFFLINE_KWARGS.get(env_id), scenario_ids=[made.scenarios[0].id]
        )
        assert len(records[0].episode.turns) == made.max_turns


def test_a_registered_variant_is_compared_resumed_and_reported(variant: str, tmp_path: Path) -> None:
    ids = [scenario.id for scenario in sample_environment(variant, {}).scenarios[:2]]
    for turns, kwargs in ((14, {}), (10, {"max_turns": 10})):
        out = tmp_path / str(turns)
        for resume in (False, True):
            comparison = compare(
                [load_policy("naive")], variant, env_kwargs=kwargs, scenario_ids=ids, out=out, resume=resume
            )
            assert [len(record.episode.turns) for record in comparison.records] == [turns] * 2
            assert len(comparison.policies[0].curve) == turns
        _, manifest = load_run(out)
        assert (manifest.env_id, manifest.environment.max_turns) == (variant, turns)
        assert manifest.environment.reward.name == "final_checklist"
        assert manifest.env_kwargs == {"max_turns": turns, "reward": "final_checklist", "split": "test"}
        assert compare_runs([out]).to_row() == comparison.to_row()
    with pytest.raises(ManifestMismatchError, match="environment.max_turns: 10 there, 14 here"):
        compare([load_policy("naive")], variant, scenario_ids=ids, out=tmp_path / "10", resume=True)


def test_options_are_none_unless_given(
    variant: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for options, turns in (((), 14), (("--max-turns", 10), 10)):
        run = tmp_path / f"run-{turns}"
        for resume in ((), ("--resume",)):
            given = ("compare", "naive", "--env", variant, "--repeats", 1, *options, "--out", run, *resume)
            assert command(*given) == 0
        assert command("report", run, "--out", tmp_path / "report") == 0
        rows = [json.loads(line) for line in (run / "episodes.jsonl").read_text().splitlines()]
        assert {len(row["turns"]) for row in rows} == {turns}
        assert len(rows) == 60  # the variant's own split
    capsys.readouterr()
    dry = ("compare", "litellm:openai/gpt-4o-mini", "--env", variant, "--dry-run", "--repeats", 1)
    assert command(*dry) == 0
    assert "840" in capsys.readouterr().out  # 60 scenarios, 14 turns
