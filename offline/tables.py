"""Tables of corpora and windows for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from elicit_gym.envs.render import printable

__all__ = ["print_corpus_statistics", "print_window_statistics"]


def _table(title: str, left: Sequence[str], right: Sequence[str]) -> Table:
    table = Table(title=title, title_justify="left")
    for name in left:
        table.add_column(name)
    for name in right:
        table.add_column(name, justify="right")
    return table


def print_corpus_statistics(stats: Mapping[str, Any], name: str, console: Console | None = None) -> None:
    """Print what `corpus_statistics` counted: the paper's Tables 2 and 4, licences and traps."""
    console = console or Console()
    total = stats["total"]
    table = _table(f"{printable(name)} (Table 4)", ("domain", "source"), ("dialogues", "turns", "tokens"))
    for row in stats["by_source"]:
        numbers = (f"{row[k]:,}" for k in ("dialogues", "turns", "tokens"))
        table.add_row(Text(printable(row["domain"])), Text(printable(row["source"])), *numbers)
    table.add_section()
    table.add_row("total", "", *(f"{total[k]:,}" for k in ("dialogues", "turns", "tokens")))
    console.print(table)
    console.print(
        f"{total['domains']} domains, {total['turns_a_dialogue']:.2f} turns a dialogue, {total['tokens_a_turn']:.2f} "
        "tokens a turn (Table 2; tokens are words and marks)."
    )
    table = _table("Licences", ("licence",), ("dialogues", "turns"))
    for licence, row in stats["licences"].items():
        table.add_row(Text(printable(licence)), f"{row['dialogues']:,}", f"{row['turns']:,}")
    console.print(table)
    console.print(", ".join(f"{k.replace('_', ' ')}: {v:,}" for k, v in stats["traps"].items()) + ".")


def print_window_statistics(stats: Mapping[str, Any], reward: str, console: Console | None = None) -> None:
    """Print what `window_statistics` counted: the paper's Table 5, and the windows left out by each rule."""
    console = console or Console()
    names = ("segments", "tokens", "a segment", "reward", "return-to-go")
    table = _table(f"Windows, reward {printable(reward)} (Table 5: mean, range)", ("domain",), names)
    for domain, row in (*stats["by_domain"].items(), ("total", stats["total"])):
        if not row["segments"]:
            table.add_row(Text(printable(domain)), "0", *["–"] * 4)
            continue
        spans = [f"{row[k][0]:.4g}-{row[k][1]:.4g}" for k in ("token_range", "reward_range", "return_to_go_range")]
        table.add_row(
            Text(printable(domain)),
            f"{row['segments']:,}",
            f"{row['tokens']:,}",
            f"{row['tokens_a_segment']:.1f}\n{spans[0]}",
            f"{row['reward_mean']:.2f}\n{spans[1]}",
            f"{row['return_to_go_mean']:.2f}\n{spans[2]}",
        )
    console.print(table)
    console.print("By rule: " + ", ".join(f"{k.replace('_', ' ')} {v:,}" for k, v in stats["counts"].items()) + ".")
