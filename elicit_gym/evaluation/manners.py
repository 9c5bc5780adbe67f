"""The same policies and scenarios with users of several manners: mean returns side by side."""

from collections.abc import Mapping
from pathlib import Path

from rich.console import Console

from elicit_gym.evaluation.comparison import Comparison
from elicit_gym.json_files import write_json
from elicit_gym.reporting.footnotes import Footnotes
from elicit_gym.reporting.page import pack, write_page
from elicit_gym.reporting.terminal import Column, print_table
from elicit_gym.statistics.estimates import Estimate

__all__ = ["print_manners", "returns_by_manner", "write_manners"]


def returns_by_manner(comparisons: Mapping[str, Comparison]) -> dict[str, dict[str, Estimate]]:
    """Return the mean return of each policy, by policy and manner."""
    table: dict[str, dict[str, Estimate]] = {}
    for manner, comparison in comparisons.items():
        for policy in comparison.policies:
            table.setdefault(policy.policy, {})[manner] = policy.metrics["return"]
    return table


def _left(comparison: Comparison) -> int:
    return sum(policy.num_left for policy in comparison.policies)


def print_manners(comparisons: Mapping[str, Comparison], console: Console | None = None) -> None:
    """Print one row per policy and one column a manner."""
    notes = Footnotes()
    missing = Estimate(value=None)
    rows: list[tuple[str, ...] | None] = [
        (policy, *(notes.estimate(by.get(manner, missing)) for manner in comparisons))
        for policy, by in returns_by_manner(comparisons).items()
    ]
    rows += [None, ("conversations left by the user", *(str(_left(c)) for c in comparisons.values()))]
    print_table(
        "Mean return by the user's manner (95 % intervals over opening messages)",
        (Column("policy", right=False), *(Column(manner) for manner in comparisons)),
        rows,
        console=console,
    )
    notes.print(console)


def write_manners(folder: Path, comparisons: Mapping[str, Comparison]) -> Path:
    """Write ``manners.json`` and ``manners.html`` beside the reports of the single manners.

    Returns:
        The path of the page.
    """
    table = returns_by_manner(comparisons)
    write_json(
        folder / "manners.json",
        {
            "returns": {policy: {m: estimate.to_row() for m, estimate in by.items()} for policy, by in table.items()},
            "left": {manner: _left(comparison) for manner, comparison in comparisons.items()},
        },
    )
    values = {
        "manners": list(comparisons),
        "rows": [(policy, [by.get(m) for m in comparisons]) for policy, by in table.items()],
        "left": [_left(comparison) for comparison in comparisons.values()],
    }
    values["packed"] = pack({}, "")
    return write_page(folder / "manners.html", "elicit_gym.evaluation", "manners.html.j2", values)
