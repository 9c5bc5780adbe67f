"""Pages: what their content security policy lets in, and texts of any length."""

import base64
import json
import re
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from elicit_gym import compare
from elicit_gym.evaluation.manners import write_manners
from elicit_gym.offline import load_dataset
from elicit_gym.offline.evaluation.answers import evaluation_manifest
from elicit_gym.offline.evaluation.evaluate import evaluate_yield
from elicit_gym.offline.evaluation.metrics import load_encoder
from elicit_gym.offline.evaluation.report import write_yield_report
from elicit_gym.offline.human_eval.forms import write_batch
from elicit_gym.offline.human_eval.tasks import make_tasks, read_samples
from elicit_gym.reporting.page import LONGEST_TEXT, pack, shortened, write_page
from elicit_gym.types import ChatHistory
from tests.browser import CHROMIUM, dumped_dom, dumped_dom_and_console, with_script
from tests.conftest import ROOT
from tests.minilm import MINILM

POLICY = re.compile(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">')
INLINE = re.compile(r"<(script|style)([^>]*)>(.*?)</\1>", re.DOTALL)


class Says:
    def __init__(self, name: str, text: str) -> None:
        self.name, self._text = name, text

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return self._text


def report(out: Path, said: str) -> Path:
    compare([Says("it", said)], scenario_ids=["00-a", "00-b"], env_kwargs={"max_turns": 2}, out=out)
    return out / "report.html"


def manners(out: Path, said: str) -> Path:
    out.mkdir()
    return write_manners(out, {"open": compare([Says("it", said)], scenario_ids=["00-a"], env_kwargs={"max_turns": 2})})


def yield_report(out: Path, said: str) -> Path:
    windows = list(load_dataset("sample/all-v1", split="test", reward="reply_length").windows())[:4]
    policy = Says("it", said)
    result = evaluate_yield(
        [policy], windows, encoder=load_encoder(MINILM), count_tokens=lambda texts: [len(text) for text in texts]
    )
    return write_yield_report(result, out, evaluation_manifest([policy], windows, data="sample", settings={}))


def form(out: Path, said: str) -> Path:
    yield_report(out / "evaluation", said)
    write_batch(make_tasks(read_samples(out / "evaluation"), 3), out, seed=0)
    return out / "form.html"


PAGES: dict[str, Callable[[Path, str], Path]] = {
    "report.html.j2": report, "manners.html.j2": manners, "yield report.html.j2": yield_report, "form.html.j2": form,
}  # fmt: skip


def test_every_template_is_a_page_here_or_part_of_one() -> None:
    found = {
        f"{'yield ' if path.parts[-4:-2] == ('offline', 'evaluation') else ''}{path.name}"
        for folder in ("elicit_gym", "offline")
        for path in (ROOT / folder).rglob("templates/*.html.j2")
    }
    # The layout is pasted into a page of Amazon's, which has its own policy.
    assert found == set(PAGES) | {"base.html.j2", "cell.html.j2", "mturk_layout.html.j2"}
    for path in (p for folder in ("elicit_gym", "offline") for p in (ROOT / folder).rglob("templates/*")):
        text = path.read_text(encoding="utf-8")
        if path.suffix in (".js", ".css"):
            assert "{{" not in text, "nothing is put into what a policy lets in by its hash"
        if path.name.endswith(".html.j2") and path.name != "mturk_layout.html.j2":
            assert not re.search(r"\sstyle=|\son\w+=|javascript:", text)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_lets_in_its_own_script_and_style_and_nothing_else(tmp_path: Path, page: str) -> None:
    made = PAGES[page](tmp_path / "page", "What is your budget?")
    text = made.read_text(encoding="utf-8")
    found = POLICY.findall(text)
    assert len(found) == 1
    rules = dict(rule.strip().split(" ", 1) for rule in found[0].split(";"))
    hashes = {
        kind: f"'sha256-{base64.b64encode(sha256(inner.encode()).digest()).decode()}'"
        for kind, attributes, inner in INLINE.findall(text)
        if "application/octet-stream" not in attributes
    }
    assert rules == {
        "default-src": "'none'", "script-src": hashes["script"], "style-src": hashes["style"], "img-src": "data:",
        "base-uri": "'none'", "form-action": "'none'",
    }  # fmt: skip
    assert text.index("Content-Security-Policy") < text.index("<style>")
    if CHROMIUM is None:
        return
    dom, console = dumped_dom_and_console(made, tmp_path)
    assert console == []
    assert page.startswith("manners") or 'data-ready="true"' in dom
    # What escaping lets through by a mistake of ours does not run, and fetches nothing.
    hole = "<script>document.body.dataset.owned='1'</script><img src=x onerror=\"document.body.dataset.owned='2'\">"
    hole += '<link rel=stylesheet href="https://evil.example/x.css"><img src="https://evil.example/x.png">'
    hole += "<style>body { display:none }</style>"
    (tmp_path / "hole.html").write_text(text.replace("<main>", f"<main>{hole}"), encoding="utf-8")
    dom, console = dumped_dom_and_console(tmp_path / "hole.html", tmp_path)
    assert "data-owned" not in dom
    for blocked in ("inline script", "inline event handler", "inline style", "x.css", "x.png"):
        assert any(blocked in line for line in console), (blocked, console)


@pytest.mark.parametrize("page", PAGES)
def test_a_message_of_2_mb_leaves_a_page_usable_and_is_whole_in_the_file(tmp_path: Path, page: str) -> None:
    said = "What is your budget? " * 100_000
    made = PAGES[page](tmp_path / "page", said)
    assert made.stat().st_size < 600_000
    kept = "".join(path.read_text(encoding="utf-8") for path in made.parent.rglob("*.jsonl"))
    assert page.startswith("manners") or said in kept
    if CHROMIUM is None or page.startswith("manners"):
        return
    opener = """
    const go = setInterval(() => {
      if (document.body.dataset.ready !== "true") return;
      clearInterval(go);
      const name = document.getElementById("name"); if (name) name.value = "Ann";
      const start = document.getElementById("start"); if (start) start.click();
      document.body.dataset.length = document.body.textContent.length;
    }, 20);"""
    dom = dumped_dom(with_script(made, opener, made.with_name("opened.html")), tmp_path)
    assert int(re.findall(r'data-length="(\d+)"', dom)[0]) < 600_000
    where = {
        "report.html.j2": "in episodes.jsonl",
        "yield report.html.j2": "in samples.jsonl",
        "form.html.j2": "left out",
    }
    assert f"more characters {where[page]})" in dom


def test_texts_are_cut_at_the_limit_and_say_so() -> None:
    value: Any = {"a": ["x" * LONGEST_TEXT, "y" * (LONGEST_TEXT + 1_500)], "b": (1, None, True)}
    cut = shortened(value, "in the file")
    assert cut["a"][0] == value["a"][0]
    assert cut["a"][1] == "y" * LONGEST_TEXT + " … (1,500 more characters in the file)"
    assert cut["b"] == [1, None, True]
    assert json.dumps(value) == json.dumps(
        {"a": ["x" * LONGEST_TEXT, "y" * (LONGEST_TEXT + 1_500)], "b": (1, None, True)}
    )


def test_a_value_that_looks_like_the_pages_own_is_only_text(tmp_path: Path) -> None:
    values = {"manners": ["{{ page_script }}", "</style><script>x</script>"], "rows": [], "left": [1, 1]}
    made = write_page(
        tmp_path / "p.html", "elicit_gym.evaluation", "manners.html.j2", {**values, "packed": pack({}, "")}
    )
    text = made.read_text(encoding="utf-8")
    assert "<script>x" not in text
    assert text.count("<script") == 2
