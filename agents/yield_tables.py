"""Tables of the evaluation on YIELD for the terminal."""

from rich.console import Console
from rich.table import Table
from rich.text import Text

from elicit_gym.agents.evaluate_yield import YieldEvaluation
from elicit_gym.envs.render import printable
from elicit_gym.evaluation.report import format_estimate

__all__ = ["print_yield_evaluation"]

_TITLES = {
    "perplexity": ("Micro perplexity of the human's utterance (Table 6)", 1),
    "response_length": ("Response length in tokens (Table 6)", 1),
    "progression": ("Progression (Table 7)", 3),
    "turn_length_ratio": ("Turn-length ratio (Table 8)", 2),
    "similarity": ("Embedding similarity to the human's utterance", 3),
}


def print_yield_evaluation(result: YieldEvaluation, console: Console | None = None) -> None:
    """Print one table a metric, rows by policy and columns by domain, with 95 % intervals over dialogues."""
    console = console or Console()
    for metric, rows in result.tables.items():
        if not rows:
            continue
        title, digits = _TITLES[metric]
        domains = list(next(iter(rows.values())))
        table = Table(title=title, title_justify="left")
        table.add_column("policy")
        for domain in domains:
            table.add_column(printable(domain).replace("_", " "), justify="right")
        for name, cells in rows.items():
            shown = [format_estimate(cells[d], digits).replace(" [", "\n[") if d in cells else "–" for d in domains]
            table.add_row(Text(printable(name)), *shown)
        console.print(table)
    if result.differences:
        table = Table(title="Paired differences", title_justify="left")
        for column in ("policies", "metric"):
            table.add_column(column)
        table.add_column("difference", justify="right")
        for row in result.differences:
            value, low, high = row["value"], row["low"], row["high"]
            gap = "–" if value is None else f"{value:.3f}"
            gap += f" [{low:.3f}, {high:.3f}]" if low is not None and high is not None else ""
            names = f"{row['first']} − {row['second']}"
            table.add_row(Text(printable(names)), str(row["metric"]).replace("_", " "), gap)
        console.print(table)
