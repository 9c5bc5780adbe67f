"""What every benchmark writes with its numbers: command, commit, machine, versions, time."""

import json
import os
import platform
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from elicit_gym.json_files import write_json

RESULTS = Path(__file__).parent / "results"


def _commit() -> str | None:
    try:
        head = subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True, cwd=RESULTS.parent
        )
        changed = subprocess.run(
            ["git", "status", "--porcelain", "--untracked-files=no", "--", ":!benchmarks/results"],
            capture_output=True, text=True, check=True, cwd=RESULTS.parent.parent,
        )  # fmt: skip
    except (OSError, subprocess.CalledProcessError):
        return None
    return head.stdout.strip() + (" with uncommitted changes" if changed.stdout.strip() else "")


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), platform.machine())


def _command() -> str:
    script = Path(sys.argv[0])
    as_module = sys.modules["__main__"].__spec__ is not None
    return " ".join(
        [
            "python",
            *(["-m", f"benchmarks.{script.stem}"] if as_module else [f"benchmarks/{script.name}"]),
            *sys.argv[1:],
        ]
    )


def provenance() -> dict[str, Any]:
    """Return by what command, of which commit, when, on what machine and with which versions."""
    return {
        "command": _command(),
        "commit": _commit(),
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": {"processor": _processor(), "cores": os.cpu_count(), "python": platform.python_version()},
        "versions": {package: version(package) for package in ("elicit-gym", "gymnasium", "numpy")},
    }


def merge_results(name: str, entries: dict[str, dict[str, Any]]) -> Path:
    """Put entries into ``results/<name>.json`` beside those that are there, each with its own provenance.

    At the top of the file stands the provenance of the latest run.

    Args:
        name: of the file.
        entries: what was measured in this run, by the name of what was measured; entries of these names are replaced.
    """
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    before = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    measured = provenance()
    write_json(path, before | measured | {key: {**numbers, "measured": measured} for key, numbers in entries.items()})
    kept = sorted(set(before) - set(entries) - set(measured))
    print(f"{path}: {', '.join(entries)} written; {', '.join(kept) or 'nothing else'} kept.")
    return path


def write_result(name: str, numbers: dict[str, Any]) -> Path:
    """Write ``results/<name>.json`` and print it."""
    RESULTS.mkdir(exist_ok=True)
    result = provenance() | numbers
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(result, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(result, indent=2))
    return path
