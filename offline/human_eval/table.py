"""The paper's Table 9 from ratings: means with intervals, and how far raters agree."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console

from elicit_gym.offline.human_eval.answers import Answers, Rating, WorkerCheck
from elicit_gym.offline.human_eval.scales import PAPER_TABLE_9, SCALES
from elicit_gym.reporting.footnotes import Footnotes
from elicit_gym.reporting.page import format_estimate
from elicit_gym.reporting.style import STYLE, colour, drawable, save_figure
from elicit_gym.reporting.terminal import Column, print_table, print_text
from elicit_gym.statistics.estimates import Estimate, cluster_alpha, cluster_mean

__all__ = ["HumanEvaluation", "draw_human_evaluation", "print_human_evaluation", "score_ratings"]

_UNIT = "interview"


@dataclass(frozen=True, kw_only=True)
class HumanEvaluation:
    """What people said.

    Attributes:
        table: the mean rating by source and scale.
        to_real: for each source but ``real``, the mean difference from it on the same tasks and workers, by scale.
        alpha: Krippendorff's alpha by scale (or ``all``).
        workers: the check of each worker.
        rejected: the rows that did not count.
    """

    table: Mapping[str, Mapping[str, Estimate]]
    to_real: Mapping[str, Mapping[str, Estimate]]
    alpha: Mapping[str, Estimate]
    workers: tuple[WorkerCheck, ...]
    rejected: tuple[str, ...]

    def to_row(self) -> dict[str, Any]:
        """Convert to JSON types."""

        def cells(table: Mapping[str, Mapping[str, Estimate]]) -> dict[str, Any]:
            return {source: {scale: e.to_row() for scale, e in row.items()} for source, row in table.items()}

        return {
            "table": cells(self.table),
            "to_real": cells(self.to_real),
            "alpha": {scale: estimate.to_row() for scale, estimate in self.alpha.items()},
            "workers": [
                {
                    "worker": c.worker, "num_tasks": c.num_tasks, "median_seconds": c.median_seconds,
                    "same_everywhere": c.same_everywhere, "agreement": c.agreement, "left_out": c.reason,
                }
                for c in self.workers
            ],
            "rejected": list(self.rejected),
        }  # fmt: skip


def score_ratings(
    answers: Answers, workers: Sequence[WorkerCheck], key: Mapping[str, Mapping[str, Any]], *, keep_all: bool = False
) -> HumanEvaluation:
    """Make the table from the ratings of the workers who count.

    Args:
        answers: the answers; see `elicit_gym.offline.human_eval.answers.read_answers`.
        workers: the checks; see `elicit_gym.offline.human_eval.answers.check_workers`.
        key: the batch's key.
        keep_all: whether to count the workers whom the checks would leave out, too.

    Returns:
        Means, differences and ordinal alpha with 95 % intervals over interviews.

    References:
        YIELD, Section 6.6 and Table 9.
    """
    left_out = set() if keep_all else {check.worker for check in workers if check.reason}
    ratings = [rating for rating in answers.ratings if rating.worker not in left_out]
    sources = sorted({s for task in key.values() for s in task["sources"]}, key=lambda s: (s != "real", s))
    dialogue = {task: row["dialogue"] for task, row in key.items()}
    values = {(r.worker, r.task, r.source, r.scale): r.value for r in ratings}
    table: dict[str, dict[str, Estimate]] = {source: {} for source in sources}
    to_real: dict[str, dict[str, Estimate]] = {source: {} for source in sources if source != "real"}
    for scale in SCALES:
        for source in sources:
            own = [r for r in ratings if (r.source, r.scale) == (source, scale.key)]
            table[source][scale.key] = cluster_mean(
                [float(r.value) for r in own], [dialogue[r.task] for r in own], unit=_UNIT, bounds=(1.0, 5.0)
            )
            if source == "real" or "real" not in sources:
                continue
            gaps = [float(r.value - values[r.worker, r.task, "real", scale.key]) for r in own]
            to_real[source][scale.key] = cluster_mean(
                gaps, [dialogue[r.task] for r in own], unit=_UNIT, bounds=(-4.0, 4.0)
            )
    alpha = {s.key: _alpha([r for r in ratings if r.scale == s.key], dialogue) for s in SCALES}
    return HumanEvaluation(
        table=table,
        to_real={source: row for source, row in to_real.items() if row},
        alpha={**alpha, "all": _alpha(ratings, dialogue)},
        workers=tuple(workers),
        rejected=answers.rejected,
    )


def _alpha(ratings: Sequence[Rating], dialogue: Mapping[str, str]) -> Estimate:
    workers = {worker: i for i, worker in enumerate(sorted({r.worker for r in ratings}))}
    if len(workers) < 2:
        return Estimate(value=None, num=len(ratings), reason="there is only one rater")
    units = {unit: i for i, unit in enumerate(dict.fromkeys((r.task, r.source, r.scale) for r in ratings))}
    matrix = np.full((len(workers), len(units)), np.nan)  # (raters, units)
    for r in ratings:
        matrix[workers[r.worker], units[r.task, r.source, r.scale]] = r.value
    return cluster_alpha(matrix, [dialogue[task] for task, _, _ in units], unit=_UNIT)


def print_human_evaluation(result: HumanEvaluation, console: Console | None = None) -> None:
    """Print Table 9 with intervals, the paper's own rows below it, and the workers' checks."""
    notes = Footnotes()
    own = [(source, *(notes.estimate(row[s.key]) for s in SCALES)) for source, row in result.table.items()]
    agreement = ("Krippendorff's alpha", *(notes.estimate(result.alpha[s.key]) for s in SCALES))
    paper = [(f"paper: {name}", *(f"{mean:.2f}" for mean in means)) for name, means in PAPER_TABLE_9.items()]
    rows = [*own, None, agreement, None, *paper]
    print_table(
        "Mean ratings, 1 to 5 (Table 9)",
        (Column("source", right=False), *(Column(f"{scale.name} ({scale.short})") for scale in SCALES)),
        rows,
        console=console,
        dim=range(len(rows) - len(paper), len(rows)),
    )
    notes.print(console)
    overall = result.alpha["all"]
    why = f" ({overall.reason})" if overall.value is None and overall.reason else ""
    print_text(f"Agreement over all scales: alpha {format_estimate(overall)}{why}", console)
    if result.to_real:
        notes = Footnotes()
        print_table(
            "Difference from the real utterance, same raters",
            (Column("source", right=False), *(Column(scale.short) for scale in SCALES)),
            [(source, *(notes.estimate(row[s.key]) for s in SCALES)) for source, row in result.to_real.items()],
            console=console,
        )
        notes.print(console)
    numbers = map(Column, ("tasks", "s a task", "one number", "agreement"))
    print_table(
        "Workers",
        (Column("worker", right=False), *numbers, Column("left out", right=False)),
        [
            (
                check.worker,
                str(check.num_tasks),
                "–" if check.median_seconds is None else f"{check.median_seconds:.0f}",
                f"{check.same_everywhere:.0%}",
                "–" if check.agreement is None else f"{check.agreement:.2f}",
                check.reason or "",
            )
            for check in result.workers
        ],
        console=console,
    )
    for line in result.rejected:
        print_text(f"Not counted: {line}", console)


def draw_human_evaluation(result: HumanEvaluation, path: Path) -> None:
    """Draw means and intervals by scale, with one colour per source, as SVG and PNG."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(8.4, 3.4), layout="constrained")
        axes = figure.subplots()
        step = 0.7 / len(result.table)
        policies = [source for source in result.table if source != "real"]
        for i, (source, row) in enumerate(result.table.items()):
            shade = "#1c2330" if source == "real" else colour(policies.index(source))
            for j, scale in enumerate(SCALES):
                x, estimate = j - 0.35 + step * (i + 0.5), row[scale.key]
                if estimate.value is None:
                    continue
                if estimate.low is not None and estimate.high is not None:
                    axes.plot([x, x], [estimate.low, estimate.high], color=shade, lw=1.8, solid_capstyle="butt")
                axes.plot(x, estimate.value, "o", color=shade, markersize=5, label=drawable(source) if j == 0 else None)
        axes.set_xticks(range(len(SCALES)), [scale.name for scale in SCALES])
        axes.set_ylim(0.9, 5.1)
        axes.set_yticks(range(1, 6))
        axes.grid(visible=False, axis="x")
        axes.set_title("Mean ratings by people, with 95 % intervals over interviews")
        handles, labels = axes.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=min(6, len(labels)))
        save_figure(figure, path.with_suffix(".svg"))
