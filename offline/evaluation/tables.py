"""Tables of the evaluation on YIELD for the terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from elicit_gym.offline.evaluation.evaluate import YieldEvaluation
from elicit_gym.offline.evaluation.figures import TITLES
from elicit_gym.reporting.footnotes import Footnotes
from elicit_gym.reporting.terminal import printable

__all__ = ["print_yield_evaluation"]


def print_yield_evaluation(result: YieldEvaluation, console: Console | None = None) -> None:
    """Print one table a metric, rows by policy and columns by domain, with 95 % intervals over dialogues."""
    console = console or Console()
    for metric, rows in result.tables.items():
        if not rows:
            continue
        title, source, digits = TITLES[metric]
        domains = list(next(iter(rows.values())))
        table = Table(title=f"{title} ({source})" if source else title, title_justify="left")
        table.add_column("policy")
        for domain in domains:
            table.add_column(printable(domain).replace("_", " "), justify="right")
        notes = Footnotes()
        for name, cells in rows.items():
            shown = [notes.estimate(cells[d], digits, lines=2) if d in cells else "–" for d in domains]
            table.add_row(Text(printable(name)), *shown)
        console.print(table)
        notes.print(console)
    for said in result.results:
        if said.failures:
            first = next(iter(said.failures.values()))
            text = (
                f"{said.name}: {len(said.failures)} of {len(said.utterances)} windows failed and are missing: {first}"
            )
            console.print(Text(printable(text)))
    if result.differences:
        table = Table(title="Paired differences (of perplexities: first over second)", title_justify="left")
        for column in ("policies", "metric"):
            table.add_column(column)
        for column in ("difference", "p (Holm)"):
            table.add_column(column, justify="right")
        notes = Footnotes()
        for row in result.differences:
            names = Text(printable(f"{row.first} − {row.second}"))
            gap = notes.estimate(row.difference, 3)
            table.add_row(names, row.metric.replace("_", " "), gap, notes.test(row.test))
        console.print(table)
        notes.print(console)
