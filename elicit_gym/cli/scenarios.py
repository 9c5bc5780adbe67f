"""The commands on scenarios."""

from pathlib import Path
from typing import Annotated

import typer

from elicit_gym.cli import options as o

__all__ = ["scenarios_app"]

scenarios_app = typer.Typer(help="Look at scenarios, check files of your own, make new ones.", no_args_is_help=True)


@scenarios_app.command("validate")
def validate_command(path: Annotated[Path, typer.Argument(help="A JSON lines file, or a folder.")]) -> None:
    """Check a scenario file and print everything that is wrong with it."""
    from elicit_gym.scenarios.load import load_scenarios, validate_scenarios

    o.report_problems(validate_scenarios(path))
    typer.echo(f"{path}: {len(load_scenarios(path))} scenarios, no problems.")


@scenarios_app.command("stats")
def stats_command(
    scenarios: Annotated[
        str, typer.Argument(help="'bundled', 'infoquest', a JSON lines file, or a folder.")
    ] = "bundled",
    split: o.SplitOption = None,
) -> None:
    """Describe a set of scenarios."""
    from elicit_gym.evaluation.tables import print_scenario_stats
    from elicit_gym.scenarios.load import load_scenarios
    from elicit_gym.scenarios.stats import scenario_stats

    print_scenario_stats(scenario_stats(load_scenarios(scenarios, split)), scenarios)


@scenarios_app.command("generate")
def generate_command(
    personas: Annotated[Path, typer.Argument(help="PersonaHub's JSON lines, or one persona a line.")],
    model: Annotated[str, typer.Option("--model", help="litellm's name of the model.")],
    count: Annotated[int, typer.Option("--count", min=1, help="Opening messages; two scenarios each.")] = 10,
    out: Annotated[Path, typer.Option("--out", help="Folder; a killed run goes on there.")] = Path("scenarios"),
    seed: o.SeedOption = 0,
    api_base: o.ApiBaseOption = None,
    temperature: o.TemperatureOption = None,
    max_tokens: o.MaxTokensOption = None,
    prompts: o.PromptsOption = None,
    cache: o.CacheOption = None,
    cache_mode: o.CacheModeOption = "read-write",
    budget_usd: o.BudgetUsdOption = None,
    budget_tokens: o.BudgetTokensOption = None,
) -> None:
    """Make new scenarios with a model: opening message, traits, setting (the paper's three stages)."""
    from elicit_gym.llm.make import make_chat_model
    from elicit_gym.reporting.progress import progress_bar
    from elicit_gym.scenarios.generate import generate_scenarios, read_personas

    people = read_personas(personas)
    chat = make_chat_model(model, api_base=api_base, temperature=temperature, max_tokens=max_tokens)
    with (
        o.stoppable(f"What was made is saved; run the command again with --out {out} to go on."),
        o.models(concurrency=1, cache=cache, cache_mode=cache_mode, budget_usd=budget_usd, budget_tokens=budget_tokens),
        progress_bar("opening messages", count, show=True) as advance,
    ):
        chat.check()
        result = generate_scenarios(
            chat, people, out, count=count, seed=seed, prompts=str(prompts) if prompts else None, on_done=advance
        )
    typer.echo(f"{result.folder}: {result.num_made} opening messages, {2 * result.num_made} scenarios.")
    if result.num_rejected:
        typer.echo(f"{result.num_rejected} rejected, with reasons in {result.folder / 'rejected.jsonl'}.", err=True)
