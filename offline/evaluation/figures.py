"""Figures of an evaluation on YIELD: every metric by domain beside the real elicitors, and utterance lengths."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from elicit_gym.offline.evaluation.estimates import Metric
from elicit_gym.reporting.style import STYLE, colour, drawable, save_figure
from elicit_gym.statistics.estimates import Estimate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from elicit_gym.offline.evaluation.evaluate import YieldEvaluation

__all__ = ["REFERENCES", "TITLES", "draw_yield_figures", "row_colours"]

REFERENCES = {"real": "#1c2330", "shuffled": "#9aa3ad"}
TITLES: Mapping[Metric, tuple[str, str | None, int]] = {
    "perplexity": ("Micro perplexity of the human's utterance", "Table 6", 1),
    "response_length": ("Response length in tokens", "Table 6", 1),
    "prompt_length": ("Prompt length in tokens", "Table 6", 1),
    "progression": ("Progression", "Table 7", 3),
    "turn_length_ratio": ("Turn-length ratio", "Table 8", 2),
    "turn_length_ratio_published": ("Turn-length ratio with a first token per turn", "Table 8 as published", 2),
    "similarity": ("Embedding similarity to the human's utterance", None, 3),
}
"""The title, the paper's table and the number of digits of each metric."""
_DRAWN: tuple[Metric, ...] = ("perplexity", "response_length", "progression", "turn_length_ratio")


def row_colours(names: Sequence[str]) -> dict[str, str]:
    """Return one colour per row: grey for references, and a palette for policies in the order of their names."""
    policies = [name for name in names if name not in REFERENCES]
    return {name: REFERENCES.get(name) or colour(policies.index(name)) for name in names}


def draw_yield_figures(result: "YieldEvaluation", folder: Path) -> dict[str, Path]:
    """Draw every figure into a folder.

    Returns:
        The path of the SVG by figure name; a PNG lies beside each.
    """
    import matplotlib as mpl

    drawn: dict[str, Path] = {}
    colours = row_colours(result.rows)
    with mpl.rc_context(STYLE):
        figures = {}
        if any(result.tables.get(metric) for metric in _DRAWN):
            figures["metrics"] = _metrics(result, colours)
        if "response_length" in result.tables:
            figures["lengths"] = _lengths(result, colours)
        for name, figure in figures.items():
            drawn[name] = save_figure(figure, folder / f"{name}.svg")
    return drawn


def _metrics(result: "YieldEvaluation", colours: Mapping[str, str]) -> "Figure":
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    shown = [metric for metric in _DRAWN if result.tables.get(metric)]
    domains = result.domains
    figure = Figure(figsize=(8.4, 1.2 + 0.62 * len(domains) * ((len(shown) + 1) // 2)), layout="constrained")
    grid = figure.subplots((len(shown) + 1) // 2, 2, squeeze=False).ravel()
    for axes, metric in zip(grid, shown, strict=False):
        _dots(axes, metric, result.tables[metric], domains, colours)
    for axes in grid[len(shown) :]:
        axes.set_visible(False)
    handles = [Line2D([], [], marker="o", ls="", color=shade, label=drawable(name)) for name, shade in colours.items()]
    figure.legend(handles=handles, loc="outside lower center", ncols=min(6, len(handles)))
    return figure


def _dots(
    axes: "Axes",
    metric: Metric,
    rows: Mapping[str, Mapping[str, Estimate]],
    domains: Sequence[str],
    colours: Mapping[str, str],
) -> None:
    step = 0.8 / max(1, len(rows))
    values = [e.value for cells in rows.values() for e in cells.values() if e.value is not None]
    for i, (name, cells) in enumerate(rows.items()):
        for j, domain in enumerate(domains):
            estimate = cells.get(domain)
            if estimate is None or estimate.value is None:
                continue
            y = -j + 0.4 - step * (i + 0.5)
            if estimate.low is not None and estimate.high is not None:
                axes.plot([estimate.low, estimate.high], [y, y], color=colours[name], lw=1.6, solid_capstyle="butt")
            axes.plot(estimate.value, y, "o", color=colours[name], markersize=4)
    for j in range(1, len(domains)):
        axes.axhline(0.5 - j, color="#e6e6e6", lw=0.7)
    axes.set_yticks([-j for j in range(len(domains))], [drawable(domain.replace("_", " "), 28) for domain in domains])
    axes.set_ylim(0.5 - len(domains), 0.5)
    axes.grid(visible=False, axis="y")
    if metric != "progression" and values and max(values) > 8 * max(min(values), 1e-9):
        _log_axis(axes)
    axes.set_title(TITLES[metric][0])


def _lengths(result: "YieldEvaluation", colours: Mapping[str, str]) -> "Figure":
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.4, 3.3), layout="constrained")
    axes = figure.subplots()
    for name, numbers in result.numbers.items():
        lengths = np.sort(numbers["response_length"][~np.isnan(numbers["response_length"])])
        shares = np.arange(1, len(lengths) + 1) / len(lengths)
        dashed = "--" if name in REFERENCES else "-"
        axes.step(lengths, shares, where="post", color=colours[name], lw=1.8, ls=dashed, label=drawable(name))
    _log_axis(axes)
    axes.set_ylim(0, 1.02)
    axes.set_xlabel("tokens in the utterance")
    axes.set_ylabel("share of windows")
    axes.set_title("Lengths of utterances: the share of those up to each length")
    handles, labels = axes.get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower center", ncols=min(6, len(labels)))
    return figure


def _log_axis(axes: "Axes") -> None:
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    axes.set_xscale("log")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
