"""The commands that compare policies, and those that look again at what was saved."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elicit_gym.cli import cluster_options as c
from elicit_gym.cli import model_options as m
from elicit_gym.cli import options as o
from elicit_gym.cli.config_file import ConfigOption, given_options
from elicit_gym.cli.seat_options import (
    CallOptions,
    SeatOptions,
    models,
    seat_kwargs,
    takes_calls,
    takes_seats,
    without_judge_replies,
)
from elicit_gym.errors import SettingError
from elicit_gym.llm.prices import parse_prices
from elicit_gym.reporting.terminal import echo
from elicit_gym.rollout.collect import DEFAULT_ENV

if TYPE_CHECKING:
    from elicit_gym.evaluation.comparison import Comparison
    from elicit_gym.policy import Policy

__all__ = ["compare_command", "noise_floor_command", "rejudge_command", "report_command"]

DEFAULT_POLICIES = ("naive", "ask-many", "ask-one", "random", "adaptive", "oracle")


def _environment(
    env: str,
    seats: Mapping[str, SeatOptions],
    *,
    scenarios: str | None,
    split: str | None,
    max_turns: int | None,
    user: str | None,
    judge: str | None,
    judge_mode: str | None,
    prompts: Path | None,
) -> dict[str, Any]:
    """Return the arguments of the environment that were given."""
    return {
        **o.env_kwargs(scenarios, split, max_turns),
        **seat_kwargs("user_simulator", user, seats["user"], env=env, prompts=prompts),
        **seat_kwargs("judge", judge, seats["judge"], env=env, prompts=prompts, mode=judge_mode),
    }


def _policies(specs: Sequence[str], options: SeatOptions, system_prompt: str, prompts: Path | None) -> list["Policy"]:
    """Load the policies that are named, and the model of the policy's seat as one more."""
    from elicit_gym.agents import load_policy

    given = options.given()
    model, transport = given.pop("model", None), given.pop("transport", "litellm")
    named = [*specs, f"{transport}:{model}"] if model else list(specs or DEFAULT_POLICIES)
    given |= {"system_prompt": system_prompt, "prompts": str(prompts) if prompts else None}
    return [load_policy(spec, **given) for spec in named]


@takes_seats("policy", "user", "judge")
@takes_calls
def compare_command(
    policies: Annotated[list[str] | None, m.POLICIES] = None,
    env: o.EnvOption = DEFAULT_ENV,
    scenarios: o.ScenariosOption = None,
    split: o.SplitOption = None,
    repeats: o.RepeatsOption = 3,
    seed: o.SeedOption = 0,
    concurrency: o.ConcurrencyOption = 1,
    max_turns: o.TurnsOption = None,
    out: Annotated[Path | None, o.out_option("The default is the next folder elicit-gym-runs/NNN.")] = None,
    resume: o.ResumeOption = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only estimate the calls, tokens and cost of the run.")
    ] = False,
    system_prompt: m.SystemPromptOption = "plain",
    user: m.UserOption = None,
    manner: m.MannerOption = None,
    judge: m.JudgeOption = None,
    judge_mode: m.JudgeModeOption = None,
    judge_replies: m.JudgeRepliesOption = True,
    prompts: m.PromptsOption = None,
    backend: c.BackendOption = "local",
    address: c.AddressOption = None,
    num_actors: c.NumActorsOption = None,
    gpus_per_actor: c.GpusOption = 0.0,
    send_variable: c.SendOption = None,
    working_dir: c.WorkingDirOption = None,
    config: ConfigOption = None,
    *,
    ctx: typer.Context,
    seats: Mapping[str, SeatOptions],
    calls: CallOptions,
) -> None:
    """Compare policies head to head and write a report; without names, all baselines are compared."""
    from elicit_gym.evaluation.compare import compare

    if resume and out is None:
        raise SettingError("Resuming: expected the folder of the run, got none. Name it with --out.")
    kwargs = _environment(
        env, seats, scenarios=scenarios, split=split, max_turns=max_turns, user=user, judge=judge,
        judge_mode=judge_mode, prompts=prompts,
    )  # fmt: skip
    if not judge_replies:
        kwargs = without_judge_replies(kwargs, env)
    loaded = _policies(policies or (), seats["policy"], system_prompt, prompts)
    if dry_run:
        _estimate(loaded, env, _in_manner(kwargs, manner[0] if manner else None), repeats, calls)
        return
    folder = o.next_folder(out)
    manners: tuple[str | None, ...] = tuple(dict.fromkeys(manner or ())) or (None,)
    spread = c.ray_backend(
        backend,
        address,
        gpus_per_actor,
        num_actors=num_actors,
        send=send_variable,
        working_dir=working_dir,
        cache=calls.cache,
        cache_mode=calls.cache_mode,
        budget=calls.budget.limited,
    )
    with (
        o.stoppable(f"What was finished is saved; go on with: --resume --out {folder}"),
        models(concurrency, calls),
    ):
        by_manner = {
            name: compare(
                loaded,
                env,
                env_kwargs=_in_manner(kwargs, name),
                repeats=repeats,
                seed=seed,
                concurrency=concurrency,
                backend=spread,
                out=folder / str(name) if len(manners) > 1 else folder,
                resume=resume and (len(manners) == 1 or (folder / str(name)).exists()),
                progress=True,
                config=given_options(ctx),
            )
            for name in manners
        }
    _show(by_manner, folder)


