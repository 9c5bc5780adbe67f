"""The command that serves InfoQuest to trainers elsewhere."""

from typing import Annotated

import typer

from elicit_gym.cli import options as o
from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.reporting.terminal import echo
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
    allow_host: Annotated[
        list[str] | None,
        typer.Option("--allow-host", help="Answer under this name too. Repeat the option to give several."),
    ] = None,
    allow_origin: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-origin",
            help="Let web pages of this origin, such as 'https://example.org', use the server. Repeat the option to "
            "give several.",
        ),
    ] = None,
    idle_minutes: Annotated[
        float, typer.Option("--idle-minutes", min=0.01, help="End a conversation after this long without a message.")
    ] = 30.0,
    max_message_mb: Annotated[
        float,
        typer.Option("--max-message-mb", min=0.001, help="Refuse a message that is larger than this many megabytes."),
    ] = 1.0,
) -> None:
    """Serve InfoQuest over the OpenEnv protocol, to programs and not to web pages elsewhere."""
    try:
        import uvicorn

        from elicit_gym.adapters.local_server import AccessRules
        from elicit_gym.adapters.openenv_server import make_app
    except ImportError as error:
        raise MissingExtraError("Serving InfoQuest", "openenv") from error
    try:
        rules = AccessRules(
            bound=host,
            hosts=tuple(allow_host or ()),
            origins=tuple(allow_origin or ()),
            max_bytes=int(max_message_mb * 1_000_000),
            idle_s=60 * idle_minutes,
        )
    except ValueError as error:
        raise SettingError(str(error)) from error
    app = make_app(env, o.env_kwargs(scenarios, split, max_turns), max_sessions=max_sessions, rules=rules)
    echo(f"InfoQuest at http://{host}:{port}; Ctrl-C stops it.")
    uvicorn.run(app, host=host, port=port, log_level="warning", ws_max_size=rules.max_bytes)
