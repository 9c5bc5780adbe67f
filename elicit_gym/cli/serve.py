"""The command that serves InfoQuest to trainers elsewhere."""

from typing import Annotated

import typer

from elicit_gym.cli import options as o
from elicit_gym.errors import MissingExtraError
from elicit_gym.rollout.collect import DEFAULT_ENV

__all__ = ["serve_command"]


def serve_command(
    env: o.EnvOption = DEFAULT_ENV,
    scenarios: o.ScenariosOption = None,
    split: o.SplitOption = None,
    max_turns: o.TurnsOption = None,
    host: Annotated[str, typer.Option("--host", help="Listen at this network address.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=1, max=65535, help="Listen at this port.")] = 8000,
    max_sessions: Annotated[
        int, typer.Option("--max-sessions", min=1, help="Let at most this many conversations be open at once.")
    ] = 64,
) -> None:
    """Serve InfoQuest over the OpenEnv protocol."""
    try:
        import uvicorn

        from elicit_gym.adapters.openenv_server import make_app
    except ImportError as error:
        raise MissingExtraError("Serving InfoQuest", "openenv") from error
    app = make_app(env, o.env_kwargs(scenarios, split, max_turns), max_sessions=max_sessions)
    typer.echo(f"InfoQuest at http://{host}:{port}; Ctrl-C stops it.")
    uvicorn.run(app, host=host, port=port, log_level="warning")
