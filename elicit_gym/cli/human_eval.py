"""The commands for ratings by people."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from elicit_gym.cli import options as o
from elicit_gym.cli.command import Command, command_group
from elicit_gym.reporting.terminal import echo

__all__ = ["human_eval_app"]

human_eval_app = command_group("Let people rate what policies said: export blinded tasks, and score the answers.")


@human_eval_app.command("export", cls=Command)
def export_command(
    evaluation: Annotated[Path, typer.Argument(help="Take the utterances from the folder that evaluate-yield wrote.")],
    out: Annotated[Path, o.out_option("The folder gets the batch.")],
    windows: Annotated[int, typer.Option("--windows", min=1, help="Draw this many windows; the paper has 100.")] = 100,
    sources: Annotated[
        list[str] | None,
        typer.Option("--source", help="Rate only this source's utterances; repeat the option to name several."),
    ] = None,
    allocation: Annotated[
        Literal["proportional", "equal"],
        typer.Option("--allocation", help="Share the windows out among the domains by their size, or equally."),
    ] = "proportional",
    seed: o.SeedOption = 0,
) -> None:
    """Write a batch of tasks: form.html for colleagues, a CSV and its layout for Mechanical Turk, and the key."""
    from elicit_gym.offline.human_eval.forms import write_batch
    from elicit_gym.offline.human_eval.tasks import make_tasks, read_samples

    tasks = make_tasks(read_samples(evaluation), windows, seed=seed, allocation=allocation, sources=sources)
    write_batch(tasks, out, seed=seed)
    echo(
        f"{len(tasks)} tasks with {len(tasks[0].responses)} utterances each.\n"
        f"For colleagues: {out / 'form.html'}\n"
        f"For Mechanical Turk: {out / 'mturk.csv'} with {out / 'mturk_layout.html'}\n"
        f"Keep to yourself: {out / 'key.json'} says who said what."
    )


@human_eval_app.command("score", cls=Command)
def score_command(
    batch: Annotated[Path, typer.Argument(help="Read the key from the folder that 'human-eval export' wrote.")],
    answers: Annotated[list[Path], typer.Argument(help="Score the answers in these CSV files, as they came back.")],
    min_seconds: Annotated[
        float,
        typer.Option(
            "--min-seconds", min=0, help="Leave out workers who took less time than this for their median task."
        ),
    ] = 20.0,
    min_agreement: Annotated[
        float,
        typer.Option(
            "--min-agreement",
            min=-1,
            max=1,
            help="Leave out workers whose ratings correlate less than this with those of the others.",
        ),
    ] = 0.0,
    keep_all: Annotated[
        bool, typer.Option("--keep-all", help="Count every worker, whatever the checks found.")
    ] = False,
    out: Annotated[Path | None, o.out_option("The folder gets table9.json and its figure.")] = None,
) -> None:
    """Check the workers and print the paper's Table 9 with intervals and Krippendorff's alpha."""
    from elicit_gym.json_files import write_json
    from elicit_gym.offline.human_eval.answers import check_workers, read_answers
    from elicit_gym.offline.human_eval.table import draw_human_evaluation, print_human_evaluation, score_ratings
    from elicit_gym.offline.human_eval.tasks import read_key

    key = read_key(batch)
    found = read_answers(answers, key)
    checks = check_workers(found, min_seconds=min_seconds, min_agreement=min_agreement, keep_all=keep_all)
    result = score_ratings(found, checks, key, keep_all=keep_all)
    if out is not None:
        write_json(out / "table9.json", result.to_row())
        draw_human_evaluation(result, out / "table9.png")
    print_human_evaluation(result)
    if out is not None:
        echo(f"Numbers: {out / 'table9.json'}")
