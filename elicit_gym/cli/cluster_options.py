"""Options of commands that can spread their work over a Ray cluster, and what they turn into."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from elicit_gym.errors import SettingError
from elicit_gym.llm.cache import CacheMode

__all__ = [
    "AddressOption",
    "BackendOption",
    "GpusOption",
    "NumActorsOption",
    "SendOption",
    "WorkingDirOption",
    "check_backend",
    "ray_backend",
]

_CLUSTER = "Cluster"

BackendOption = Annotated[
    Literal["local", "ray"],
    typer.Option("--backend", help="Run on this machine or on a Ray cluster.", rich_help_panel=_CLUSTER),
]
AddressOption = Annotated[
    str | None,
    typer.Option(
        "--address",
        help="Connect to the Ray cluster at this address, or at 'auto' to this machine's; without it, one is started.",
        rich_help_panel=_CLUSTER,
    ),
]
GpusOption = Annotated[
    float,
    typer.Option(
        "--gpus-per-actor",
        min=0,
        help="Reserve this many GPUs, or this share of one, for each Ray actor.",
        rich_help_panel=_CLUSTER,
    ),
]
NumActorsOption = Annotated[
    int | None,
    typer.Option(
        "--num-actors",
        min=1,
        help="Start this many Ray actors; by default as many as the cluster has room for.",
        rich_help_panel=_CLUSTER,
    ),
]
SendOption = Annotated[
    list[str] | None,
    typer.Option(
        "--send-variable",
        help=(
            "Give the Ray actors the environment variable with this name, such as OPENAI_API_KEY; its value is not "
            "logged. The option can be repeated."
        ),
        rich_help_panel=_CLUSTER,
    ),
]
WorkingDirOption = Annotated[
    Path | None,
    typer.Option(
        "--working-dir",
        help=(
            "Give every machine of the cluster a copy of this folder. Without it, your own modules travel with what "
            "uses them; files of scenarios and prompts travel in any case."
        ),
        rich_help_panel=_CLUSTER,
    ),
]


def check_backend(name: Literal["local", "ray"], address: str | None) -> bool:
    """Say whether a backend is Ray.

    Raises:
        SettingError: there is an address, but no cluster.
    """
    if name == "local" and address is not None:
        raise SettingError("Spreading work: expected --backend ray beside --address, got local. Add it.")
    return name == "ray"


def ray_backend(
    name: Literal["local", "ray"],
    address: str | None,
    gpus_per_actor: float,
    *,
    num_actors: int | None,
    send: Sequence[str] | None,
    working_dir: Path | None,
    cache: Path | None,
    cache_mode: CacheMode,
    budget: bool,
) -> Any:
    """Return what runs the episodes: None for this process, or Ray.

    Raises:
        SettingError: the options do not go together.
        MissingExtraError: the extra ``ray`` is not installed.
    """
    if not check_backend(name, address):
        return None
    if budget:
        raise SettingError(
            "Running episodes on Ray: expected no budget, got one, which actors on many machines cannot keep together. "
            "Set a limit with the provider."
        )
    from elicit_gym.rollout.ray_backend import RayBackend
    from elicit_gym.rollout.ray_cluster import connect

    connect(address, working_dir=working_dir)
    return RayBackend(
        address,
        num_actors=num_actors,
        gpus_per_actor=gpus_per_actor,
        cache=(str(cache.resolve()), cache_mode) if cache is not None else None,
        send=send or (),
        working_dir=working_dir,
    )
