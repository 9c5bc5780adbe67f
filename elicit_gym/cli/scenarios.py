"""The commands that work on scenarios."""

from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from elicit_gym.cli import model_options as m
from elicit_gym.cli import options as o
from elicit_gym.cli.command import Command, command_group
from elicit_gym.cli.seat_options import CallOptions, models, takes_calls
from elicit_gym.reporting.terminal import echo

__all__ = ["scenarios_app"]

scenarios_app = command_group("Describe scenarios, check files of your own, and make new ones.")


@scenarios_app.command("validate", cls=Command)
def validate_command(
    path: Annotated[Path, typer.Argument(help="Check this JSON lines file, or this folder with the published files.")],
) -> None:
    """Check a scenario file and print everything that is wrong with it.

    Scenarios with facts and items of their own must keep the rules of depth, and their examples must earn their items.
    """
    from elicit_gym.evaluation.playable import playable_problems
    from elicit_gym.scenarios.load import load_scenarios, validate_scenarios

    o.report_problems(validate_scenarios(path))
    written = [scenario for scenario in load_scenarios(path) if not scenario.derived]
    o.report_problems([f"{path}: {s.id}: {problem}" for s in written for problem in playable_problems(s)])
    echo(f"{path}: {len(load_scenarios(path))} scenarios, no problems.")


@scenarios_app.command("stats", cls=Command)
def stats_command(
    scenarios: Annotated[
        str, typer.Argument(help="Describe these scenarios: 'bundled', 'infoquest', a JSON lines file, or a folder.")
    ] = "bundled",
    split: o.SplitOption = None,
    as_json: o.JsonOption = None,
) -> None:
    """Describe a set of scenarios: what is in it, how it stands to the rules of depth, and how diverse it is."""
    from elicit_gym.agents.baselines import QUESTION_BANK
    from elicit_gym.evaluation.diversity import diversity_stats
    from elicit_gym.evaluation.scenario_tables import print_scenario_stats
    from elicit_gym.json_files import write_json
    from elicit_gym.scenarios.load import load_scenarios
    from elicit_gym.scenarios.stats import depth_stats, scenario_stats

    chosen = load_scenarios(scenarios, split)
    stats = {
        **scenario_stats(chosen),
        "depth": depth_stats(chosen),
        "diversity": diversity_stats(chosen, QUESTION_BANK),
    }
    if as_json is not None:
        write_json(as_json, stats)
    print_scenario_stats(stats, scenarios)


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
    deep: Annotated[
        bool,
        typer.Option(
            "--deep",
            help="Write facts, questions, hints and suggestions too, so that the scripted user and judge can play the "
            "scenarios: some 30 calls for each scenario.",
        ),
    ] = False,
    seed: o.SeedOption = 0,
    api_base: m.ApiBaseOption = None,
    temperature: m.TemperatureOption = None,
    max_new_tokens: m.MaxNewTokensOption = None,
    prompts: m.PromptsOption = None,
    *,
    calls: CallOptions,
) -> None:
    """Make new scenarios with a model in the paper's three stages: opening message, traits, setting.

    Every reply is checked, and the model is told what is wrong with it; a scenario that stays wrong, or whose parts
    contradict, is left out, with the reason in rejected.jsonl.
    """
    from elicit_gym.evaluation.playable import playable_problems
    from elicit_gym.llm.make import make_chat_model
    from elicit_gym.reporting.progress import progress_bar
    from elicit_gym.scenarios.generate import generate_scenarios
    from elicit_gym.scenarios.generate_deep import generate_deep_scenarios
    from elicit_gym.scenarios.personas import read_personas

    people = read_personas(personas)
    chat = make_chat_model(model, api_base=api_base, temperature=temperature, max_tokens=max_new_tokens)
    with (
        o.stoppable(f"What was made is saved; run the command again with --out {out} to go on."),
        models(1, calls),
        progress_bar("opening messages", count, show=True) as advance,
    ):
        chat.check()
        generate = partial(generate_deep_scenarios, check=playable_problems) if deep else generate_scenarios
        result = generate(
            chat, people, out, count=count, seed=seed, prompts=str(prompts) if prompts else None, on_done=advance
        )
    echo(f"{result.path}: {result.num_made} opening messages, {result.num_scenarios} scenarios.")
    if result.num_rejected:
        echo(f"{result.num_rejected} rejected, with reasons in {out / 'rejected.jsonl'}.", err=True)
    if result.failure is not None:
        raise result.failure