def _in_manner(kwargs: Mapping[str, Any], manner: str | None) -> dict[str, Any]:
    """Return the environment's options for a user of this manner; None leaves the user as it is."""
    if manner is None:
        return dict(kwargs)
    return {**kwargs, "user_simulator_kwargs": {**kwargs.get("user_simulator_kwargs", {}), "manner": manner}}


def _show(by_manner: Mapping[str | None, "Comparison"], folder: Path) -> None:
    """Print each comparison, and how the means differ by manner where there are several."""
    from elicit_gym.evaluation.manners import print_manners, write_manners
    from elicit_gym.evaluation.tables import print_comparison, print_usage

    named = {str(name): comparison for name, comparison in by_manner.items()}
    page = write_manners(folder, named) if len(named) > 1 else folder / "report.html"
    for name, comparison in by_manner.items():
        if len(by_manner) > 1:
            echo(f"\nWith a user who is {name}:")
        print_comparison(comparison)
        print_usage(comparison.usage)
        if comparison.manifest.stopped:
            again = f"Raise it and go on with: --resume --out {folder}"
            echo(f"Stopped early: {comparison.manifest.stopped} {again}", err=True)
    if len(named) > 1:
        print_manners(named)
    echo(f"\nReport: {page}")
    problems = [line for comparison in by_manner.values() for line in comparison.without_a_result()]
    for line in problems:
        echo(line, err=True)
    if problems:
        raise typer.Exit(1)


def _estimate(
    policies: Sequence["Policy"], env: str, kwargs: Mapping[str, Any], repeats: int, calls: CallOptions
) -> None:
    from elicit_gym.evaluation.tables import print_usage
    from elicit_gym.rollout.estimate import check_prices, estimate_usage
    from elicit_gym.rollout.units import sample_environment

    budget, prices = calls.budget, parse_prices(calls.price or ())
    sample = sample_environment(env, kwargs)
    rows = estimate_usage(
        sample.scenarios,
        repeats=repeats,
        max_turns=sample.max_turns,
        user_simulator=sample.user_simulator,
        judge=sample.judge,
        policies=policies,
        prices=prices,
    )
    if not rows:
        echo("No seat holds a model: the run calls nothing and costs nothing.")
        return
    print_usage(rows, title="Estimate for full-length episodes in which nothing is ever satisfied")
    try:
        check_prices(budget, prices, policies, user_simulator=sample.user_simulator, judge=sample.judge)
    except SettingError as error:
        echo(f"The run would not start. {error}", err=True)
        raise typer.Exit(2) from None
    short = budget.shortfall(
        sum(row.input_tokens + row.output_tokens for row in rows), sum(row.cost_usd or 0.0 for row in rows)
    )
    if short:
        echo(short, err=True)


def report_command(
    runs: Annotated[list[Path], typer.Argument(help="Compare the runs saved in these folders.")],
    scenarios: Annotated[str | None, o.SCENARIOS] = None,
    out: Annotated[Path, o.out_option("The folder gets the report and its figures.")] = Path("elicit-gym-report"),
) -> None:
    """Compare the policies of saved runs; runs that were made with different settings are refused."""
    from elicit_gym.evaluation.compare import compare_runs
    from elicit_gym.evaluation.tables import print_comparison, print_usage

    comparison = compare_runs(runs, scenarios)
    path = comparison.save(out)
    print_comparison(comparison)
    print_usage(comparison.usage)
    if not comparison.scenarios:
        echo(
            "Without checklists: the scenarios that the run was made with are not at hand. Name their source with "
            "--scenarios.",
            err=True,
        )
    echo(f"\nReport: {path}")


