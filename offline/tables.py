"""Tables of corpora and windows for the terminal."""

from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console

from elicit_gym.reporting.terminal import Column, print_table, print_text

__all__ = ["print_corpus_statistics", "print_window_statistics"]


def _columns(left: Sequence[str], right: Sequence[str]) -> tuple[Column, ...]:
    return (*(Column(name, right=False) for name in left), *map(Column, right))


def print_corpus_statistics(stats: Mapping[str, Any], name: str, console: Console | None = None) -> None:
    """Print what `corpus_statistics` counted: the paper's Tables 2 and 4, licences and traps."""
    total = stats["total"]
    counted = ("dialogues", "turns", "tokens")
    print_table(
        f"{name} (Table 4)",
        _columns(("domain", "source"), counted),
        [
            *((row["domain"], row["source"], *(f"{row[k]:,}" for k in counted)) for row in stats["by_source"]),
            None,
            ("total", "", *(f"{total[k]:,}" for k in counted)),
        ],
        console=console,
    )
    print_text(
        f"{total['domains']} domains, {total['turns_a_dialogue']:.2f} turns per dialogue, {total['tokens_a_turn']:.2f} "
        "tokens per turn (Table 2; tokens are what white space separates).",
        console,
    )
    print_table(
        "Licences",
        _columns(("licence",), ("dialogues", "turns")),
        [(licence, f"{row['dialogues']:,}", f"{row['turns']:,}") for licence, row in stats["licences"].items()],
        console=console,
    )
    print_text(", ".join(f"{k.replace('_', ' ')}: {v:,}" for k, v in stats["traps"].items()) + ".", console)


def print_window_statistics(stats: Mapping[str, Any], reward: str, console: Console | None = None) -> None:
    """Print what `window_statistics` counted: the paper's Table 5, and the windows left out by each rule."""
    rows: list[tuple[str, ...] | None] = []
    for name, row in (*stats["by_domain"].items(), ("total", stats["total"])):
        domain = name.replace("_", " ")
        if not row["segments"]:
            rows.append((domain, "0", *["–"] * 4))
            continue
        spans = [f"({row[k][0]:.4g}–{row[k][1]:.4g})" for k in ("token_range", "reward_range", "return_to_go_range")]
        rows.append(
            (
                domain,
                f"{row['segments']:,}",
                f"{row['tokens']:,}",
                f"{row['tokens_a_segment']:.1f} {spans[0]}",
                f"{row['reward_mean']:.2f} {spans[1]}",
                f"{row['return_to_go_mean']:.2f} {spans[2]}",
            )
        )
    rows.insert(-1, None)
    names = ("segments", "tokens", "tokens per segment", "reward", "return-to-go")
    print_table(f"Windows, reward {reward} (Table 5: mean, range)", _columns(("domain",), names), rows, console=console)
    if stats["over_windows"]:
        means = stats["over_windows"]
        print_text(
            "The means of the total row are those of the domains, as in the paper. Over all windows: "
            f"{means['tokens_a_segment']:.1f} tokens per segment, reward {means['reward_mean']:.2f}, return-to-go "
            f"{means['return_to_go_mean']:.2f}.",
            console,
        )
    print_text(
        "By rule: " + ", ".join(f"{k.replace('_', ' ')} {v:,}" for k, v in stats["counts"].items()) + ".", console
    )
