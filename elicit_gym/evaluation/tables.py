"""Tables for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from elicit_gym.evaluation.comparison import Comparison
from elicit_gym.evaluation.noise_floor import NoiseFloor
from elicit_gym.evaluation.rejudge import Rejudged
from elicit_gym.evaluation.usage import UsageRow
from elicit_gym.reporting.footnotes import Footnotes
from elicit_gym.reporting.page import format_estimate
from elicit_gym.reporting.terminal import printable

__all__ = [
    "print_comparison",
    "print_noise_floor",
    "print_rejudged",
    "print_scenario_stats",
    "print_usage",
]


def _cell(text: str) -> Text:
    # Text, not str: names and questions come from users and models and must not be read as rich markup.
    return Text(printable(text))


def print_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print the policies and the pairs."""
    console = console or Console()
    table = Table(title="Policies (95 % intervals over opening messages)", title_justify="left")
    table.add_column("policy")
    for title in ("mean return", "worst 25 %", "success", "turns to it", "episodes", "failed"):
        table.add_column(title, justify="right")
    notes = Footnotes()
    for policy in comparison.policies:
        table.add_row(
            _cell(policy.policy + (" *" if policy.privileged else "")),
            notes.estimate(policy.metrics["return"], lines=2),
            notes.estimate(policy.worst_quarter, lines=2),
            notes.estimate(policy.metrics["success_rate"], lines=2),
            notes.estimate(policy.metrics["turns_to_success"], 1, lines=2),
            str(policy.num_episodes),
            str(sum(policy.failures.values())),
        )
    console.print(table)
    notes.print(console)
    if any(policy.privileged for policy in comparison.policies):
        console.print("* knows the hidden context", style="dim")
    for policy in comparison.policies:
        for source, count in policy.failures.items():
            first = next(r.failure for r in comparison.records if r.policy == policy.policy and r.failure)
            console.print(
                _cell(f"{policy.policy}: {count} failed by the {source}. First: {first.message}"), style="yellow"
            )
        if policy.num_unscored:
            console.print(
                _cell(
                    f"{policy.policy}: {policy.num_unscored} verdicts unscored; mean return from "
                    f"{format_estimate(policy.metrics['return'])} (all no) to "
                    f"{policy.return_if_unscored_were_yes:.2f} (all yes)."
                ),
                style="yellow",
            )
    if not comparison.pairs:
        return
    table = Table(title="Pairs (first − second, paired by scenario and repeat)", title_justify="left")
    table.add_column("pair")
    for title in ("difference", "win", "tie", "loss", "p (Holm)"):
        table.add_column(title, justify="right")
    notes = Footnotes()
    for pair in comparison.pairs:
        table.add_row(
            _cell(f"{pair.first} − {pair.second}"),
            notes.estimate(pair.difference),
            str(pair.wins),
            str(pair.ties),
            str(pair.losses),
            notes.test(pair.test),
        )
    console.print(table)
    notes.print(console)


def print_usage(
    rows: Sequence[UsageRow],
    console: Console | None = None,
    *,
    title: str = "Spent (from the cache: what it once cost)",
) -> None:
    """Print what each seat spent; an unknown price is shown as unknown."""
    if not rows:
        return
    console = console or Console()
    table = Table(title=title, title_justify="left")
    for name in ("policy", "seat", "model"):
        table.add_column(name)
    for name in ("calls", "input tokens", "output tokens", "cost"):
        table.add_column(name, justify="right")
    for row in rows:
        cost = "unknown" if row.cost_usd is None else f"${row.cost_usd:,.4f}"
        counts = (f"{row.calls:,}", f"{row.input_tokens:,}", f"{row.output_tokens:,}")
        table.add_row(_cell(row.policy), row.seat.replace("_", " "), _cell(row.model), *counts, cost)
    known = [row.cost_usd for row in rows if row.cost_usd is not None]
    calls, given, made = (sum(getattr(row, n) for row in rows) for n in ("calls", "input_tokens", "output_tokens"))
    total = f"${sum(known):,.4f}" + (" + unknown" if len(known) < len(rows) else "") if known else "unknown"
    table.add_section()
    table.add_row("total", "", "", f"{calls:,}", f"{given:,}", f"{made:,}", total)
    console.print(table)


def print_rejudged(result: Rejudged, console: Console | None = None) -> None:
    """Print how far two judges agree, and what that does to the ranking."""
    console = console or Console()
    table = Table(title="Agreement of the two judges, by kind of item", title_justify="left")
    table.add_column("items")
    for name in ("pairs", "equal answers", "Cohen's kappa"):
        table.add_column(name, justify="right")
    notes = Footnotes()
    for kind in ("all", "ask", "advice"):
        share, kappa = result.agreement[kind], result.kappa[kind]
        table.add_row(kind, f"{share.num:,}", notes.estimate(share, 3), notes.estimate(kappa, 3))
    console.print(table)
    notes.print(console)
    if result.num_unscored:
        console.print(
            f"{result.num_unscored} pairs unscored by the second judge; they are in no kappa.", style="yellow"
        )
    before, after = result.rankings()
    table = Table(title="Mean return", title_justify="left")
    table.add_column("policy")
    for name in ("first judge", "second judge", "rank"):
        table.add_column(name, justify="right")
    for policy in before:
        first, second = result.returns[policy]
        moved = f"{before.index(policy) + 1} → {after.index(policy) + 1}"
        table.add_row(_cell(policy), f"{first:.2f}", f"{second:.2f}", moved)
    console.print(table)


def print_noise_floor(floor: NoiseFloor, console: Console | None = None) -> None:
    """Print how large a difference must be to mean anything."""
    console = console or Console()
    table = Table(
        title=f"{printable(floor.policy)} against itself, {floor.num_scenarios} scenarios", title_justify="left"
    )
    table.add_column("repeats", justify="right")
    table.add_column("difference from itself", justify="right")
    table.add_column("must be larger than", justify="right")
    notes = Footnotes()
    for repeats, (estimate, bound) in enumerate(zip(floor.by_repeats, floor.floors, strict=True), 1):
        table.add_row(str(repeats), notes.estimate(estimate, 3), "unknown" if bound is None else f"{bound:.3f}")
    console.print(table)
    notes.print(console)
    console.print(f"The seed changed the return in {floor.num_changed} of {floor.num_units} episodes.")
    if any(bound is not None for bound in floor.floors):
        console.print(
            "A difference between two policies that is no larger than the last column is what chance alone does."
        )
    console.print(f"Mean return {format_estimate(floor.mean_return)}.")
    if floor.mean_return.low is not None:
        console.print("This interval comes from the choice of scenarios, and only more scenarios make it narrower.")


def print_scenario_stats(stats: Mapping[str, Any], source: str, console: Console | None = None) -> None:
    """Print what `scenario_stats` counted."""
    console = console or Console()
    table = Table(title=f"Scenarios: {printable(source)}", title_justify="left", show_header=False)
    table.add_column("what")
    table.add_column("value", overflow="fold")
    for name, value in stats.items():
        if isinstance(value, Mapping):
            shown = ", ".join(f"{k}: {v:.1f}" if isinstance(v, float) else f"{k}: {v}" for k, v in value.items())
        else:
            shown = f"{value:.1f}" if isinstance(value, float) else str(value)
        table.add_row(name.replace("_", " "), _cell(shown))
    console.print(table)
