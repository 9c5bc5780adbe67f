"""The files of a batch: no cell of a table is a formula, whoever wrote what stands in it."""

import ast
import base64
import csv
import re
from html import unescape
from pathlib import Path

import pytest

from elicit_gym.offline.human_eval.answers import read_answers
from elicit_gym.offline.human_eval.forms import write_batch
from elicit_gym.offline.human_eval.tasks import make_tasks, read_key
from tests.browser import CHROMIUM, dumped_dom, with_script
from tests.conftest import ROOT
from tests.offline.human_eval.test_tasks import samples

FORMULAS = (
    "=1+1",
    "+1",
    "-1+1",
    "@SUM(1)",
    "\t=1",
    "\r=1",
    '=HYPERLINK("https://evil.example","x")',
    "=cmd|' /C x'!A0",
)
STARTS = ("=", "+", "-", "@", "\t", "\r")


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_for_mechanical_turk_is_a_formula(tmp_path: Path, text: str) -> None:
    rows = samples(8)
    for row in rows:
        row["domain"] = text
        row["said"] = {source: f"{text} {source}" for source in row["said"]}
        row["context"] = [["user", text]]
    tasks = make_tasks(rows, 4)
    write_batch(tasks, tmp_path, seed=0)
    with (tmp_path / "mturk.csv").open(encoding="ascii", newline="") as file:
        read = list(csv.reader(file))
    assert len(read) == 5
    assert [cell for row in read for cell in row if cell.lstrip(" ").startswith(STARTS)] == []
    # What the workers read is what was said.
    for row, task in zip(read[1:], tasks, strict=True):
        assert [unescape(cell) for cell in row[3:]] == list(task.responses)
        assert unescape(row[1]) == text.replace("_", " ")


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize("name", [f for f in FORMULAS if not f.isspace() and f[0] not in "\t\r"])
def test_a_raters_name_is_no_formula_in_the_answers(tmp_path: Path, name: str) -> None:
    write_batch(make_tasks(samples(8), 1), tmp_path, seed=0)
    rater = f"""
    URL.createObjectURL = blob => {{ blob.text().then(t => {{ document.body.dataset.answers = btoa(t); }}); return "#"; }};
    const go = setInterval(() => {{
      if (document.body.dataset.ready !== "true") return;
      clearInterval(go);
      document.getElementById("name").value = {name!r}; document.getElementById("start").click();
      document.querySelectorAll("fieldset").forEach(f => f.querySelectorAll("input")[2].click());
      document.getElementById("next").click(); document.getElementById("save").click();
    }}, 20);"""
    dom = dumped_dom(with_script(tmp_path / "form.html", rater, tmp_path / "rated.html"), tmp_path)
    found = re.search(r'data-answers="([^"]+)"', dom)
    assert found is not None
    (tmp_path / "answers.csv").write_bytes(base64.b64decode(found[1]))
    with (tmp_path / "answers.csv").open(newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert [cell for cell in cells if cell.startswith(STARTS)] == []
    assert f"'{name}" in cells
    answers = read_answers([tmp_path / "answers.csv"], read_key(tmp_path))
    assert answers.rejected == ()
    assert set(answers.seconds) == {f"'{name}"}


def test_no_other_module_writes_tables_for_spreadsheets() -> None:
    """Whoever adds one lets its cells through the same rule, and adds a test of it here."""
    writers = {
        str(path.relative_to(ROOT))
        for folder in ("elicit_gym", "agents", "offline")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Attribute)
        and (ast.unparse(node) in ("csv.writer", "csv.DictWriter") or node.attr in ("to_csv", "to_excel"))
    }
    assert writers == {"offline/human_eval/forms.py"}
