"""A batch of tasks as files: CSV and layout for Mechanical Turk, one HTML form for colleagues, and the key."""

import csv
from collections.abc import Sequence
from dataclasses import asdict
from hashlib import sha256
from html import escape
from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.files import writing
from elicit_gym.offline.human_eval.scales import SCALES
from elicit_gym.offline.human_eval.tasks import Task, write_key
from elicit_gym.reporting.page import pack, shortened, write_page

__all__ = ["answer_columns", "write_batch"]

_LEFT_OUT = "left out"
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def answer_columns(num_responses: int) -> list[str]:
    """Return the names of the ratings, one per response and scale."""
    return [f"r{i}_{scale.key}" for i in range(1, num_responses + 1) for scale in SCALES]


def write_batch(tasks: Sequence[Task], folder: Path, *, seed: int) -> None:
    """Write ``form.html``, ``mturk.csv``, ``mturk_layout.html`` and ``key.json``.

    Raises:
        SettingError: the folder already holds a batch, whose key must not be lost.
    """
    if (folder / "key.json").exists():
        raise SettingError(
            f"Writing a batch to {folder}: expected a folder without one, got one with a key.json, which its answers "
            "need. Choose another folder."
        )
    num_responses = len(tasks[0].responses)
    _write_mturk(tasks, folder / "mturk.csv")
    shared = {
        "scales": SCALES,
        "num_responses": num_responses,
        "num_turns": max(len(task.context) for task in tasks),
    }
    batch = sha256("".join(task.id for task in tasks).encode()).hexdigest()[:12]
    visible = [
        {"id": task.id, "setting": _setting(task), "context": task.context, "responses": task.responses}
        for task in tasks
    ]
    packed = pack({"batch": batch, "tasks": visible, "scales": [asdict(scale) for scale in SCALES]}, _LEFT_OUT)
    package = "elicit_gym.offline.human_eval"
    write_page(folder / "form.html", package, "form.html.j2", {**shared, "num_tasks": len(tasks), "packed": packed})
    write_page(folder / "mturk_layout.html", package, "mturk_layout.html.j2", shared)
    write_key(folder / "key.json", tasks, seed)


def _setting(task: Task) -> str:
    return task.domain.replace("_", " ")


def _write_mturk(tasks: Sequence[Task], path: Path) -> None:
    # Mechanical Turk puts cells into its page as they are and refuses characters beyond the basic plane: cells are
    # escaped HTML in ASCII.
    with writing(path) as file:
        writer = csv.writer(file)  # which ends lines with a carriage return and a line feed, as its standard says
        numbers = range(1, len(tasks[0].responses) + 1)
        writer.writerow(["task_id", "setting", "context", *(f"response_{i}" for i in numbers)])
        for task in tasks:
            context = "".join(
                f"<p><b>{'Interviewee' if role == 'user' else 'Interviewer'}:</b> {_html(text)}</p>"
                for role, text in task.context
            )
            writer.writerow([task.id, _html(_setting(task)), context, *map(_html, task.responses)])


def _html(text: str) -> str:
    escaped = escape(shortened(text, _LEFT_OUT)).replace("\n", "<br>").encode("utf-8", "replace").decode("utf-8")
    # A dollar would start one of the layout's variables, and a spreadsheet would take some cells for formulas.
    if escaped.startswith(_FORMULA):
        escaped = f"&#{ord(escaped[0])};{escaped[1:]}"
    return escaped.replace("$", "&#36;").encode("ascii", "xmlcharrefreplace").decode("ascii")
