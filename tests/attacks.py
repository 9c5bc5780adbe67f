"""Run code under watch: what was imported, called or opened that only saved data name."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.conftest import ROOT

SECRET_FILE = "/etc/passwd"
TARGETS = ("evilmod:evil/Env-v0", "evilmod:Evil", "python:os:abort", "os:abort", "python:evilmod:Evil", SECRET_FILE)
"""What a stranger may have written wherever a text stands."""

WATCH = """
import os, sys
def watch(event, args):
    text = str(args[0]) if args else ""
    if event == "import" and text.split(".")[0] == "evilmod":
        os.write(2, b"ATTACKED import\\n")
    if event == "open" and text == "/etc/passwd":
        os.write(2, b"ATTACKED open\\n")
sys.addaudithook(watch)
def abort():
    os.write(2, b"ATTACKED call\\n")
os.abort = abort
"""
EVIL = """
import os
os.write(2, b"ATTACKED code\\n")
def Evil(*args, **kwargs):
    os.write(2, b"ATTACKED call\\n")
import gymnasium
gymnasium.register(id="evil/Env-v0", entry_point=Evil)
"""


def hostile(value: Any, text: str, keep: tuple[str, ...] = ()) -> Any:
    """Return a JSON value with a text of the attacker's in the place of every text, but for some fields."""
    if isinstance(value, dict):
        return {key: inner if key in keep else hostile(inner, text, keep) for key, inner in value.items()}
    if isinstance(value, list):
        return [hostile(inner, text, keep) for inner in value]
    return text if isinstance(value, str) else value


def run_watched(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code in a folder that has a module of the attacker's; ``ATTACKED`` on standard error says what it did.

    Whatever is asked for is answered with "y".
    """
    (folder / "evilmod.py").write_text(EVIL, encoding="utf-8")
    (folder / "watched.py").write_text(f"{WATCH}\n{code}\n", encoding="utf-8")
    return subprocess.run(
        [sys.executable, "watched.py"], capture_output=True, text=True, check=False, cwd=folder, timeout=300,
        input="y\n" * 100,
        env={**os.environ, "PYTHONPATH": str(ROOT), "HF_HUB_OFFLINE": "1", "MPLBACKEND": "agg"},
    )  # fmt: skip


def run_commands(commands: list[list[str]], folder: Path) -> subprocess.CompletedProcess[str]:
    """Run several command lines in one watched process; the exit statuses come as the last line of the output."""
    code = f"""
from elicit_gym.cli import main
statuses = []
for arguments in {json.dumps(commands)}:
    sys.argv = ["elicit-gym", *arguments]
    try:
        main()
    except SystemExit as stop:
        statuses.append(stop.code or 0)
print(statuses)
"""
    return run_watched(code, folder)
