"""What `compare` says at the end, and what `--resume` accepts."""

from pathlib import Path

import pytest

from tests.commands import command
from tests.fault_server import FaultServer

ENV = "elicit_gym/InfoQuestLLM-v0"


def words(server: FaultServer, out: Path) -> list[object]:
    seats: list[object] = []
    for seat in ("policy", "user", "judge"):
        seats += [f"--{seat}-model", "tiny", f"--{seat}-transport", "http", f"--{seat}-api-base", server.api_base]
    more = ["--env", ENV, "--split", "test", "--repeats", 1, "--max-turns", 1, "--concurrency", 8, "--out", out]
    return ["compare", *seats, *more]


def test_a_run_without_a_single_episode_says_in_which_seat_and_has_another_status(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")

    with FaultServer(rate=1.0, faults=["400-filter-openai"]) as server:
        assert command(*words(server, tmp_path / "run")) == 1
    error = " ".join(capsys.readouterr().err.split())
    assert (
        "tiny: no episode was finished. 60 failed by the model in the seat of the policy. First: Calling tiny" in error
    )
    with FaultServer() as server:
        assert command(*words(server, tmp_path / "none"), "--budget-tokens", 10) == 1
    assert "no episode was finished. Keeping to a budget of 10 tokens" in " ".join(capsys.readouterr().err.split())


def test_another_setting_is_another_run_and_another_host_is_not(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    (prompts / "plain.txt").write_text("Be brief.", encoding="utf-8")
    with FaultServer() as one, FaultServer() as two:
        run = words(one, tmp_path / "run")
        assert command(*run) == 0
        for changed, difference in (
            (["--policy-temperature", 1.5], "policies.tiny.sampling.temperature"),
            (["--user-temperature", 1.5], "environment.user_simulator.sampling.temperature"),
            (["--judge-max-tokens", 900], "environment.judge.sampling.max_tokens"),
            (["--judge-mode", "checklist"], "environment.judge.settings.mode"),
            (["--prompts", prompts], "policies.tiny.prompts.plain"),
            (["--seed", 5], "seed"),
        ):
            capsys.readouterr()
            assert command(*run, "--resume", *changed) == 2, changed
            assert difference in capsys.readouterr().err
        calls = len(two.bodies)
        assert command(*words(two, tmp_path / "run"), "--resume", "--policy-timeout", 9) == 0
        assert len(two.bodies) == calls
