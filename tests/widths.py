"""What a table looks like in terminals of several widths."""

import io
import re
from collections.abc import Callable

from rich.cells import cell_len
from rich.console import Console

WIDTHS = (60, 80, 200)
_INTERVAL = re.compile(r"\[[-+\d.]+, [-+\d.]+\]")


def shown(show: Callable[[Console], None], width: int) -> str:
    """Return what is printed in a terminal of a width."""
    console = Console(width=width, file=io.StringIO(), color_system=None, force_terminal=False)
    show(console)
    text = console.file.getvalue()  # type: ignore[attr-defined]
    assert isinstance(text, str)
    return text


def check_widths(show: Callable[[Console], None], widths: tuple[int, ...] = WIDTHS) -> None:
    """Check that nothing is cut, no interval is broken and no line too long, whatever the width."""
    whole = shown(show, 1000)
    words = set(re.sub(r"[\u2500-\u257f]", " ", whole).split())
    assert words
    for width in widths:
        text = shown(show, width)
        assert max(map(cell_len, text.splitlines())) <= width
        assert "…" not in text
        assert set(_INTERVAL.findall(text)) == set(_INTERVAL.findall(whole))
        assert {word for word in words if word not in text} == set()
