"""The commands for ratings by people."""

from pathlib import Path
from typing import Annotated

import typer

from elicit_gym.errors import SettingError

__all__ = ["human_eval_app"]

human_eval_app = typer.Typer(
    help="Let people rate what policies said: export blinded tasks, score the answers.", no_args_is_help=True
)


@human_eval_app.command("export")
def export_command(
    evaluation: Annotated[Path, typer.Argument(help="Folder that evaluate-yield --out wrote.")],
    out: Annotated[Path, typer.Option("--out", help="Folder for the batch.")],
    windows: Annotated[int, typer.Option("--windows", min=1, help="How many to rate; 100 in the paper.")] = 100,
    sources: Annotated[
        list[str] | None, typer.Option("--source", help="Whose utterances, once for each; all by default.")
    ] = None,
    equal: Annotated[
        bool, typer.Option("--equal", help="As many windows from every domain, not in proportion.")
    ] = False,
    seed: Annotated[int, typer.Option("--seed")] = 0,
) -> None:
    """Write a batch: form.html for colleagues, mturk.csv and mturk_layout.html for Mechanical Turk, and the key."""
    from elicit_gym.offline.human_eval.forms import write_batch
    from elicit_gym.offline.human_eval.tasks import make_tasks, read_samples

    allocation = "equal" if equal else "proportional"
    tasks = make_tasks(
        read_samples(evaluation), windows, seed=seed, allocation=allocation, sources=sources  # type: ignore[arg-type]
    )  # fmt: skip
    write_batch(tasks, out, seed=seed)
    typer.echo(
        f"{len(tasks)} tasks with {len(tasks[0].responses)} utterances each.\n"
        f"For colleagues: {out / 'form.html'}\n"
        f"For Mechanical Turk: {out / 'mturk.csv'} with {out / 'mturk_layout.html'}\n"
        f"Keep to yourself: {out / 'key.json'} says who said what."
    )


@human_eval_app.command("score")
def score_command(
    batch: Annotated[Path, typer.Argument(help="Folder that 'human-eval export' wrote.")],
    answers: Annotated[list[Path], typer.Argument(help="CSV files as they came back.")],
    min_seconds: Annotated[
        float, typer.Option("--min-seconds", help="Leave out workers with a faster median task.")
    ] = 20.0,
    min_agreement: Annotated[
        float, typer.Option("--min-agreement", help="Leave out workers who correlate less with the others.")
    ] = 0.0,
    keep_all: Annotated[bool, typer.Option("--keep-all", help="Count every worker, whatever the checks say.")] = False,
    out: Annotated[Path | None, typer.Option("--out", help="Folder for table9.json and its figure.")] = None,
) -> None:
    """Check the workers and print the paper's Table 9 with intervals and Krippendorff's alpha."""
    from elicit_gym.json_files import write_json
    from elicit_gym.offline.human_eval.answers import check_workers, read_answers
    from elicit_gym.offline.human_eval.table import draw_human_evaluation, print_human_evaluation, score_ratings
    from elicit_gym.offline.human_eval.tasks import read_key

    if not -1 <= min_agreement <= 1:
        raise SettingError(f"Scoring answers: expected --min-agreement between -1 and 1, got {min_agreement:g}.")
    key = read_key(batch)
    found = read_answers(answers, key)
    checks = check_workers(found, min_seconds=min_seconds, min_agreement=min_agreement, keep_all=keep_all)
    result = score_ratings(found, checks, key, keep_all=keep_all)
    print_human_evaluation(result)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        write_json(out / "table9.json", result.to_row())
        draw_human_evaluation(result, out / "table9.png")
        typer.echo(f"Numbers: {out / 'table9.json'}")
