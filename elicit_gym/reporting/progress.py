"""Progress bars with rate and time left, on standard error, only for those who ask for them."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from elicit_gym.reporting.terminal import printable

__all__ = ["Advance", "progress_bar"]


class Advance(Protocol):
    """A function to call whenever one unit is done."""

    def __call__(self) -> None:
        """Count one."""
        ...

    def say(self, remark: str) -> None:
        """Show a remark behind the bar's description, in place of the one before."""
        ...


class _Silent:
    def __call__(self) -> None: ...

    def say(self, remark: str) -> None: ...


@contextmanager
def progress_bar(description: str, total: int, *, done: int = 0, show: bool) -> Iterator[Advance]:
    """Show a bar while the block runs.

    Args:
        description: what is being made.
        total: the number of units.
        done: the number of units that were done before.
        show: whether to show the bar at all.
    """
    if not show:
        yield _Silent()
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.1f}/s" if task.speed else "-/s", style="progress.data.speed")

    class Shown:
        def __call__(self) -> None:
            progress.advance(task)

        def say(self, remark: str) -> None:
            shown = f"{description} ({remark})" if remark else description
            progress.update(task, description=printable(shown))

    columns = (
        TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), Rate(), TimeElapsedColumn(),
        TimeRemainingColumn(),
    )  # fmt: skip
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(printable(description), total=total, completed=done)
        yield Shown()
