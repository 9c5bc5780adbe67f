"""The command line: the roof of the package, and the only file that imports all of its parts."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer

from elicit_gym.errors import ElicitGymError, SettingError

__all__ = ["app", "main"]

app = typer.Typer(
    name="elicit-gym",
    help="Dialogue agents that must ask: compare policies, play an episode, look at scenarios.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)
scenarios_app = typer.Typer(help="Look at scenarios and check files of your own.", no_args_is_help=True)
app.add_typer(scenarios_app, name="scenarios")

DEFAULT_POLICIES = ("naive", "ask-many", "ask-one", "random", "adaptive", "oracle")

EnvOption = Annotated[str, typer.Option("--env", help="Environment id.")]
ScenariosOption = Annotated[str, typer.Option("--scenarios", help="'bundled', a JSON lines file, or a folder.")]
SplitOption = Annotated[str | None, typer.Option("--split", help="train or test; all by default.")]
SeedOption = Annotated[int, typer.Option("--seed", help="Base seed.")]
RepeatsOption = Annotated[int, typer.Option("--repeats", min=1, help="Episodes for each scenario.")]
WorkersOption = Annotated[int, typer.Option("--workers", min=1, help="Threads; the records do not depend on it.")]
TurnsOption = Annotated[int, typer.Option("--max-turns", min=1, help="Messages that the agent may send.")]


def main() -> None:
    """Run the command line; a user's mistake is one message on standard error, and exit status 2."""
    try:
        app()
    except ElicitGymError as error:
        sys.stderr.write(f"elicit-gym: {error}\n".encode("utf-8", "replace").decode("utf-8"))
        raise SystemExit(2) from None


@contextmanager
def _stoppable(advice: str) -> Iterator[None]:
    """Let Ctrl-C end a long command with a sentence and status 130."""
    try:
        yield
    except KeyboardInterrupt:
        typer.echo(f"\nelicit-gym: stopped. {advice}", err=True)
        raise typer.Exit(130) from None


def _env_kwargs(scenarios: str, split: str | None, max_turns: int) -> dict[str, Any]:
    """Keep to what differs from the defaults, so that manifests stay short and comparable."""
    kwargs: dict[str, Any] = {}
    if scenarios != "bundled":
        kwargs["scenarios"] = str(Path(scenarios).resolve()) if Path(scenarios).exists() else scenarios
    if split is not None:
        kwargs["split"] = split
    if max_turns != 10:
        kwargs["max_turns"] = max_turns
    return kwargs


def _out_folder(out: Path | None) -> Path:
    if out is not None:
        return out
    base = Path("elicit-gym-runs")
    number = 1 + max((int(p.name) for p in base.glob("[0-9]*") if p.name.isdigit()), default=0)
    return base / f"{number:03d}"


@app.command("compare")
def compare_command(
    policies: Annotated[
        list[str] | None, typer.Argument(help="Names of baselines, or module:Class; all baselines by default.")
    ] = None,
    env: EnvOption = "elicit_gym/InfoQuest-v0",
    scenarios: ScenariosOption = "bundled",
    split: SplitOption = None,
    repeats: RepeatsOption = 3,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    max_turns: TurnsOption = 10,
    out: Annotated[
        Path | None, typer.Option("--out", help="Folder for the run; the next elicit-gym-runs/NNN by default.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the run in --out.")] = False,
) -> None:
    """Compare policies head to head and write a report."""
    from elicit_gym.agents import load_policy
    from elicit_gym.evaluation.compare import compare
    from elicit_gym.evaluation.tables import print_comparison

    if resume and out is None:
        raise SettingError("Resuming: expected the folder of the run, got none. Name it with --out.")
    folder = _out_folder(out)
    with _stoppable(f"What was finished is saved; go on with: --resume --out {folder}"):
        comparison = compare(
            [load_policy(spec) for spec in policies or DEFAULT_POLICIES],
            env,
            env_kwargs=_env_kwargs(scenarios, split, max_turns),
            repeats=repeats,
            seed=seed,
            num_workers=workers,
            out=folder,
            resume=resume,
            progress=True,
        )
    print_comparison(comparison)
    typer.echo(f"\nReport: {folder / 'report.html'}")


