"""Estimates and tests in a terminal's table: numbers in the cells, the reasons why some are missing below the table."""

from rich.console import Console

from elicit_gym.reporting.page import format_estimate, format_test
from elicit_gym.statistics.estimates import Estimate
from elicit_gym.statistics.significance import PairedTest

__all__ = ["Footnotes"]

_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


class Footnotes:
    """The footnotes of one table, numbered in order of appearance; equal reasons share a number."""

    def __init__(self) -> None:
        self._marks: dict[str, str] = {}

    def _mark(self, reason: str | None) -> str:
        if not reason:
            return ""
        return self._marks.setdefault(reason, str(len(self._marks) + 1).translate(_RAISED))

    def estimate(self, estimate: Estimate, digits: int = 2, *, lines: int = 1) -> str:
        """Write a number with its interval, which stands below it with two `lines`."""
        if estimate.value is None:
            return "–" + self._mark(estimate.reason)
        number, *interval = format_estimate(estimate, digits).split(" ", 1)
        if estimate.low is None:
            return number + self._mark(estimate.reason)
        return number + self._mark(estimate.reason) + ("\n" if lines > 1 else " ") + interval[0]

    def test(self, test: PairedTest) -> str:
        """Write a corrected p-value."""
        return format_test(test) if test.p_corrected is not None else "none" + self._mark(test.reason)

    def print(self, console: Console) -> None:
        """Print the reasons."""
        for reason, mark in self._marks.items():
            console.print(f"{mark} {reason}", style="dim", highlight=False)
