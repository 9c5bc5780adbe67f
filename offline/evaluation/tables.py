"""Tables of the evaluation on YIELD for the terminal."""

from rich.console import Console

from elicit_gym.offline.evaluation.evaluate import YieldEvaluation
from elicit_gym.offline.evaluation.figures import TITLES
from elicit_gym.reporting.footnotes import Footnotes
from elicit_gym.reporting.terminal import Column, print_table, print_text

__all__ = ["print_yield_evaluation"]


def print_yield_evaluation(result: YieldEvaluation, console: Console | None = None) -> None:
    """Print one table per metric, with policies as rows, domains as columns, and 95 % intervals over dialogues."""
    for metric, rows in result.tables.items():
        if not rows:
            continue
        title, source, digits = TITLES[metric]
        domains = list(next(iter(rows.values())))
        notes = Footnotes()
        print_table(
            f"{title} ({source})" if source else title,
            (Column("policy", right=False), *(Column(domain.replace("_", " ")) for domain in domains)),
            [
                (name, *(notes.estimate(cells[d], digits) if d in cells else "–" for d in domains))
                for name, cells in rows.items()
            ],
            console=console,
        )
        notes.print(console)
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
    notes = Footnotes()
    for row in result.differences:
        gap = notes.estimate(row.difference, 3)
        gaps.append((f"{row.first} − {row.second}", row.metric.replace("_", " "), gap, notes.test(row.test)))
    names = (Column(title, right=False) for title in ("policies", "metric"))
    print_table(
        "Paired differences (of perplexities: first over second)",
        (*names, Column("difference"), Column("p (Holm)")),
        gaps,
        console=console,
    )
    notes.print(console)