@app.command("report")
def report_command(
    runs: Annotated[list[Path], typer.Argument(help="Folders of saved runs.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the report.")] = Path("elicit-gym-report"),
) -> None:
    """Compare the policies of saved runs; runs made with different settings are refused."""
    from elicit_gym.evaluation.compare import compare_runs
    from elicit_gym.evaluation.tables import print_comparison

    comparison = compare_runs(runs)
    path = comparison.save(out)
    print_comparison(comparison)
    typer.echo(f"\nReport: {path}")


@app.command("noise-floor")
def noise_floor_command(
    policy: Annotated[str, typer.Argument(help="A baseline, or module:Class.")],
    env: EnvOption = "elicit_gym/InfoQuest-v0",
    scenarios: ScenariosOption = "bundled",
    split: SplitOption = None,
    repeats: RepeatsOption = 3,
    seed: SeedOption = 0,
    workers: WorkersOption = 1,
    max_turns: TurnsOption = 10,
) -> None:
    """Compare a policy with itself over seeds: how large a difference must be to mean anything."""
    from elicit_gym.agents import load_policy
    from elicit_gym.evaluation.noise_floor import noise_floor
    from elicit_gym.evaluation.tables import print_noise_floor

    with _stoppable("Nothing was saved."):
        floor = noise_floor(
            load_policy(policy),
            env,
            env_kwargs=_env_kwargs(scenarios, split, max_turns),
            repeats=repeats,
            seed=seed,
            num_workers=workers,
            progress=True,
        )
    print_noise_floor(floor)


@app.command("play")
def play_command(
    scenario: Annotated[str | None, typer.Option("--scenario", help="Id of a scenario; drawn by default.")] = None,
    as_user: Annotated[
        str | None, typer.Option("--as-user", help="Play the user against this policy instead.", metavar="POLICY")
    ] = None,
    scenarios: ScenariosOption = "bundled",
    split: SplitOption = None,
    seed: SeedOption = 0,
    max_turns: TurnsOption = 10,
) -> None:
    """Play the assistant in the terminal, the checklist ticking beside; or the user, with --as-user POLICY."""
    from elicit_gym.agents import load_policy
    from elicit_gym.play import play_assistant, play_user

    kwargs = _env_kwargs(scenarios, split, max_turns)
    if as_user is None:
        play_assistant(scenario_id=scenario, seed=seed, env_kwargs=kwargs)
    else:
        play_user(load_policy(as_user), scenario_id=scenario, seed=seed, env_kwargs=kwargs)


@scenarios_app.command("validate")
def validate_command(path: Annotated[Path, typer.Argument(help="A JSON lines file, or a folder.")]) -> None:
    """Check a scenario file and print everything that is wrong with it."""
    from elicit_gym.scenarios.load import load_scenarios, validate_scenarios

    problems = validate_scenarios(path)
    for problem in problems:
        typer.echo(problem)
    if problems:
        typer.echo(f"{len(problems)} problem{'' if len(problems) == 1 else 's'}.", err=True)
        raise typer.Exit(1)
    typer.echo(f"{path}: {len(load_scenarios(path))} scenarios, no problems.")


@scenarios_app.command("stats")
def stats_command(
    scenarios: Annotated[str, typer.Argument(help="'bundled', a JSON lines file, or a folder.")] = "bundled",
    split: SplitOption = None,
) -> None:
    """Describe a set of scenarios."""
    from elicit_gym.evaluation.tables import print_scenario_stats
    from elicit_gym.scenarios.load import load_scenarios
    from elicit_gym.scenarios.stats import scenario_stats

    print_scenario_stats(scenario_stats(load_scenarios(scenarios, split)), scenarios)


if __name__ == "__main__":
    main()
