"""The commands that work on scenarios."""

from pathlib import Path
from typing import Annotated

import typer

from elicit_gym.cli import model_options as m
from elicit_gym.cli import options as o
from elicit_gym.cli.command import Command, command_group
from elicit_gym.cli.seat_options import CallOptions, models, takes_calls

__all__ = ["scenarios_app"]

scenarios_app = command_group("Describe scenarios, check files of your own, and make new ones.")


@scenarios_app.command("validate", cls=Command)
def validate_command(
    path: Annotated[Path, typer.Argument(help="Check this JSON lines file, or this folder with the published files.")],
) -> None:
    """Check a scenario file and print everything that is wrong with it."""
    from elicit_gym.scenarios.load import load_scenarios, validate_scenarios

    o.report_problems(validate_scenarios(path))
    typer.echo(f"{path}: {len(load_scenarios(path))} scenarios, no problems.")


@scenarios_app.command("stats", cls=Command)
def stats_command(
    scenarios: Annotated[
        str, typer.Argument(help="Describe these scenarios: 'bundled', 'infoquest', a JSON lines file, or a folder.")
    ] = "bundled",
    split: o.SplitOption = None,
) -> None:
    """Describe a set of scenarios."""
    from elicit_gym.evaluation.tables import print_scenario_stats
    from elicit_gym.scenarios.load import load_scenarios
    from elicit_gym.scenarios.stats import scenario_stats

    print_scenario_stats(scenario_stats(load_scenarios(scenarios, split)), scenarios)


@scenarios_app.command("generate", cls=Command)
@takes_calls
def generate_command(
    personas: Annotated[
        Path, typer.Argument(help="Draw the personas from this file: PersonaHub's JSON lines, or one persona per line.")
    ],
    model: Annotated[str, typer.Option("--model", help="Let this model write; the name is litellm's.")],
    count: Annotated[
        int, typer.Option("--count", min=1, help="Make this many opening messages, each with two scenarios.")
    ] = 10,
    out: Annotated[Path, o.out_option("A run that was interrupted continues there.")] = Path("scenarios"),
    seed: o.SeedOption = 0,
    api_base: m.ApiBaseOption = None,
    temperature: m.TemperatureOption = None,
    max_new_tokens: m.MaxNewTokensOption = None,
    prompts: m.PromptsOption = None,
    *,
    calls: CallOptions,
) -> None:
    """Make new scenarios with a model in the paper's three stages: opening message, traits, setting."""
    from elicit_gym.llm.make import make_chat_model
    from elicit_gym.reporting.progress import progress_bar
    from elicit_gym.scenarios.generate import generate_scenarios, read_personas

    people = read_personas(personas)
    chat = make_chat_model(model, api_base=api_base, temperature=temperature, max_tokens=max_new_tokens)
    with (
        o.stoppable(f"What was made is saved; run the command again with --out {out} to go on."),
        models(1, calls),
        progress_bar("opening messages", count, show=True) as advance,
    ):
        chat.check()
        result = generate_scenarios(
            chat, people, out, count=count, seed=seed, prompts=str(prompts) if prompts else None, on_done=advance
        )
    typer.echo(f"{result.folder}: {result.num_made} opening messages, {2 * result.num_made} scenarios.")
    if result.num_rejected:
        typer.echo(f"{result.num_rejected} rejected, with reasons in {result.folder / 'rejected.jsonl'}.", err=True)
