"""Tables for the terminal."""

from collections.abc import Sequence

from rich.console import Console

from elicit_gym.evaluation.comparison import Comparison
from elicit_gym.evaluation.failures import SHORT_FIRST, failure_notes
from elicit_gym.evaluation.noise_floor import NoiseFloor
from elicit_gym.evaluation.rejudge import Rejudged
from elicit_gym.reporting.footnotes import Footnotes
from elicit_gym.reporting.page import format_estimate
from elicit_gym.reporting.terminal import Column, print_table, print_text
from elicit_gym.rollout.usage import UsageRow

__all__ = [
    "print_comparison",
    "print_noise_floor",
    "print_rejudged",
    "print_usage",
]


def print_comparison(comparison: Comparison, console: Console | None = None) -> None:
    """Print the policies and the pairs."""
    notes = Footnotes()
    numbers = (Column(title) for title in ("mean return", "worst 25 %", "success", "turns to it"))
    counts = (Column(title, optional=True) for title in ("episodes", "failed"))
    print_table(
        "Policies (95 % intervals over opening messages)",
        (Column("policy", right=False), *numbers, *counts),
        [
            (
                policy.policy + (" *" if policy.privileged else ""),
                notes.estimate(policy.metrics["return"]),
                notes.estimate(policy.worst_quarter),
                notes.estimate(policy.metrics["success_rate"]),
                notes.estimate(policy.metrics["turns_to_success"], 1),
                str(policy.num_episodes),
                str(sum(policy.failures.values())),
            )
            for policy in comparison.policies
        ],
        console=console,
    )
    notes.print(console)
    if any(policy.privileged for policy in comparison.policies):
        print_text("* This policy knows the hidden context.", console, style="dim")
    if comparison.manifest.stopped:
        print_text(SHORT_FIRST, console, style="yellow")
    for policy in comparison.policies:
        if policy.num_left:
            print_text(f"{policy.policy}: left by the user: {policy.num_left}", console)
        for note in failure_notes([r for r in comparison.records if r.policy == policy.policy]):
            print_text(f"{policy.policy}: {note}", console, style="yellow")
        if policy.num_unscored:
            print_text(
                f"{policy.policy}: {policy.num_unscored} verdicts are unscored; the mean return lies between "
                f"{format_estimate(policy.metrics['return'])} (if all were no) and "
                f"{policy.return_if_unscored_were_yes:.2f} (if all were yes).",
                console,
                style="yellow",
            )
    if not comparison.pairs:
        return
    notes = Footnotes()
    print_table(
        "Pairs (first − second, paired by scenario and repeat)",
        (Column("pair", right=False), *map(Column, ("difference", "win", "tie", "loss", "p (Holm)"))),
        [
            (
                f"{pair.first} − {pair.second}",
                notes.estimate(pair.difference),
                str(pair.wins),
                str(pair.ties),
                str(pair.losses),
                notes.test(pair.test),
            )
            for pair in comparison.pairs
        ],
        console=console,
    )
    notes.print(console)


def print_usage(rows: Sequence[UsageRow], console: Console | None = None, *, title: str = "Spent") -> None:
    """Print what each seat spent; an unknown price is shown as unknown."""
    if not rows:
        return
    # Calls that failed or came from the cache have columns where there are any.
    more = {"failed": "failed_calls", "from cache": "cached_calls"}
    more = {column: name for column, name in more.items() if any(getattr(row, name) for row in rows)}
    names = ("calls", *more.values(), "input_tokens", "output_tokens")
    shown: list[tuple[str, ...] | None] = []
    for row in rows:
        cost = "unknown" if row.cost_usd is None else f"${row.cost_usd:,.4f}"
        counts = (f"{getattr(row, name):,}" for name in names)
        shown.append((row.policy, row.seat.replace("_", " "), row.model, *counts, cost))
    known = [row.cost_usd for row in rows if row.cost_usd is not None]
    sums = (f"{sum(getattr(row, name) for row in rows):,}" for name in names)
    total = f"${sum(known):,.4f}" + (" + unknown" if len(known) < len(rows) else "") if known else "unknown"
    who = (Column(name, right=False) for name in ("policy", "seat", "model"))
    print_table(
        title,
        (*who, *map(Column, ("calls", *more, "input tokens", "output tokens", "cost"))),
        [*shown, None, ("total", "", "", *sums, total)],
        console=console,
    )


def print_rejudged(result: Rejudged, console: Console | None = None) -> None:
    """Print how far two judges agree, and what that does to the ranking."""
    rows = []
    notes = Footnotes()
    for kind in ("all", "ask", "advice"):
        share, kappa = result.agreement[kind], result.kappa[kind]
        rows.append((kind, f"{share.num:,}", notes.estimate(share, 3), notes.estimate(kappa, 3)))
    print_table(
        "Agreement of the two judges, by kind of item",
        (Column("items", right=False), *map(Column, ("pairs", "equal answers", "Cohen's kappa"))),
        rows,
        console=console,
    )
    notes.print(console)
    if result.num_unscored:
        text = f"{result.num_unscored} pairs could not be scored by the second judge and are in no kappa."
        print_text(text, console, style="yellow")
    if result.num_ended_earlier:
        print_text(
            f"{result.num_ended_earlier} conversations would have ended earlier under the second judge; what came "
            "later is left out.",
            console,
        )
    if result.num_cut_off:
        print_text(
            f"{result.num_cut_off} conversations would have gone on under the second judge; they count as truncated "
            "where the recording stops, and more turns might have satisfied more.",
            console,
        )
    for note in failure_notes(result.records):
        print_text(f"Left out: {note}", console, style="yellow")
    if result.stopped:
        print_text(f"Not all conversations were judged: {result.stopped}", console, style="yellow")
    before, after = result.rankings()
    rows = []
    for policy in before:
        first, second = result.returns[policy]
        moved = f"{before.index(policy) + 1} → {after.index(policy) + 1}"
        rows.append((policy, f"{first:.2f}", f"{second:.2f}", moved))
    print_table(
        "Mean return",
        (Column("policy", right=False), *map(Column, ("first judge", "second judge", "rank"))),
        rows,
        console=console,
    )


def print_noise_floor(floor: NoiseFloor, console: Console | None = None) -> None:
    """Print how large a difference must be to mean anything."""
    notes = Footnotes()
    print_table(
        f"{floor.policy} against itself, {floor.num_scenarios} scenarios",
        tuple(map(Column, ("repeats", "difference from itself", "must be larger than"))),
        [
            (str(repeats), notes.estimate(estimate, 3), "unknown" if bound is None else f"{bound:.3f}")
            for repeats, (estimate, bound) in enumerate(zip(floor.by_repeats, floor.floors, strict=True), 1)
        ],
        console=console,
    )
    notes.print(console)
    text = f"The seed changed the return in {floor.num_changed} of {floor.num_units} episodes."
    if any(bound is not None for bound in floor.floors):
        text += " A difference between two policies that is no larger than the last column is what chance alone does."
    print_text(text, console)
    text = f"Mean return {format_estimate(floor.mean_return)}."
    if floor.mean_return.low is not None:
        text += " This interval comes from the choice of scenarios, and only more scenarios make it narrower."
    print_text(text, console)
