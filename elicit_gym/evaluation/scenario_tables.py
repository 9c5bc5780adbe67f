"""Tables that describe a set of scenarios, for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from elicit_gym.reporting.terminal import Column, print_table, print_text

__all__ = ["print_scenario_stats"]

_WORDS = {
    "words": "words",
    "types": "different words",
    "type_token_ratio": "different words in each 1,000",
    "content_types": "different words that carry a topic",
    "in_one_scenario": "of these, in one scenario only",
}
_SHARES = ("type_token_ratio", "in_one_scenario")


def print_scenario_stats(stats: Mapping[str, Any], source: str, console: Console | None = None) -> None:
    """Print what was counted and measured.

    Args:
        stats: of `scenario_stats`, and where they were measured ``depth`` of `depth_stats` and ``diversity`` of
            `diversity_stats`.
        source: of the scenarios, for the title.
        console: the terminal by default.
    """
    counts = [(name, value) for name, value in stats.items() if name not in ("depth", "diversity")]
    _print_values(f"Scenarios: {source}", [(name.replace("_", " "), _shown(value)) for name, value in counts], console)
    if stats.get("depth"):
        _print_depth(stats["depth"], console)
    elif "depth" in stats:
        print_text("No scenario has facts and items of its own, so there is no depth to measure.", console)
    if "diversity" in stats:
        _print_diversity(stats["diversity"], console)


def _shown(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name}: {_shown(inner)}" for name, inner in value.items())
    return f"{value:.1f}" if isinstance(value, float) else str(value)


def _print_values(title: str, rows: Sequence[tuple[str, str]], console: Console | None) -> None:
    columns = (Column("what", right=False), Column("value", right=False))
    print_table(title, columns, rows, console=console, header=False)


def _print_depth(rows: Sequence[Mapping[str, Any]], console: Console | None) -> None:
    print_table(
        "Rules of depth",
        (Column("rule", right=False), *map(Column, ("required", "found", "met"))),
        [(row["rule"], row["required"], _found(row), "yes" if row["met"] else "no") for row in rows],
        console=console,
    )


def _found(row: Mapping[str, Any]) -> str:
    if "share" in row:
        return f"{row['share']:.0%}"
    if row["least"] is None:
        return "none"
    return str(row["least"]) if row["least"] == row["most"] else f"{row['least']} to {row['most']}"


def _print_diversity(found: Mapping[str, Any], console: Console | None) -> None:
    counts = found["vocabulary"]
    rows = [(_WORDS[name], _share(value) if name in _SHARES else f"{value:,}") for name, value in counts.items()]
    _print_values("Vocabulary", rows, console)
    reach = found["reach"]
    print_table(
        "Items that general questions reach",
        (Column("items", right=False), Column("reached")),
        [(kind, _share(value)) for kind, value in reach["share"].items()],
        console=console,
    )
    print_table(
        "The questions, and how many scenarios have an item that they reach",
        (Column("question", right=False), Column("scenarios")),
        [(question, _share(value)) for question, value in reach["questions"].items()],
        console=console,
    )
    nearest = found["nearest"]
    if nearest["pairs"]:
        print_table(
            "Nearest scenarios",
            (Column("scenarios", right=False), Column("similarity"), Column("goals", right=False)),
            [(" ".join(p["ids"]), f"{p['similarity']:.3f}", " / ".join(p["goals"])) for p in nearest["pairs"]],
            console=console,
        )
        print_text(
            f"The median scenario is {nearest['median']:.3f} similar to its nearest; two at random are "
            f"{nearest['median_of_all']:.3f}.",
            console,
        )
    alike = found["similar_examples"]
    if alike["pairs"]:
        print_table(
            "Examples of two scenarios that say nearly the same",
            (Column("scenarios", right=False), Column("examples", right=False)),
            [(" ".join(pair["ids"]), " / ".join(pair["texts"])) for pair in alike["pairs"]],
            console=console,
        )
    if alike["examples"]:
        text = f"{alike['similar']:,} of {alike['examples']:,} examples are nearly those of another scenario."
        print_text(text, console)


def _share(value: float | None) -> str:
    return "unknown" if value is None else f"{value:.0%}"
