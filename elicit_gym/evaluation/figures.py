"""The paper's Figures 3, 4 and 5 for any set of policies, and the paired differences; as SVG and PNG."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from elicit_gym.evaluation.summary import PairSummary, PolicySummary
from elicit_gym.reporting.style import STYLE, colour, drawable, save_figure
from elicit_gym.statistics.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["draw_figures"]

_MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")


def draw_figures(
    policies: Sequence[PolicySummary], pairs: Sequence[PairSummary], folder: Path, *, num_items: int = 5
) -> dict[str, Path]:
    """Draw every figure into a folder.

    Returns:
        The path of the SVG by figure name; a PNG lies beside each.
    """
    import matplotlib as mpl

    drawn: dict[str, Path] = {}
    with mpl.rc_context(STYLE):
        curves = [(policy.policy, policy.curve) for policy in policies if policy.num_episodes]
        worst = [(policy.policy, policy.worst_curve) for policy in policies if policy.num_episodes]
        figures = {
            "cumulative_reward": _curves(curves, num_items, "all episodes"),
            "worst_quarter": _curves(worst, num_items, "worst 25 % of episodes"),
            "best_lengths": _lengths(policies),
        }
        if pairs:
            figures["differences"] = _differences(pairs)
        for name, figure in figures.items():
            drawn[name] = save_figure(figure, folder / f"{name}.svg")
    return drawn


def _new_figure(width: float, height: float, columns: int = 1, **kwargs: Any) -> "tuple[Figure, list[Axes]]":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, columns, squeeze=False, **kwargs)[0]
    return figure, list(axes)


def _curves(curves: Sequence[tuple[str, Sequence[Estimate]]], num_items: int, what: str) -> "Figure":
    figure, (left, right) = _new_figure(8.4, 3.5, 2)
    top = 0.0
    for i, (name, curve) in enumerate(curves):
        turns = list(range(1, len(curve) + 1))
        means = [estimate.value or 0.0 for estimate in curve]
        top = max([top, *(estimate.high or estimate.value or 0.0 for estimate in curve)])
        for axes in (left, right):
            axes.plot(
                turns,
                means,
                color=colour(i),
                marker=_MARKERS[i % len(_MARKERS)],
                markersize=3.5,
                lw=1.6,
                label=drawable(name),
            )
            # Turns without an interval leave a gap in the band: a band of no width would claim certainty.
            known = [estimate.low is not None and estimate.high is not None for estimate in curve]
            low, high = [e.low or 0.0 for e in curve], [e.high or 0.0 for e in curve]
            axes.fill_between(turns, low, high, where=known, color=colour(i), alpha=0.16, lw=0)
    left.axhline(num_items, color="#888888", lw=0.9, ls="--")
    left.set_ylim(0, num_items * 1.06)
    others = sorted(max([e.high or e.value or 0.0 for e in curve], default=0.0) for _, curve in curves)
    # Zoom in on all policies except one that lies far apart, as an upper bound does.
    zoom = others[-2] if len(others) > 1 and others[-2] < 0.8 * others[-1] else top
    right.set_ylim(0, max(zoom * 1.1, 0.1))
    left.set_title(f"Cumulative reward, {what}")
    right.set_title("Zoomed in")
    left.set_ylabel("checklist items satisfied")
    for axes in (left, right):
        axes.set_xlabel("turn")
        _count_turns(axes)
    figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=min(6, max(1, len(curves))))
    return figure


def _count_turns(axes: "Axes") -> None:
    """Put ticks at whole turns, at most some ten: a tick takes matplotlib longer than an episode takes to play."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=10, integer=True, min_n_ticks=1))


def _lengths(policies: Sequence[PolicySummary]) -> "Figure":
    shown = [(i, policy) for i, policy in enumerate(policies) if policy.best_lengths]
    figure, (axes,) = _new_figure(8.4, 0.9 + 0.46 * max(1, len(shown)))
    longest = max((length for _, policy in shown for length in policy.best_lengths), default=1)
    for row, (i, policy) in enumerate(reversed(shown)):
        total = sum(policy.best_lengths.values())
        for length, count in policy.best_lengths.items():
            share = count / total
            axes.barh(row, 0.86, left=length - 0.43, height=0.74, color=colour(i), alpha=0.12 + 0.88 * share, lw=0)
            axes.text(
                length, row, f"{share:.0%}", ha="center", va="center", fontsize=7.5,
                color="white" if share > 0.5 else "#222222",
            )  # fmt: skip
    axes.set_yticks(range(len(shown)), [drawable(policy.policy) for _, policy in reversed(shown)])
    _count_turns(axes)
    axes.set_xlim(0.4, longest + 0.6)
    axes.grid(visible=False)
    axes.set_xlabel("messages until the end of the episode (5 is the optimum)")
    axes.set_title("Conversation lengths among the best 25 % of episodes")
    return figure


def _differences(pairs: Sequence[PairSummary]) -> "Figure":
    shown = [pair for pair in pairs if pair.difference.value is not None]
    figure, (axes,) = _new_figure(8.4, 0.9 + 0.27 * max(1, len(shown)))
    for row, pair in enumerate(reversed(shown)):
        value = pair.difference.value or 0.0
        shade = "#0072B2" if pair.test.significant else "#999999"
        if pair.difference.low is not None and pair.difference.high is not None:
            axes.plot(
                [pair.difference.low, pair.difference.high], [row, row], color=shade, lw=2.4, solid_capstyle="butt"
            )
        axes.plot(value, row, "o", color=shade, markersize=4.5)
    axes.axvline(0, color="#444444", lw=0.9)
    axes.set_yticks(
        range(len(shown)), [f"{drawable(pair.first, 40)} − {drawable(pair.second, 40)}" for pair in reversed(shown)]
    )
    axes.set_ylim(-0.7, len(shown) - 0.3)
    axes.set_xlabel("difference in mean return, with 95 % interval (blue: p < 0.05 after Holm's correction)")
    axes.set_title("Paired differences")
    return figure
