"""Tasks are drawn by strata, blinded, and cannot break out of the pages and files that carry them."""

import csv
import json
import re
from collections import Counter
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from elicit_gym.errors import SettingError, StorageError
from elicit_gym.offline.human_eval.forms import write_batch
from elicit_gym.offline.human_eval.tasks import allocate, make_tasks, read_key, read_samples
from tests.browser import CHROMIUM, dumped_dom, with_script

SOURCES = ("real", "prompted", "sft", "awr")
HOSTILE = "</script><img src=x onerror=\"document.body.dataset.owned='yes'\"> ${setting} \U0001f600 \ud83d"


def samples(count: int = 40, text: str = "") -> list[dict[str, Any]]:
    return [
        {
            "block_id": f"talk-{i // 4}:{i}",
            "domain": "oral_history" if i % 4 else "judicial_proceedings",
            "context": [
                ["system", "Act."],
                *[["user" if j % 2 == 0 else "assistant", f"turn {i} {j} {text}"] for j in range(5)],
            ],
            "said": {source: f"{source[::-1]} says {i} {text}" for source in SOURCES},
        }
        for i in range(count)
    ]


@given(
    st.dictionaries(st.sampled_from("abcdef"), st.integers(1, 60), min_size=1),
    st.data(),
    st.sampled_from(["proportional", "equal"]),
)
@settings(max_examples=80, deadline=None)
def test_strata_get_their_share(sizes: dict[str, int], data: st.DataObject, allocation: Any) -> None:
    total = sum(sizes.values())
    count = data.draw(st.integers(1, total))
    drawn = allocate(sizes, count, allocation)
    assert sum(drawn.values()) == count
    assert all(0 <= drawn[name] <= sizes[name] for name in sizes)
    if count >= len(sizes):
        assert min(drawn.values()) >= 1
    if allocation == "proportional":
        assert all(abs(drawn[name] - count * sizes[name] / total) <= len(sizes) for name in sizes)
    else:
        free = [drawn[name] for name in sizes if drawn[name] < sizes[name]]
        assert not free or max(drawn.values()) - min(free) <= 1
    with pytest.raises(SettingError, match=f"between 1 and {total}"):
        allocate(sizes, total + 1, allocation)


def test_tasks_are_blind_repeatable_and_in_random_order() -> None:
    rows = samples(200)
    tasks = make_tasks(rows, 120, seed=3)
    assert tasks == make_tasks(rows, 120, seed=3)
    assert tasks != make_tasks(rows, 120, seed=4)
    assert Counter(task.domain for task in tasks) == {"oral_history": 90, "judicial_proceedings": 30}
    said = {row["block_id"]: row["said"] for row in rows}
    places = Counter((source, i) for task in tasks for i, source in enumerate(task.sources))
    assert len(places) == 16
    assert min(places.values()) > 15  # every source stands in every place
    for task in tasks:
        assert sorted(task.sources) == sorted(SOURCES)
        assert task.responses == tuple(said[task.block_id][source] for source in task.sources)
        assert len(task.context) == 5
        assert not any(source in task.id for source in SOURCES)
    # A window's order is its own, whatever else was drawn.
    few = {task.block_id: task for task in make_tasks(rows, 20, seed=3)}
    both = [task for task in tasks if task.block_id in few]
    assert both
    assert all(task.sources == few[task.block_id].sources for task in both)
    only = make_tasks(rows, 5, sources=("real", "awr"))
    assert all(sorted(task.sources) == ["awr", "real"] for task in only)
    with pytest.raises(SettingError, match="expected sources among real, prompted, sft, awr"):
        make_tasks(rows, 5, sources=("real", "gpt"))


def test_a_batch_carries_hostile_text_as_text(tmp_path: Path) -> None:
    tasks = make_tasks(samples(8, HOSTILE), 4)
    write_batch(tasks, tmp_path, seed=0)
    with (tmp_path / "mturk.csv").open(encoding="ascii", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["task_id"] for row in rows] == [task.id for task in tasks]
    assert list(rows[0]) == ["task_id", "setting", "context", *(f"response_{i}" for i in range(1, 5))]
    clean = tasks[0].responses[1].replace("\ud83d", "?")
    assert unescape(rows[0]["response_2"]) == clean
    assert "<img" not in rows[0]["response_2"] + rows[0]["context"]
    assert "$" not in rows[0]["context"]
    layout = (tmp_path / "mturk_layout.html").read_text(encoding="utf-8")
    assert set(re.findall(r"\$\{(\w+)\}", layout)) == set(rows[0]) - {"task_id"}
    names = set(re.findall(r'name="(r\d_\w+)"', layout))
    assert len(names) == 20
    form = (tmp_path / "form.html").read_text(encoding="utf-8")
    assert "onerror" not in form
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:)", form)
    for source in ("prompted", "sft", "awr"):
        assert source not in form + layout  # blind
    key = read_key(tmp_path)
    assert key[tasks[0].id]["sources"] == list(tasks[0].sources)
    assert key[tasks[0].id]["dialogue"] == tasks[0].block_id.split(":")[0]
    with pytest.raises(SettingError, match="key.json"):
        write_batch(tasks, tmp_path, seed=0)


@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_the_form_works_in_a_browser(tmp_path: Path) -> None:
    tasks = make_tasks(samples(8, HOSTILE), 3)
    write_batch(tasks, tmp_path, seed=0)
    # A rater made of script: names itself, skips a rating, is stopped, rates everything, and downloads.
    rater = """
    URL.createObjectURL = blob => { blob.text().then(t => { document.body.dataset.answers = btoa(t); }); return "#"; };
    const go = setInterval(() => {
      if (document.body.dataset.ready !== "true") return;
      clearInterval(go);
      document.getElementById("name").value = 'Ann "A", B'; document.getElementById("start").click();
      document.getElementById("next").click();
      document.body.dataset.missing = document.querySelectorAll("fieldset.missing").length;
      for (let task = 0; task < 3; task++) {
        document.querySelectorAll("fieldset").forEach((f, i) => f.querySelectorAll("input")[(i + task) % 5].click());
        document.getElementById("next").click();
      }
      document.getElementById("save").click();
    }, 20);"""
    dom = dumped_dom(with_script(tmp_path / "form.html", rater, tmp_path / "rated.html"), tmp_path)
    assert 'data-missing="20"' in dom
    assert "data-owned" not in dom
    import base64

    found = re.search(r'data-answers="([^"]+)"', dom)
    assert found is not None
    (tmp_path / "answers.csv").write_bytes(base64.b64decode(found[1]))
    from elicit_gym.offline.human_eval.answers import read_answers

    answers = read_answers([tmp_path / "answers.csv"], read_key(tmp_path))
    assert answers.rejected == ()
    assert set(answers.seconds) == {'Ann "A", B'}
    assert len(answers.ratings) == 3 * 20
    first = [r.value for r in answers.ratings if r.task == tasks[0].id]
    assert first == [1, 2, 3, 4, 5] * 4


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="evaluate-yield"):
        read_samples(tmp_path)
    (tmp_path / "samples.jsonl").write_text(json.dumps({"block_id": "a"}) + "\n")
    with pytest.raises(StorageError, match=r"samples.jsonl:1: expected a window"):
        read_samples(tmp_path)
    with pytest.raises(StorageError, match="key.json"):
        read_key(tmp_path)
