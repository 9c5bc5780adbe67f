"""Tables of the evaluation on YIELD for the terminal."""

from rich.console import Console

from elicit_gym.offline.evaluation.evaluate import YieldEvaluation
from elicit_gym.offline.evaluation.figures import TITLES
from elicit_gym.reporting.page import format_estimate, format_p
from elicit_gym.reporting.terminal import Column, print_table, print_text
from elicit_gym.statistics import Estimate

__all__ = ["print_yield_evaluation"]


def print_yield_evaluation(result: YieldEvaluation, console: Console | None = None) -> None:
    """Print one table per metric, with policies as rows, domains as columns, and 95 % intervals over dialogues."""
    for metric, rows in result.tables.items():
        if not rows:
            continue
        title, source, digits = TITLES[metric]
        domains = list(next(iter(rows.values())))
        print_table(
            f"{title} ({source})" if source else title,
            (Column("policy", right=False), *(Column(domain.replace("_", " ")) for domain in domains)),
            [
                (name, *(format_estimate(cells[d], digits) if d in cells else "–" for d in domains))
                for name, cells in rows.items()
            ],
            console=console,
        )
    for said in result.results:
        if said.failures:
            first = next(iter(said.failures.values()))
            print_text(
                f"{said.name}: {len(said.failures)} of {len(said.utterances)} windows failed and are missing: {first}",
                console,
            )
    if not result.differences:
        return
    gaps = []
    for row in result.differences:
        gap = format_estimate(Estimate(value=row["value"], low=row["low"], high=row["high"]), 3)
        metric = str(row["metric"]).replace("_", " ")
        gaps.append((f"{row['first']} − {row['second']}", metric, gap, format_p(row["p_corrected"])))
    names = (Column(title, right=False) for title in ("policies", "metric"))
    print_table(
        "Paired differences (of perplexities: first over second)",
        (*names, Column("difference"), Column("p (Holm)")),
        gaps,
        console=console,
    )
