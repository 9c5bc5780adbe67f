"""Every path against a real language model over real HTTP: SmolLM2 in all three seats, served by transformers.

A model of 135 million parameters is no judge and no user. The point is that nothing here is a double.
"""

import json
import os
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

from elicit_gym.rollout.storage import load_run
from elicit_gym.scenarios.load import BUNDLED
from tests.processes import lines_in, start_cli, wait_for
from tests.smollm2 import smollm2_folder

pytestmark = pytest.mark.real_model


def healthy(url: str) -> bool:
    try:
        urllib.request.urlopen(url, timeout=1).read()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def api_base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = smollm2_folder()
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (tmp_path_factory.mktemp("server") / "log").open("w")
    command = [
        str(Path(sys.executable).parent / "transformers"), "serve", str(folder), "--continuous-batching",
        "--host", "127.0.0.1", "--port", str(port),
    ]  # fmt: skip
    server = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, env={**os.environ, "HF_HUB_OFFLINE": "1"})
    try:
        wait_for(server, lambda: healthy(f"http://127.0.0.1:{port}/health"), seconds=240)
        yield f"http://127.0.0.1:{port}/v1"
    finally:
        server.terminate()
        try:
            server.wait(20)
        except subprocess.TimeoutExpired:
            server.kill()


def test_compare_finishes_is_resumed_after_a_kill_and_replays(api_base: str, tmp_path: Path) -> None:
    rows = BUNDLED.read_text(encoding="utf-8").splitlines()[:3]
    (tmp_path / "three.jsonl").write_text("\n".join(rows) + "\n", encoding="utf-8")
    # A model of this size repeats the long prompt of the game; these short ones also try out `--prompts`.
    (tmp_path / "prompts").mkdir()
    fields = "{persona} {traits} {goal} {description} {obstacle} {constraints} {checklist} {opening_message}"
    (tmp_path / "prompts" / "user_system.txt").write_text(f"Notes: {fields} {{mark}}\nYou need help.", encoding="utf-8")
    (tmp_path / "prompts" / "user_progress.txt").write_text(
        "{mark} ({progress} {stuck} {next_item})\nSay in five words how your day was.", encoding="utf-8"
    )
    model = str(smollm2_folder())
    options = [
        "compare", f"litellm:openai/{model}",
        "--env", "elicit_gym/InfoQuestLLM-v0", "--policy-api-base", api_base, "--scenarios", "three.jsonl", "--repeats", "1",
        "--user-model", f"openai/{model}", "--user-api-base", api_base,
        "--judge-model", f"openai/{model}", "--judge-api-base", api_base,
        "--judge-mode", "checklist", "--max-turns", "2", *(w for seat in ("policy", "user", "judge") for w in (f"--{seat}-max-tokens", "16")), "--concurrency", "2", "--cache", "cache.sqlite",
        "--prompts", "prompts",
    ]  # fmt: skip
    process = start_cli(*options, "--out", "run", cwd=tmp_path)
    path = tmp_path / "run" / "episodes.jsonl"
    wait_for(process, lambda: lines_in(path) >= 1, seconds=300)
    process.kill()
    process.communicate()
    before = path.read_bytes().split(b"\n")[:-1]
    resumed = start_cli(*options, "--out", "run", "--resume", cwd=tmp_path)
    _, errors = resumed.communicate()
    assert resumed.returncode == 0, errors
    after = path.read_bytes().split(b"\n")[:-1]
    assert after[: len(before)] == before
    assert len({json.loads(line)["scenario_id"] for line in after}) == len(after) == 3
    records, _ = load_run(tmp_path / "run")
    for record in records:
        assert record.failure is None or record.failure.source == "user_simulator"
    finished = [record for record in records if record.failure is None]
    assert finished
    assert {u.seat for r in finished for t in r.episode.turns for u in t.usage} == {"policy", "user_simulator", "judge"}
    replayed = start_cli(*options, "--cache-mode", "replay", "--out", "again", cwd=tmp_path)
    _, errors = replayed.communicate()
    assert replayed.returncode == 0, errors
    again = (tmp_path / "again" / "episodes.jsonl").read_bytes().split(b"\n")[:-1]
    assert sorted(again) == sorted(after)
