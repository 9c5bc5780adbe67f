"""Options that several commands share, and what they turn into."""

import inspect
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, get_args

import typer

from elicit_gym.errors import SettingError
from elicit_gym.llm.budget import Budget
from elicit_gym.llm.cache import CacheMode, ResponseCache
from elicit_gym.llm.runtime import Runtime, llm_runtime
from elicit_gym.registry import REGISTRIES
from elicit_gym.rollout.units import environment_defaults
from elicit_gym.rollout.workers import Killed

__all__ = [
    "AddressOption",
    "ApiBaseOption",
    "BackendOption",
    "BudgetTokensOption",
    "BudgetUsdOption",
    "CacheModeOption",
    "CacheOption",
    "ConcurrencyOption",
    "CorpusPathOption",
    "DataOption",
    "EnvOption",
    "GpusOption",
    "JudgeApiBaseOption",
    "JudgeModelOption",
    "JudgeOption",
    "MaxTokensOption",
    "PromptsOption",
    "RepeatsOption",
    "ScenariosOption",
    "SeedOption",
    "SplitOption",
    "SystemPromptOption",
    "TemperatureOption",
    "TurnsOption",
    "UserApiBaseOption",
    "UserModelOption",
    "UserOption",
    "WindowLimitOption",
    "WindowTokensOption",
    "check_backend",
    "env_kwargs",
    "models",
    "next_folder",
    "ray_backend",
    "report_problems",
    "seat_kwargs",
    "stoppable",
]

_CLUSTER = "Cluster"
BackendOption = Annotated[str, typer.Option(help="local, or ray.", rich_help_panel=_CLUSTER)]
AddressOption = Annotated[
    str | None,
    typer.Option(help="Of the Ray cluster, auto for this machine's; one is started without.", rich_help_panel=_CLUSTER),
]
GpusOption = Annotated[float, typer.Option(help="GPUs for each Ray actor.", rich_help_panel=_CLUSTER)]
EnvOption = Annotated[str, typer.Option("--env", help="Environment id, or module:Class for your own.")]
ScenariosOption = Annotated[
    str | None,
    typer.Option("--scenarios", help="'bundled', 'infoquest', a JSON lines file, or a folder; the environment's own "
                 "by default."),
]  # fmt: skip
SplitOption = Annotated[str | None, typer.Option("--split", help="train or test; all by default.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Base seed.")]
RepeatsOption = Annotated[int, typer.Option("--repeats", min=1, help="Episodes for each scenario.")]
ConcurrencyOption = Annotated[
    int, typer.Option("--concurrency", min=1, help="Threads; the records do not depend on it.")
]
TurnsOption = Annotated[
    int | None,
    typer.Option("--max-turns", min=1, help="Messages that the agent may send; the environment's own by default."),
]

