"""Options that several commands share, and what they turn into."""

import inspect
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
from elicit_gym.llm.prices import parse_prices
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.registry import REGISTRIES
from elicit_gym.rollout.interrupts import Killed
from elicit_gym.rollout.units import environment_defaults

__all__ = [
    "SCENARIOS",
    "SPLIT",
    "ConcurrencyOption",
    "EnvOption",
    "RepeatsOption",
    "ResumeOption",
    "ScenariosOption",
    "SeedOption",
    "SplitOption",
    "TurnsOption",
    "env_kwargs",
    "models",
    "next_folder",
    "out_option",
    "report_problems",
    "seat_kwargs",
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


def env_kwargs(scenarios: str | None, split: str | None, max_turns: int | None) -> dict[str, Any]:
    """Return the options of the environment that were given; all others are the environment's own."""
    if scenarios is not None and Path(scenarios).exists():
        scenarios = str(Path(scenarios).resolve())
    given = {"scenarios": scenarios, "split": split, "max_turns": max_turns}
    return {name: value for name, value in given.items() if value is not None}


def seat_kwargs(
    seat: str,
    name: str | None,
    *,
    env: str | None,
    model: str | None,
    api_base: str | None,
    max_new_tokens: int | None,
    prompts: Path | None,
) -> dict[str, Any]:
    """Turn the options of a seat (``user_simulator`` or ``judge``) into arguments of the environment.

    Args:
        seat: of the environment.
        name: who takes it; None for whoever the environment has there.
        env: its id; None where there is no environment.
        model: for this seat.
        api_base: likewise.
        max_new_tokens: for every seat that takes it.
        prompts: likewise.

    Raises:
        SettingError: a model is named for a seat that holds none.
    """
    own = environment_defaults(env) if env is not None else {}
    who = name or own.get(seat)
    if not isinstance(who, str):
        return {}  # an environment without such a seat, which is refused where it is made
    taken = inspect.signature(REGISTRIES[seat.replace("_", " ")].factory(who)).parameters
    # Whatever else a maker of models takes, it hands on to `make_chat_model`.
    anything = "model" in taken and any(parameter.kind is parameter.VAR_KEYWORD for parameter in taken.values())
    if (model and "model" not in taken) or (api_base and not anything and "api_base" not in taken):
        raise SettingError(
            f"Setting up the {seat.replace('_', ' ')}: expected a seat that holds a model, got {who!r}. "
            f"Add --{'user' if seat == 'user_simulator' else 'judge'} llm, or --env elicit_gym/InfoQuestLLM-v0."
        )
    given = {
        "model": model,
        "api_base": api_base,
        "max_tokens": max_new_tokens,
        "prompts": str(prompts.resolve()) if prompts else None,
    }
    fits = {key: value for key, value in given.items() if value is not None and (key in taken or anything)}
    made: dict[str, Any] = {seat: name} if name is not None else {}
    before = own.get(f"{seat}_kwargs") or {}
    if fits or (before and who != own.get(seat)):  # the arguments of one part are not those of another
        made[f"{seat}_kwargs"] = {**(before if who == own.get(seat) else {}), **fits}
    return made


@contextmanager
def models(
    *,
    concurrency: int,
    cache: Path | None,
    cache_mode: CacheMode,
    budget_usd: float | None,
    budget_tokens: int | None,
    price: Sequence[str] | None = None,
) -> Iterator[Runtime]:
    """Apply cache, budget, prices and concurrency to all calls to models within the block."""
    if cache is None and cache_mode == "replay":
        raise SettingError("Replaying: expected the file to replay from, got none. Name it with --cache.")
    store = ResponseCache(cache, cache_mode) if cache is not None else None
    try:
        runtime = Runtime(
            concurrency=max(64, 6 * concurrency),
            model_concurrency=max(64, 6 * concurrency),
            cache=store,
            budget=Budget(budget_usd, budget_tokens),
            prices=parse_prices(price or ()),
        )
        with llm_runtime(runtime):
            yield runtime
    finally:
        if store is not None:
            store.close()


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
