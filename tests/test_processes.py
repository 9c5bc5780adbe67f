"""The helper that waits for child processes."""

import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.processes import lines_in, start_cli, wait_for


def child(code: str) -> subprocess.Popen[str]:
    return subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_it_returns_when_the_condition_holds(tmp_path: Path) -> None:
    path = tmp_path / "x"
    process = child(f"import time; open({str(path)!r}, 'w').write('a\\n'); time.sleep(60)")
    wait_for(process, lambda: lines_in(path) == 1)
    assert process.poll() is None
    process.kill()
    process.communicate()
    wait_for(process, lambda: lines_in(path) == 1)  # dead, but not too early


def test_a_dead_child_is_noticed_at_once_and_says_why() -> None:
    start = time.monotonic()
    with pytest.raises(pytest.fail.Exception, match=r"ended with status 3 too early\. It printed:\nout\nwhy"):
        wait_for(child("import sys; print('out'); print('why', file=sys.stderr); sys.exit(3)"), lambda: False)
    assert time.monotonic() - start < 20
    with pytest.raises(pytest.fail.Exception, match="status 0 too early. It printed nothing."):
        wait_for(child("pass"), lambda: False)


def test_what_it_does_with_its_last_breath_counts() -> None:
    process = child("pass")
    process.wait()
    asked: list[bool] = []

    def only_when_asked_again() -> bool:
        asked.append(True)
        return len(asked) > 1

    wait_for(process, only_when_asked_again)


def test_a_child_that_never_gets_there_is_killed() -> None:
    process = child("import time; time.sleep(60)")
    with pytest.raises(pytest.fail.Exception, match=r"did not get there in 0\.1 seconds"):
        wait_for(process, lambda: False, seconds=0.1)
    assert process.wait(timeout=20) != 0


def test_the_command_line_is_started(tmp_path: Path) -> None:
    process = start_cli("data", "list", cwd=tmp_path)
    out, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert "sample/all-v1" in out
