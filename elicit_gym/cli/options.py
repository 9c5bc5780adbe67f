"""Options that several commands share, and what they turn into."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from elicit_gym.folder_lock import locked_folder
from elicit_gym.reporting.terminal import echo
from elicit_gym.rollout.interrupts import Killed

__all__ = [
    "SCENARIOS",
    "SPLIT",
    "ConcurrencyOption",
    "EnvOption",
    "JsonOption",
    "RepeatsOption",
    "ResumeOption",
    "ScenariosOption",
    "SeedOption",
    "SplitOption",
    "TurnsOption",
    "alone_in",
    "env_kwargs",
    "next_folder",
    "out_option",
    "report_problems",
    "stoppable",
]

EnvOption = Annotated[str, typer.Option("--env", help="Play in the environment with this id.")]
SCENARIOS = typer.Option(
    "--scenarios",
    help="Take the scenarios from here: 'bundled', 'infoquest' (the published ones), a JSON lines file, or a folder.",
)
ScenariosOption = Annotated[str | None, SCENARIOS]
SPLIT = typer.Option("--split", help="Use only this part of the data.")
SplitOption = Annotated[Literal["train", "test"] | None, SPLIT]
SeedOption = Annotated[int, typer.Option("--seed", help="Derive every random choice from this seed.")]
RepeatsOption = Annotated[int, typer.Option("--repeats", min=1, help="Play this many episodes per scenario.")]
ConcurrencyOption = Annotated[
    int,
    typer.Option(
        "--concurrency",
        min=1,
        help=(
            "Keep this many episodes under way at once, on a cluster over all actors together and at least one each; "
            "the results do not depend on it."
        ),
    ),
]
TurnsOption = Annotated[
    int | None,
    typer.Option(
        "--max-turns",
        min=1,
        help="Let the agent send at most this many messages per episode; the environment's own number by default.",
    ),
]
JsonOption = Annotated[Path | None, typer.Option("--json", help="Write the numbers to this JSON file, too.")]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Continue what was interrupted in --out.")]


def out_option(more: str) -> Any:
    """Return the option that says where a command writes, with a sentence on what it writes there."""
    return typer.Option("--out", help=f"Write the results here. {more}")


@contextmanager
def alone_in(folder: Path | None) -> Iterator[None]:
    """Let nothing else write to a folder while a command works in it; None stands for none.

    Of the processes of one training, which share the folder, the first holds it for all.

    Raises:
        SettingError: another run is using it.
    """
    if folder is None or os.environ.get("RANK", "0") != "0":
        yield
        return
    with locked_folder(folder):
        yield


@contextmanager
def stoppable(advice: str) -> Iterator[None]:
    """Let Ctrl-C end a long command with a sentence and status 130; a second one ends it at once."""
    try:
        yield
    except Killed:
        echo(f"\nelicit-gym: killed. {advice}", err=True)
        sys.stderr.flush()
        os._exit(130)  # Python would wait for the threads that still run
    except KeyboardInterrupt:
        echo(f"\nelicit-gym: stopped. {advice}", err=True)
        raise typer.Exit(130) from None


def env_kwargs(scenarios: str | None, split: str | None, max_turns: int | None) -> dict[str, Any]:
    """Return the options of the environment that were given; all others are the environment's own."""
    if scenarios is not None and Path(scenarios).exists():
        scenarios = str(Path(scenarios).resolve())
    given = {"scenarios": scenarios, "split": split, "max_turns": max_turns}
    return {name: value for name, value in given.items() if value is not None}


def report_problems(problems: Sequence[str]) -> None:
    """Print what is wrong with a file and exit with status 1; do nothing if nothing is wrong."""
    for problem in problems:
        echo(problem)
    if problems:
        echo(f"{len(problems)} problem{'' if len(problems) == 1 else 's'}.", err=True)
        raise typer.Exit(1)


def next_folder(out: Path | None) -> Path:
    """Return the folder for a run: the one named, else the next ``elicit-gym-runs/NNN``."""
    if out is not None:
        return out
    base = Path("elicit-gym-runs")
    number = 1 + max((int(p.name) for p in base.glob("[0-9]*") if p.name.isdigit()), default=0)
    return base / f"{number:03d}"