_MODELS = "Models"
DataOption = Annotated[
    str, typer.Option("--data", help="A dataset id (data list), a built Arrow file, or released JSON lines of windows.")
]
CorpusPathOption = Annotated[Path | None, typer.Option("--path", help="A local copy of the corpus.")]
WindowTokensOption = Annotated[int, typer.Option("--max-tokens", min=8, help="Longer windows are left out.")]
WindowLimitOption = Annotated[int | None, typer.Option("--limit", min=1, help="Use so many windows only.")]
SystemPromptOption = Annotated[
    str,
    typer.Option(
        help="For model policies: plain, clarify, elicitor, or a file; a policy's own: MODEL+PROMPT.",
        rich_help_panel=_MODELS,
    ),
]
ApiBaseOption = Annotated[
    str | None, typer.Option(help="Server for model policies, e.g. http://localhost:8000/v1.", rich_help_panel=_MODELS)
]
TemperatureOption = Annotated[float | None, typer.Option(help="For model policies.", rich_help_panel=_MODELS)]
MaxTokensOption = Annotated[
    int | None, typer.Option(min=1, help="Longest answer, in any seat.", rich_help_panel=_MODELS)
]
UserOption = Annotated[
    str | None,
    typer.Option("--user", help="User simulator: scripted, llm or module:Class.", rich_help_panel=_MODELS),
]
UserModelOption = Annotated[str | None, typer.Option(help="Model that plays the user.", rich_help_panel=_MODELS)]
UserApiBaseOption = Annotated[str | None, typer.Option(help="Server for it.", rich_help_panel=_MODELS)]
JudgeOption = Annotated[
    str | None,
    typer.Option("--judge", help="Judge: scripted, embedding, llm or module:Class.", rich_help_panel=_MODELS),
]
JudgeModelOption = Annotated[str | None, typer.Option(help="Model that judges.", rich_help_panel=_MODELS)]
JudgeApiBaseOption = Annotated[str | None, typer.Option(help="Server for it.", rich_help_panel=_MODELS)]
PromptsOption = Annotated[
    Path | None, typer.Option(help="Folder with prompt files of your own.", rich_help_panel=_MODELS)
]
CacheOption = Annotated[
    Path | None, typer.Option(help="SQLite file that keeps every response.", rich_help_panel=_MODELS)
]
CacheModeOption = Annotated[
    str, typer.Option(help="read-write, or replay: a miss is an error.", rich_help_panel=_MODELS)
]
BudgetUsdOption = Annotated[
    float | None, typer.Option(help="Stop before more dollars are spent.", rich_help_panel=_MODELS)
]
BudgetTokensOption = Annotated[
    int | None, typer.Option(help="Stop before more tokens are spent.", rich_help_panel=_MODELS)
]


@contextmanager
def stoppable(advice: str) -> Iterator[None]:
    """Let Ctrl-C end a long command with a sentence and status 130; a second one at once, whatever is under way."""
    try:
        yield
    except Killed:
        typer.echo(f"\nelicit-gym: killed. {advice}", err=True)
        sys.stderr.flush()
        os._exit(130)  # threads under way would be waited for
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
    max_tokens: int | None,
    prompts: Path | None,
) -> dict[str, Any]:
    """Turn the options of a seat (``user_simulator`` or ``judge``) into arguments of the environment.

    Args:
        seat: of the environment.
        name: who takes it; None for whoever the environment has there.
        env: its id; None where there is no environment.
        model: for this seat.
        api_base: likewise.
        max_tokens: for every seat that takes it.
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
        "max_tokens": max_tokens,
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
    cache_mode: str,
    budget_usd: float | None,
    budget_tokens: int | None,
) -> Iterator[Runtime]:
    """Put cache, budget and concurrency in force for the block."""
    if cache_mode not in get_args(CacheMode):
        raise SettingError(f"Opening a cache: expected mode 'read-write' or 'replay', got {cache_mode!r}. Choose one.")
    if cache is None and cache_mode == "replay":
        raise SettingError("Replaying: expected the file to replay from, got none. Name it with --cache.")
    store = ResponseCache(cache, cache_mode) if cache is not None and cache_mode != "off" else None  # type: ignore[arg-type]
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


def check_backend(name: str, address: str | None) -> bool:
    """Say whether a backend is Ray.

    Raises:
        SettingError: it is neither that nor ``local``, or there is an address for no cluster.
    """
    if name not in ("local", "ray"):
        raise SettingError(f"Spreading work: expected --backend local or ray, got {name!r}.")
    if name == "local" and address is not None:
        raise SettingError("Spreading work: expected --backend ray beside --address, got local. Add it.")
    return name == "ray"


def ray_backend(
    name: str, address: str | None, gpus_per_actor: float, *, cache: Path | None, cache_mode: str, budget: bool
) -> Any:
    """Return what runs the episodes: None for this process, or Ray.

    Raises:
        SettingError: an unknown backend, or options that do not go together.
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
    kept = (str(cache.resolve()), cache_mode) if cache is not None and cache_mode != "off" else None
    return RayBackend(address, gpus_per_actor=gpus_per_actor, cache=kept)  # type: ignore[arg-type]


def report_problems(problems: Sequence[str]) -> None:
    """Print what is wrong with a file and end with status 1; do nothing where nothing is."""
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
