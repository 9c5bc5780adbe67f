"""How judges did on contrast sentences, for the terminal."""

from collections.abc import Sequence

from rich.console import Console

from elicit_gym.evaluation.contrast import FORMS, ContrastResult
from elicit_gym.reporting.terminal import Column, print_table, print_text

__all__ = ["print_contrast"]


def print_contrast(results: Sequence[ContrastResult], console: Console | None = None, *, wrong: int = 0) -> None:
    """Print for each judge and kind of item how many sentences of each form it credited.

    Args:
        results: one for each judge.
        console: the terminal by default.
        wrong: print at most so many sentences that were judged wrongly, for each judge.
    """
    print_table(
        "Contrast sentences: how many were credited (all of the good ones and none of the others is right)",
        (Column("judge", right=False), Column("items", right=False), *map(Column, FORMS)),
        [
            (result.judge, kind, *(f"{result.credited[kind, form]} of {result.num[kind, form]}" for form in FORMS))
            for result in results
            for kind in dict.fromkeys(kind for kind, _ in result.num)
        ],
        console=console,
    )
    for result in results:
        if result.unscored:
            first = f" First failure: {result.failure}" if result.failure is not None else ""
            text = f"{result.judge}: {result.unscored} sentences are unscored and count as not credited.{first}"
            print_text(text, console, style="yellow")
        for sentence, verdict in result.wrong[:wrong]:
            said = {True: "credited", False: "not credited", None: "unscored"}[verdict]
            where = f"{sentence.request.scenario.id}, item {sentence.request.pending[0] + 1}, {sentence.form}"
            print_text(f"{result.judge}, {where}, {said}: {sentence.request.assistant_message}", console)
