"""The root of the command line: the groups of commands under one name, and what a user's mistake looks like."""

import sys

from elicit_gym.cli.command import Command, command_group
from elicit_gym.cli.compare import compare_command, noise_floor_command, rejudge_command, report_command
from elicit_gym.cli.data import data_app
from elicit_gym.cli.evaluate_yield import evaluate_command
from elicit_gym.cli.human_eval import human_eval_app
from elicit_gym.cli.play import play_command
from elicit_gym.cli.scenarios import scenarios_app
from elicit_gym.cli.serve import serve_command
from elicit_gym.cli.train import train_app
from elicit_gym.errors import ElicitGymError
from elicit_gym.redaction import guarded_streams

__all__ = ["app", "main"]

app = command_group(
    "Compare dialogue agents that must ask, play an episode, use human interviews as data, and train local models.",
    name="elicit-gym",
    pretty_exceptions_enable=False,
)
app.command("compare", cls=Command)(compare_command)
app.command("report", cls=Command)(report_command)
app.command("rejudge", cls=Command)(rejudge_command)
app.command("noise-floor", cls=Command)(noise_floor_command)
app.command("play", cls=Command)(play_command)
app.command("serve", cls=Command)(serve_command)
app.command("evaluate-yield", cls=Command)(evaluate_command)
app.add_typer(scenarios_app, name="scenarios")
app.add_typer(data_app, name="data")
app.add_typer(train_app, name="train")
app.add_typer(human_eval_app, name="human-eval")


def main() -> None:
    """Run the command line; a user's mistake is one message on standard error, and exit status 2.

    Nothing that is printed holds a secret.
    """
    with guarded_streams():
        try:
            app()
        except ElicitGymError as error:
            sys.stderr.write(f"elicit-gym: {error}\n".encode("utf-8", "replace").decode("utf-8"))
            raise SystemExit(2) from None
