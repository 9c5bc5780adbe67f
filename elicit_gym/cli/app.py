"""The root of the command line: the groups of commands under one name, and what a user's mistake looks like."""

import os
import sys
import warnings
from io import TextIOWrapper
from typing import Any, Final, NoReturn

from elicit_gym.cli.command import Command, command_group
from elicit_gym.cli.compare import compare_command, noise_floor_command, rejudge_command, report_command
from elicit_gym.cli.contrast import contrast_command
from elicit_gym.cli.data import data_app
from elicit_gym.cli.evaluate_yield import evaluate_command
from elicit_gym.cli.human_eval import human_eval_app
from elicit_gym.cli.play import play_command
from elicit_gym.cli.scenarios import scenarios_app
from elicit_gym.cli.serve import serve_command
from elicit_gym.cli.train import train_app
from elicit_gym.errors import ElicitGymError
from elicit_gym.redaction import guarded_streams
from elicit_gym.reporting.terminal import echo, printable

__all__ = ["app", "main"]

TRACEBACK: Final = "ELICIT_GYM_TRACEBACK"
"""The environment variable that asks for the traceback of a fault."""

_FORMAT = warnings.formatwarning

app = command_group(
    "Compare dialogue agents that must ask, play an episode, use human interviews as data, and train local models.",
    name="elicit-gym",
    pretty_exceptions_enable=False,
)
app.command("compare", cls=Command)(compare_command)
app.command("report", cls=Command)(report_command)
app.command("rejudge", cls=Command)(rejudge_command)
app.command("contrast", cls=Command)(contrast_command)
app.command("noise-floor", cls=Command)(noise_floor_command)
app.command("play", cls=Command)(play_command)
app.command("serve", cls=Command)(serve_command)
app.command("evaluate-yield", cls=Command)(evaluate_command)
app.add_typer(scenarios_app, name="scenarios")
app.add_typer(data_app, name="data")
app.add_typer(train_app, name="train")
app.add_typer(human_eval_app, name="human-eval")


def _as_sentence(message: Any, category: type[Warning], filename: str, lineno: int, line: str | None = None) -> str:
    """Write the package's own warnings as sentences for users; those of libraries keep their place in the code."""
    if category.__module__.split(".")[0] == "elicit_gym":
        return printable(f"elicit-gym: {message}\n")
    return printable(_FORMAT(message, category, filename, lineno, line))


def main() -> None:
    """Run the command line. Whatever ends it, ends it in one sentence on standard error.

    A user's mistake and what the system refuses have exit status 2, a fault of ours or of a library has 1. Of the
    latter, the traceback is shown where the environment has a variable `TRACEBACK`. Nothing that is printed holds a
    secret.
    """
    warnings.formatwarning = _as_sentence
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot show a character ends nothing
    with guarded_streams():
        _run()


def _run() -> None:
    try:
        app()
    except ElicitGymError as error:
        _fail(str(error), 2)
    except OSError as error:
        where = f" ({error.filename})" if error.filename else ""
        _fail(f"The system refused: {error.strerror or error}{where}. Check the path, the rights and the space.", 2)
    except Exception as error:
        if os.environ.get(TRACEBACK):
            raise
        said = " ".join(str(error).split()) or "no reason"
        _fail(
            f"Something went wrong that should not have: {type(error).__name__}: {said}. Set {TRACEBACK}=1 and run the "
            "command again to see where, and report it.",
            1,
        )


def _fail(message: str, status: int) -> NoReturn:
    echo(f"elicit-gym: {message}", err=True)
    raise SystemExit(status) from None
