"""Options that several commands share, and what they turn into."""

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from elicit_gym.errors import SettingError
from elicit_gym.llm.budget import Budget
from elicit_gym.llm.cache import CacheMode, ResponseCache
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.rollout.workers import Killed

__all__ = [
    "SCENARIOS",
    "SPLIT",
    "AddressOption",
    "BackendOption",
    "ConcurrencyOption",
    "EnvOption",
    "GpusOption",
    "RepeatsOption",
    "ResumeOption",
    "ScenariosOption",
    "SeedOption",
    "SplitOption",
    "TurnsOption",
    "check_backend",
    "env_kwargs",
    "models",
    "next_folder",
    "out_option",
    "ray_backend",
    "report_problems",
    "seat_kwargs",
    "stoppable",
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
        "--gpus-per-actor", min=0, help="Reserve this many GPUs for each Ray actor.", rich_help_panel=_CLUSTER
    ),
]
EnvOption = Annotated[str, typer.Option("--env", help="Play in the environment with this id.")]
SCENARIOS = typer.Option(
    "--scenarios",
    help="Take the scenarios from here: 'bundled', 'infoquest' (the published ones), a JSON lines file, or a folder.",
)
ScenariosOption = Annotated[str, SCENARIOS]
SPLIT = typer.Option("--split", help="Use only this part of the data.")
SplitOption = Annotated[Literal["train", "test"] | None, SPLIT]
SeedOption = Annotated[int, typer.Option("--seed", help="Derive every random choice from this seed.")]
RepeatsOption = Annotated[int, typer.Option("--repeats", min=1, help="Play this many episodes per scenario.")]
ConcurrencyOption = Annotated[
    int,
    typer.Option(
        "--concurrency", min=1, help="Keep this many episodes under way at once; the results do not depend on it."
    ),
]
TurnsOption = Annotated[
    int, typer.Option("--max-turns", min=1, help="Let the agent send at most this many messages per episode.")
]
ResumeOption = Annotated[bool, typer.Option("--resume", help="Continue what was interrupted in --out.")]


def out_option(more: str) -> Any:
    """Return the option that says where a command writes, with a sentence on what it writes there."""
    return typer.Option("--out", help=f"Write the results here. {more}")


@contextmanager
def stoppable(advice: str) -> Iterator[None]:
    """Let Ctrl-C end a long command with a sentence and status 130; a second one ends it at once."""
    try:
        yield
    except Killed:
        typer.echo(f"\nelicit-gym: killed. {advice}", err=True)
        sys.stderr.flush()
        os._exit(130)  # Python would wait for the threads that still run
    except KeyboardInterrupt:
        typer.echo(f"\nelicit-gym: stopped. {advice}", err=True)
        raise typer.Exit(130) from None


def env_kwargs(scenarios: str, split: str | None, max_turns: int) -> dict[str, Any]:
    """Return only what differs from the defaults, so that manifests stay short and comparable."""
    kwargs: dict[str, Any] = {}
    if scenarios != "bundled":
        kwargs["scenarios"] = str(Path(scenarios).resolve()) if Path(scenarios).exists() else scenarios
    if split is not None:
        kwargs["split"] = split
    if max_turns != 10:
        kwargs["max_turns"] = max_turns
    return kwargs


def seat_kwargs(
    seat: str,
    name: str | None,
    *,
    env: str,
    model: str | None,
    api_base: str | None,
    max_new_tokens: int | None,
    prompts: Path | None,
) -> dict[str, Any]:
    """Turn the options of a seat (``user_simulator`` or ``judge``) into arguments of the environment.

    Raises:
        SettingError: a model is named for a seat that holds none.
    """
    given = {
        "model": model,
        "api_base": api_base,
        "max_tokens": max_new_tokens,
        "prompts": str(prompts.resolve()) if prompts else None,
    }
    holds_model = name == "llm" or (name is None and env.endswith("InfoQuestLLM-v0"))
    kwargs = {key: value for key, value in given.items() if value is not None} if holds_model else {}
    if name == "embedding" and model:
        kwargs = {"model": model}
    elif not holds_model and (model or api_base):
        raise SettingError(
            f"Setting up the {seat.replace('_', ' ')}: expected a seat that holds a model, got {name or 'scripted'!r}. "
            f"Add --{'user' if seat == 'user_simulator' else 'judge'} llm, or --env elicit_gym/InfoQuestLLM-v0."
        )
    made: dict[str, Any] = {seat: name} if name is not None else {}
    if kwargs:
        made[f"{seat}_kwargs"] = kwargs
    return made


@contextmanager
def models(
    *,
    concurrency: int,
    cache: Path | None,
    cache_mode: CacheMode,
    budget_usd: float | None,
    budget_tokens: int | None,
) -> Iterator[Runtime]:
    """Apply cache, budget and concurrency to all calls to models within the block."""
    if cache is None and cache_mode == "replay":
        raise SettingError("Replaying: expected the file to replay from, got none. Name it with --cache.")
    store = ResponseCache(cache, cache_mode) if cache is not None else None
    try:
        runtime = Runtime(
            concurrency=max(64, 6 * concurrency),
            model_concurrency=max(64, 6 * concurrency),
            cache=store,
            budget=Budget(budget_usd, budget_tokens),
        )
        with llm_runtime(runtime):
            yield runtime
    finally:
        if store is not None:
            store.close()


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
    from elicit_gym.rollout.ray_backend import RayBackend, connect

    connect(address)
    kept = (str(cache.resolve()), cache_mode) if cache is not None else None
    return RayBackend(address, gpus_per_actor=gpus_per_actor, cache=kept)


def report_problems(problems: Sequence[str]) -> None:
    """Print what is wrong with a file and exit with status 1; do nothing if nothing is wrong."""
    for problem in problems:
        typer.echo(problem)
    if problems:
        typer.echo(f"{len(problems)} problem{'' if len(problems) == 1 else 's'}.", err=True)
        raise typer.Exit(1)


def next_folder(out: Path | None) -> Path:
    """Return the folder for a run: the one named, else the next ``elicit-gym-runs/NNN``."""
    if out is not None:
        return out
    base = Path("elicit-gym-runs")
    number = 1 + max((int(p.name) for p in base.glob("[0-9]*") if p.name.isdigit()), default=0)
    return base / f"{number:03d}"
