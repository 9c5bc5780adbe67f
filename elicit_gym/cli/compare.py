"""The commands that compare policies, and those that look again at what was saved."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from elicit_gym.cli import cluster_options as c
from elicit_gym.cli import model_options as m
from elicit_gym.cli import options as o
from elicit_gym.errors import SettingError
from elicit_gym.llm.budget import Budget
from elicit_gym.llm.prices import Prices, parse_prices

if TYPE_CHECKING:
    from elicit_gym.evaluation.comparison import Comparison
from elicit_gym.rollout.collect import DEFAULT_ENV

__all__ = ["compare_command", "noise_floor_command", "rejudge_command", "report_command"]

DEFAULT_POLICIES = ("naive", "ask-many", "ask-one", "random", "adaptive", "oracle")


def _seats(
    env: str,
    user: str | None,
    user_model: str | None,
    user_api_base: str | None,
    judge: str | None,
    judge_model: str | None,
    judge_api_base: str | None,
    max_new_tokens: int | None,
    prompts: Path | None,
) -> dict[str, Any]:
    shared: dict[str, Any] = {"env": env, "max_new_tokens": max_new_tokens, "prompts": prompts}
    return {
        **o.seat_kwargs("user_simulator", user, model=user_model, api_base=user_api_base, **shared),
        **o.seat_kwargs("judge", judge, model=judge_model, api_base=judge_api_base, **shared),
    }


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
    api_base: m.ApiBaseOption = None,
    temperature: m.TemperatureOption = None,
    max_new_tokens: m.MaxNewTokensOption = None,
    user: m.UserOption = None,
    manner: m.MannerOption = None,
    user_model: m.UserModelOption = None,
    user_api_base: m.UserApiBaseOption = None,
    judge: m.JudgeOption = None,
    judge_model: m.JudgeModelOption = None,
    judge_api_base: m.JudgeApiBaseOption = None,
    prompts: m.PromptsOption = None,
    cache: m.CacheOption = None,
    cache_mode: m.CacheModeOption = "read-write",
    budget_usd: m.BudgetUsdOption = None,
    budget_tokens: m.BudgetTokensOption = None,
    price: m.PriceOption = None,
    backend: c.BackendOption = "local",
    address: c.AddressOption = None,
    num_actors: c.NumActorsOption = None,
    gpus_per_actor: c.GpusOption = 0.0,
    send_variable: c.SendOption = None,
    working_dir: c.WorkingDirOption = None,
) -> None:
    """Compare policies head to head and write a report; without names, all baselines are compared."""
    from elicit_gym.agents import load_policy
    from elicit_gym.evaluation.compare import compare

    if resume and out is None:
        raise SettingError("Resuming: expected the folder of the run, got none. Name it with --out.")
    kwargs = o.env_kwargs(scenarios, split, max_turns)
    kwargs |= _seats(env, user, user_model, user_api_base, judge, judge_model, judge_api_base, max_new_tokens, prompts)
    of_models = {
        "system_prompt": system_prompt,
        "prompts": str(prompts) if prompts else None,
        "api_base": api_base,
        "temperature": temperature,
        "max_tokens": max_new_tokens,
    }
    loaded = [load_policy(spec, **of_models) for spec in policies or DEFAULT_POLICIES]
    if dry_run:
        budgeted = Budget(budget_usd, budget_tokens)
        _estimate(
            loaded, env, _in_manner(kwargs, manner[0] if manner else None), repeats, budgeted, parse_prices(price or ())
        )
        return
    folder = o.next_folder(out)
    manners: tuple[str | None, ...] = tuple(dict.fromkeys(manner or ())) or (None,)
    budget = budget_usd is not None or budget_tokens is not None
    spread = c.ray_backend(
        backend,
        address,
        gpus_per_actor,
        num_actors=num_actors,
        send=send_variable,
        working_dir=working_dir,
        cache=cache,
        cache_mode=cache_mode,
        budget=budget,
    )
    with (
        o.stoppable(f"What was finished is saved; go on with: --resume --out {folder}"),
        o.models(
            concurrency=concurrency,
            cache=cache,
            cache_mode=cache_mode,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            price=price,
        ),
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

    for name, comparison in by_manner.items():
        if len(by_manner) > 1:
            typer.echo(f"\nWith a user who is {name}:")
        print_comparison(comparison)
        print_usage(comparison.usage)
        if comparison.manifest.stopped:
            again = f"Raise it and go on with: --resume --out {folder}"
            typer.echo(f"Stopped early: {comparison.manifest.stopped} {again}", err=True)
    named = {str(name): comparison for name, comparison in by_manner.items()}
    if len(named) > 1:
        print_manners(named)
        page = write_manners(folder, named)
    else:
        page = folder / "report.html"
    typer.echo(f"\nReport: {page}")
    problems = [line for comparison in by_manner.values() for line in comparison.without_a_result()]
    for line in problems:
        typer.echo(line, err=True)
    if problems:
        raise typer.Exit(1)


def _estimate(
    policies: list[Any], env: str, kwargs: dict[str, Any], repeats: int, budget: Budget, prices: Prices
) -> None:
    from elicit_gym.evaluation.tables import print_usage
    from elicit_gym.rollout.estimate import check_prices, estimate_usage
    from elicit_gym.rollout.units import sample_environment

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
        typer.echo("No seat holds a model: the run calls nothing and costs nothing.")
        return
    print_usage(rows, title="Estimate for full-length episodes in which nothing is ever satisfied")
    try:
        check_prices(budget, prices, policies, user_simulator=sample.user_simulator, judge=sample.judge)
    except SettingError as error:
        typer.echo(f"The run would not start. {error}", err=True)
        raise typer.Exit(2) from None
    short = budget.shortfall(
        sum(row.input_tokens + row.output_tokens for row in rows), sum(row.cost_usd or 0.0 for row in rows)
    )
    if short:
        typer.echo(short, err=True)


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
        typer.echo(
            "Without checklists: the scenarios that the run was made with are not at hand. Name their source with "
            "--scenarios.",
            err=True,
        )
    typer.echo(f"\nReport: {path}")


def rejudge_command(
    run: Annotated[Path, typer.Argument(help="Judge the run saved in this folder, or a published chats-*.jsonl file.")],
    judge: Annotated[str, m.JUDGE] = "scripted",
    scenarios: Annotated[str | None, o.SCENARIOS] = None,
    out: Annotated[Path | None, o.out_option("Without it, the new report is not written.")] = None,
    judge_model: m.JudgeModelOption = None,
    judge_api_base: m.JudgeApiBaseOption = None,
    max_new_tokens: m.MaxNewTokensOption = None,
    prompts: m.PromptsOption = None,
    concurrency: o.ConcurrencyOption = 16,
    cache: m.CacheOption = None,
    cache_mode: m.CacheModeOption = "read-write",
    budget_usd: m.BudgetUsdOption = None,
    budget_tokens: m.BudgetTokensOption = None,
    price: m.PriceOption = None,
) -> None:
    """Judge a saved run again, without replaying it, and print how far the judges agree and how the ranking changes."""
    from elicit_gym.envs.infoquest import check_parts
    from elicit_gym.evaluation.rejudge import rejudge
    from elicit_gym.evaluation.saved import load_any_run
    from elicit_gym.evaluation.tables import print_comparison, print_rejudged
    from elicit_gym.registry import JUDGES

    loaded = load_any_run(run, scenarios)
    reward = loaded.reward()
    seat = o.seat_kwargs(
        "judge",
        judge,
        env=None,
        model=judge_model,
        api_base=judge_api_base,
        max_new_tokens=max_new_tokens,
        prompts=prompts,
    )
    second = JUDGES.make(judge, seat.get("judge_kwargs"))
    with (
        o.stoppable("Nothing was saved."),
        o.models(
            concurrency=concurrency,
            cache=cache,
            cache_mode=cache_mode,
            budget_usd=budget_usd,
            budget_tokens=budget_tokens,
            price=price,
        ),
    ):
        check_parts(second)
        result = rejudge(loaded.records, loaded.scenarios, second, reward=reward, max_turns=loaded.max_turns)
    print_rejudged(result)
    if out is not None:
        again = loaded.with_records(result.records)
        print_comparison(again)
        typer.echo(f"\nReport: {again.save(out)}")


def noise_floor_command(
    policy: Annotated[str, typer.Argument(help="Measure this policy: the name of a baseline, or module:Class.")],
    env: o.EnvOption = DEFAULT_ENV,
    scenarios: o.ScenariosOption = None,
    split: o.SplitOption = None,
    repeats: o.RepeatsOption = 3,
    seed: o.SeedOption = 0,
    concurrency: o.ConcurrencyOption = 1,
    max_turns: o.TurnsOption = None,
) -> None:
    """Compare a policy with itself under other seeds, to see how large a difference must be to mean anything."""
    from elicit_gym.agents import load_policy
    from elicit_gym.evaluation.noise_floor import noise_floor
    from elicit_gym.evaluation.tables import print_noise_floor

    with o.stoppable("Nothing was saved."):
        floor = noise_floor(
            load_policy(policy),
            env,
            env_kwargs=o.env_kwargs(scenarios, split, max_turns),
            repeats=repeats,
            seed=seed,
            concurrency=concurrency,
            progress=True,
        )
    print_noise_floor(floor)
