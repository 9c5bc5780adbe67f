"""The look of figures: colours that every reader can tell apart, and matplotlib's settings."""

from pathlib import Path
from typing import Any

from elicit_gym.files import replacing
from elicit_gym.reporting.terminal import printable

__all__ = ["COLOURS", "STYLE", "colour", "drawable", "save_figure"]

# The palette of Okabe and Ito, which works for any colour vision, without its yellow, which fades on white.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#444444", "#8C6BB1", "#A6761D", "#666666")
STYLE: Any = {
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e6e6e6",
    "grid.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "legend.frameon": False,
    "svg.hashsalt": "elicit-gym",
    "text.parse_math": False,  # a name with two dollars is a name
}


def drawable(text: str, longest: int = 60) -> str:
    """Return a text as a figure, with `STYLE` in force, may hold it; every name in a figure goes through here.

    One line of visible characters that leaves room for the rest. A name that begins with an underscore, which
    matplotlib would leave out of a legend, gets a space before it.

    Args:
        text: a name.
        longest: how many characters of it are drawn; where it has more, a sign says so.
    """
    line = " ".join(printable(text[: 2 * longest]).split())
    line = line if len(line) <= longest and len(text) <= 2 * longest else line[: longest - 1] + "…"
    return f" {line}" if line.startswith("_") or not line else line


def colour(index: int) -> str:
    """Return the colour of the policy at this position."""
    return COLOURS[index % len(COLOURS)]


def save_figure(figure: Any, path: Path) -> Path:
    """Write a figure as SVG, the same bytes for the same figure, and as PNG beside it.

    Args:
        figure: of matplotlib.
        path: of the SVG.

    Returns:
        The path of the SVG.
    """
    with replacing(path) as beside:
        figure.savefig(beside, metadata={"Date": None})
    with replacing(path.with_suffix(".png")) as beside:
        figure.savefig(beside, dpi=160)
    return path
