"""A virtual environment with a package that cannot live beside ours, made once and kept in the tests' cache."""

import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

from tests.conftest import ROOT
from tests.smollm2 import CACHE


def python_with(*requirements: str) -> Path:
    """Return the interpreter of an environment that has elicit-gym, as it is here, and the requirements."""
    name = "-".join(requirement.split("=")[0].split("[")[0] for requirement in requirements)
    folder = CACHE / f"venv-{name}-{sys.version_info.major}{sys.version_info.minor}"
    python = folder / "bin" / "python"
    if not (folder / "done").is_file():
        venv.create(folder, with_pip=True, clear=True)
        command = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*command, *requirements], check=True, timeout=900)
        (folder / "done").touch()
    # Our own package as it is now, its dependencies only where they are missing. From a copy: building writes build/
    # into the source tree.
    with tempfile.TemporaryDirectory() as scratch:
        source = Path(scratch) / "source"
        unwanted = shutil.ignore_patterns(".git", "build", "*.egg-info", "__pycache__", "elicit-gym-runs")
        shutil.copytree(ROOT, source, symlinks=True, ignore=unwanted)
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(source)],
            check=True, timeout=900,
        )  # fmt: skip
    return python
