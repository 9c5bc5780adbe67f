"""Child processes of tests: start the command line, wait for what it does, and notice when it dies."""

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

__all__ = ["lines_in", "start_cli", "wait_for"]


def start_cli(*arguments: str, cwd: Path) -> subprocess.Popen[str]:
    """Start ``elicit-gym ARGUMENTS``; what it prints can be read by ``communicate``."""
    command = [sys.executable, "-m", "elicit_gym.cli", *arguments]
    return subprocess.Popen(command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def lines_in(path: Path) -> int:
    """Count the whole lines of a file; 0 where there is none yet."""
    return path.read_bytes().count(b"\n") if path.exists() else 0


def wait_for(process: subprocess.Popen[Any], condition: Callable[[], bool], *, seconds: float = 90.0) -> None:
    """Wait until a condition holds. The test fails, with what the process printed, as soon as it has died without that.

    Args:
        process: that is to bring the condition about; killed where the time is over.
        condition: asked some fifty times a second.
        seconds: at most.
    """
    deadline = time.monotonic() + seconds
    while not condition():
        # Asked once more after the last breath: it may have done it just before.
        if process.poll() is not None and not condition():
            pytest.fail(f"{process.args} ended with status {process.returncode} too early. {_printed(process)}")
        if time.monotonic() > deadline:
            process.kill()
            pytest.fail(f"{process.args} did not get there in {seconds:g} seconds. {_printed(process)}")
        time.sleep(0.02)


def _printed(process: subprocess.Popen[Any]) -> str:
    printed = [part for part in process.communicate(timeout=20) if part]
    return f"It printed:\n{''.join(map(str, printed))[-4000:]}" if printed else "It printed nothing."
