"""A Ray node that sees none of the driver's files: code, scenarios, prompts, weights and keys travel.

The second node lives in a mount namespace of its own, in which the driver's folder is empty.
"""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.conftest import ROOT

RAY = [sys.executable, "-m", "ray.scripts.scripts"]
HIDE = "mount -t tmpfs tmpfs {folder} && exec {command}"

CODE = '''
import os
from elicit_gym.types import Verdict
from mywords import QUESTION


class Keyed:
    """Asks what another module of the folder says, with a key."""

    name = "keyed"

    def reset(self, seed): ...

    def act(self, history):
        if os.path.exists(__file__):
            raise RuntimeError("this machine sees the driver's files")
        return QUESTION if os.environ["MY_KEY"] == "sk-very-secret-0815" else "?"


class Every:
    """Credits everything at the sight of money."""

    name = "every"

    def judge(self, request):
        return (Verdict(satisfied="money" in request.assistant_message),) * len(request.pending)
'''


@dataclass
class Cluster:
    address: str
    hidden: Path
    logs: Path
    env: dict[str, str]

    def compare(self, *arguments: str, ray: bool) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "elicit_gym.cli", "compare", *arguments, "--repeats", "1"]
        if ray:
            command += ["--backend", "ray", "--address", self.address]
        return subprocess.run(
            command, cwd=self.hidden, env=self.env, capture_output=True, text=True, check=False, timeout=300
        )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    hidden = tmp_path_factory.mktemp("driver")
    tried = HIDE.format(folder=hidden, command="true")
    if (
        shutil.which("unshare") is None
        or subprocess.run(["unshare", "-m", "sh", "-c", tried], capture_output=True, check=False).returncode
    ):
        pytest.skip("mount namespaces are not allowed on this machine")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    folder = Path(tempfile.mkdtemp(prefix="ray", dir="/tmp"))  # its sockets need a short path
    env = {**os.environ, "PYTHONPATH": str(ROOT), "RAY_AUTH_MODE": "disabled", "PYTHONDONTWRITEBYTECODE": "1"}
    env.pop("MY_KEY", None)
    address = f"127.0.0.1:{port}"
    quiet = ["--disable-usage-stats", "--num-gpus=0"]
    head = ["start", "--head", f"--port={port}", "--node-ip-address=127.0.0.1", "--num-cpus=0", f"--temp-dir={folder}"]
    node = ["start", f"--address={address}", "--node-ip-address=127.0.0.1", "--num-cpus=2"]
    try:
        subprocess.run([*RAY, *head, *quiet, "--include-dashboard=false"], env=env, check=True, capture_output=True)
        inside = HIDE.format(folder=hidden, command=" ".join([*RAY, *node, *quiet]))
        subprocess.run(["unshare", "-m", "sh", "-c", inside], env=env, check=True, capture_output=True, cwd="/")
        yield Cluster(address, hidden, folder, {**env, "MY_KEY": "sk-very-secret-0815"})
    finally:
        for process in _pids(str(folder)):
            subprocess.run(["kill", "-9", process], check=False)
        shutil.rmtree(folder, ignore_errors=True)


def _pids(folder: str) -> list[str]:
    found = subprocess.run(["pgrep", "-f", folder], capture_output=True, text=True, check=False)
    return found.stdout.split()


def episodes(folder: Path) -> list[dict[str, object]]:
    rows = [json.loads(line) for line in (folder / "episodes.jsonl").read_text().splitlines()]
    return sorted(rows, key=lambda row: (row["policy"], row["scenario_id"], row["repeat"]))


def test_code_scenarios_and_keys_travel(cluster: Cluster) -> None:
    (cluster.hidden / "mymod.py").write_text(CODE)
    (cluster.hidden / "mywords.py").write_text('QUESTION = "How much money can you spend?"')
    bundled = (ROOT / "elicit_gym" / "scenarios" / "data" / "bundled.jsonl").read_text().splitlines()[:6]
    (cluster.hidden / "own.jsonl").write_text("\n".join(bundled) + "\n")
    wanted = ["mymod:Keyed", "random", "--scenarios", "own.jsonl", "--judge", "mymod:Every"]
    done = cluster.compare(*wanted, "--out", "far", "--send-variable", "MY_KEY", ray=True)
    assert done.returncode == 0, done.stderr
    far = episodes(cluster.hidden / "far")
    assert {row["policy"] for row in far} == {"keyed", "random"}
    assert not [row["failure"] for row in far if "failure" in row]
    assert {turn["action"] for row in far if row["policy"] == "keyed" for turn in row["turns"]} == {
        "How much money can you spend?"
    }
    here = cluster.compare(*wanted[1:], "--out", "near", ray=False)
    assert here.returncode == 0, here.stderr
    assert [row for row in far if row["policy"] == "random"] == episodes(cluster.hidden / "near")
    seen = [path for path in cluster.logs.rglob("*") if path.is_file() and b"sk-very-secret" in path.read_bytes()]
    assert seen == []
    assert "sk-very-secret" not in done.stdout + done.stderr


def test_what_cannot_be_found_there_is_told(cluster: Cluster) -> None:
    done = cluster.compare("naive", "--out", "unset", "--send-variable", "NOT_SET_ANYWHERE", ray=True)
    assert done.returncode == 2
    assert "expected NOT_SET_ANYWHERE to be set" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_trained_folder_travels(cluster: Cluster) -> None:
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer).save_pretrained(cluster.hidden / "mine")
    tokenizer.save_pretrained(cluster.hidden / "mine")
    wanted = [
        "hf:mine",
        "--scenarios",
        "own.jsonl",
        "--max-turns",
        "2",
        "--policy-max-tokens",
        "8",
        "--concurrency",
        "4",
    ]
    done = cluster.compare(*wanted, "--out", "far-model", ray=True)
    assert done.returncode == 0, done.stderr
    here = cluster.compare(*wanted, "--out", "near-model", ray=False)
    assert here.returncode == 0, here.stderr
    far = episodes(cluster.hidden / "far-model")
    assert far == episodes(cluster.hidden / "near-model")
    assert not [row["failure"] for row in far if "failure" in row]