@takes_seats("judge")
@takes_calls
def rejudge_command(
    run: Annotated[Path, typer.Argument(help="Judge the run saved in this folder, or a published chats-*.jsonl file.")],
    judge: Annotated[str, m.JUDGE] = "scripted",
    scenarios: Annotated[str | None, o.SCENARIOS] = None,
    out: Annotated[Path | None, o.out_option("Without it, the new report is not written.")] = None,
    judge_mode: m.JudgeModeOption = None,
    judge_replies: m.JudgeRepliesOption = True,
    prompts: m.PromptsOption = None,
    concurrency: o.ConcurrencyOption = 16,
    *,
    seats: Mapping[str, SeatOptions],
    calls: CallOptions,
) -> None:
    """Judge a saved run again, without replaying it, and print how far the judges agree and how the ranking changes."""
    from elicit_gym.envs.infoquest import check_parts
    from elicit_gym.evaluation.rejudge import rejudge
    from elicit_gym.evaluation.saved import load_any_run
    from elicit_gym.evaluation.tables import print_comparison, print_rejudged, print_usage
    from elicit_gym.registry import JUDGES

    loaded = load_any_run(run, scenarios)
    reward = loaded.reward()
    seat = seat_kwargs("judge", judge, seats["judge"], env=None, prompts=prompts, mode=judge_mode)
    if not judge_replies:
        seat = without_judge_replies({**seat, "judge": judge}, None)
    second = JUDGES.make(judge, seat.get("judge_kwargs"))
    with o.stoppable("Nothing was saved."), models(concurrency, calls):
        check_parts(second)
        result = rejudge(loaded.records, loaded.scenarios, second, reward=reward, max_turns=loaded.max_turns)
    again = loaded.with_records(result.records) if out is not None else None
    report = again.save(out) if again is not None and out is not None else None
    print_rejudged(result)
    print_usage(result.usage, title="Spent by the second judge")
    if again is not None:
        print_comparison(again)
        echo(f"\nReport: {report}")
    if result.stopped or not any(record.failure is None for record in result.records):
        raise typer.Exit(1)


@takes_seats("policy", "user", "judge")
@takes_calls
def noise_floor_command(
    policy: Annotated[
        str | None,
        typer.Argument(help="Measure this policy, written as for 'compare'; or the model of --policy-model."),
    ] = None,
    env: o.EnvOption = DEFAULT_ENV,
    scenarios: o.ScenariosOption = None,
    split: o.SplitOption = None,
    repeats: o.RepeatsOption = 3,
    seed: o.SeedOption = 0,
    concurrency: o.ConcurrencyOption = 1,
    max_turns: o.TurnsOption = None,
    system_prompt: m.SystemPromptOption = "plain",
    user: m.UserOption = None,
    judge: m.JudgeOption = None,
    judge_mode: m.JudgeModeOption = None,
    prompts: m.PromptsOption = None,
    *,
    seats: Mapping[str, SeatOptions],
    calls: CallOptions,
) -> None:
    """Compare a policy with itself under other seeds, to see how large a difference must be to mean anything."""
    from elicit_gym.evaluation.noise_floor import noise_floor
    from elicit_gym.evaluation.tables import print_noise_floor, print_usage

    if (policy is None) == (seats["policy"].model is None):
        raise SettingError("Measuring noise: expected one policy, got none or two. Name one, or give --policy-model.")
    kwargs = _environment(
        env, seats, scenarios=scenarios, split=split, max_turns=max_turns, user=user, judge=judge,
        judge_mode=judge_mode, prompts=prompts,
    )  # fmt: skip
    (loaded,) = _policies([policy] if policy else [], seats["policy"], system_prompt, prompts)
    with o.stoppable("Nothing was saved."), models(concurrency, calls):
        floor = noise_floor(
            loaded, env, env_kwargs=kwargs, repeats=repeats, seed=seed, concurrency=concurrency, progress=True
        )
    print_noise_floor(floor)
    print_usage(floor.usage)
    for line in floor.problems:
        echo(line, err=True)
    if not floor.num_units:
        raise typer.Exit(1)
