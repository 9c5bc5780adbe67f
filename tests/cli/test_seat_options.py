"""One grammar for the options of every seat: each reaches its own seat's model, and no other."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from elicit_gym.cli.seat_options import SeatOptions, seat_kwargs, without_judge_replies
from elicit_gym.errors import SettingError, UnknownNameError
from elicit_gym.judges.llm import LLMJudge
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.rollout.storage import load_run
from tests.commands import command
from tests.fault_server import FaultServer

ENV = "elicit_gym/InfoQuestLLM-v0"


class OwnJudge(LLMJudge):
    """Takes what the built-in judge takes."""


class Counting(ScriptedJudge):
    def __init__(self, max_tokens: int = 3) -> None:
        self.max_tokens = max_tokens


@pytest.fixture
def variant() -> Iterator[str]:
    kwargs = {"judge": "llm", "judge_kwargs": {"model": "openai/a", "mode": "checklist"}}
    gym.register(id="tests/Judged-v0", entry_point="elicit_gym.envs.infoquest:InfoQuestEnv", kwargs=kwargs)
    yield "tests/Judged-v0"
    del gym.registry["tests/Judged-v0"]


def test_only_what_was_given() -> None:
    none = SeatOptions()
    assert seat_kwargs("judge", None, none, env="elicit_gym/InfoQuest-v0") == {}
    assert seat_kwargs("judge", "embedding", none, env="elicit_gym/InfoQuest-v0") == {"judge": "embedding"}


def test_who_takes_an_option_is_asked_of_the_part(variant: str, tmp_path: Path) -> None:
    given = SeatOptions(model="openai/b", max_tokens=7)
    wanted = {"model": "openai/b", "max_tokens": 7, "prompts": str(tmp_path)}
    for env, before in ((ENV, {}), (variant, {"mode": "checklist"})):
        assert seat_kwargs("judge", None, given, env=env, prompts=tmp_path) == {"judge_kwargs": {**before, **wanted}}
    own = "tests.cli.test_seat_options:OwnJudge"
    for environment in ("elicit_gym/InfoQuest-v0", variant, None):
        made = seat_kwargs("judge", own, given, env=environment, prompts=tmp_path, mode="item")
        assert made == {"judge": own, "judge_kwargs": {**wanted, "mode": "item"}}
    # Prompts are for all seats that take some; whatever names a seat has to be taken there.
    none = SeatOptions()
    assert seat_kwargs("judge", "scripted", none, env=None, prompts=tmp_path) == {"judge": "scripted"}
    counting = "tests.cli.test_seat_options:Counting"
    made = seat_kwargs("judge", counting, SeatOptions(max_tokens=7), env=None)
    assert made["judge_kwargs"] == {"max_tokens": 7}
    # Another part does not inherit the arguments of the one in whose place it sits.
    assert seat_kwargs("judge", "scripted", none, env=variant) == {"judge": "scripted", "judge_kwargs": {}}
    with pytest.raises(UnknownNameError, match="Did you mean 'scripted'"):
        seat_kwargs("judge", "scriptd", none, env=None)


@pytest.mark.parametrize(
    ("options", "more", "flag"),
    [
        (SeatOptions(model="openai/b"), {}, "--judge-model"),
        (SeatOptions(api_base="http://localhost:1"), {}, "--judge-api-base"),
        (SeatOptions(temperature=0.0), {}, "--judge-temperature"),
        (SeatOptions(max_tokens=7), {}, "--judge-max-tokens"),
        (SeatOptions(timeout=2.0), {}, "--judge-timeout"),
        (SeatOptions(api_key_env="KEY"), {}, "--judge-api-key-env"),
        (SeatOptions(transport="http"), {}, "--judge-transport"),
        (SeatOptions(), {"mode": "item"}, "--judge-mode"),
    ],
)
def test_an_option_for_a_seat_that_does_not_take_it_is_a_mistake(
    options: SeatOptions, more: dict[str, Any], flag: str
) -> None:
    with pytest.raises(SettingError, match=f"expected a seat that takes {flag}, got 'scripted'"):
        seat_kwargs("judge", "scripted", options, env=None, **more)


def of_seats(server: FaultServer) -> list[str]:
    words = []
    for i, seat in enumerate(("policy", "user", "judge")):
        words += [
            f"--{seat}-model", f"{seat}-model", f"--{seat}-api-base", server.api_base, f"--{seat}-transport", "http",
            f"--{seat}-temperature", str(i / 10), f"--{seat}-max-tokens", str(100 + i), f"--{seat}-timeout", "20",
            f"--{seat}-api-key-env", f"KEY_OF_{seat.upper()}",
        ]  # fmt: skip
    return words


@pytest.mark.parametrize("name", ["compare", "noise-floor"])
def test_every_option_reaches_its_own_seat(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    for seat in ("POLICY", "USER", "JUDGE"):
        monkeypatch.setenv(f"KEY_OF_{seat}", f"the-secret-of-{seat}")
    out = ["--out", tmp_path / "run"] if name == "compare" else []
    with FaultServer() as server:
        more = ["--env", ENV, "--split", "test", "--repeats", 1, "--max-turns", 2, "--concurrency", 8]
        assert command(name, *of_seats(server), *more, "--judge-mode", "checklist", *out) == 0
    printed = capsys.readouterr()
    sent = {
        (body["model"], body["temperature"], body["max_tokens"], headers["Authorization"])
        for body, headers in zip(server.bodies, server.headers, strict=True)
    }
    assert sent == {
        (f"{seat}-model", i / 10, 100 + i, f"Bearer the-secret-of-{seat.upper()}")
        for i, seat in enumerate(("policy", "user", "judge"))
    }
    assert "the-secret-of" not in printed.out + printed.err
    # One call per turn answers the whole checklist.
    assert sum(b["model"] == "judge-model" for b in server.bodies) <= 3 * sum(
        b["model"] == "policy-model" for b in server.bodies
    )
    for seat in ("policy", "user simulator", "judge"):
        assert seat in printed.out


def test_two_settings_of_one_model_are_compared_under_labels(tmp_path: Path) -> None:
    with FaultServer() as server:
        base = f"api-base={server.api_base}"
        specs = [f"cold=http:tiny,temperature=0,{base}", f"http:tiny,temperature=1.5,max-tokens=9,{base}"]
        assert command("compare", *specs, "naive", "--split", "test", "--repeats", 1, "--max-turns", 1,
                       "--concurrency", 8, "--out", tmp_path / "run") == 0  # fmt: skip
    records, manifest = load_run(tmp_path / "run")
    names = ("cold", "tiny, temperature=1.5, max_tokens=9", "naive")
    assert manifest.names == names
    assert {record.policy for record in records} == set(names)
    assert {(b["temperature"], b.get("max_tokens")) for b in server.bodies} == {(0.0, None), (1.5, 9)}


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["http:tiny,temperature=hot,api-base=http://localhost:1"], "expected a number for temperature, got 'hot'"),
        (["naive,temperature=1"], "expected a model where options are given"),
        (["mine=oracle"], "expected one that can be renamed, got 'oracle'"),
        (["one=naive", "one=ask-one"], "got 'one' twice"),
        (["naive", "--user-temperature", "1"], "expected a seat that takes --user-temperature, got 'scripted'"),
        (["naive", "--policy-temperature", "-1"], "Input should be greater than or equal to 0"),
        (["naive", "--judge-transport", "pigeon"], "'--judge-transport'"),
    ],
)
def test_a_mistake_is_one_message(
    words: list[str], problem: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command("compare", *words, "--out", tmp_path / "run") == 2
    assert problem in " ".join(capsys.readouterr().err.split())
    assert not (tmp_path / "run").exists()


def test_judge_replies_are_left_out_where_a_judge_writes_any(variant: str) -> None:
    llm = "elicit_gym/InfoQuestLLM-v0"
    assert without_judge_replies({}, llm)["judge_kwargs"] == {"keep_replies": False}
    assert without_judge_replies({"judge_kwargs": {"mode": "item"}}, llm)["judge_kwargs"]["mode"] == "item"
    of_variant = without_judge_replies({}, variant)["judge_kwargs"]
    assert of_variant == {"model": "openai/a", "mode": "checklist", "keep_replies": False}
    assert without_judge_replies({"judge": "llm"}, None)["judge_kwargs"] == {"keep_replies": False}
    assert without_judge_replies({"max_turns": 3}, "elicit_gym/InfoQuest-v0") == {"max_turns": 3}
    assert without_judge_replies({"judge": "scripted"}, variant) == {"judge": "scripted"}
