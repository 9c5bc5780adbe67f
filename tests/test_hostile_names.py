"""Names and texts of a stranger's, wherever they are shown: in a terminal, in a figure, in a page."""

import ast
import io
import json
import os
import re
import warnings
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

from elicit_gym import compare
from elicit_gym.cli import main
from elicit_gym.cli.app import app
from elicit_gym.offline import load_dataset
from elicit_gym.offline.evaluation.answers import evaluation_manifest
from elicit_gym.offline.evaluation.evaluate import evaluate_yield
from elicit_gym.offline.evaluation.metrics import load_encoder
from elicit_gym.offline.evaluation.report import write_yield_report
from elicit_gym.offline.human_eval.forms import write_batch
from elicit_gym.offline.human_eval.tasks import make_tasks, read_samples
from elicit_gym.reporting.style import STYLE, drawable
from elicit_gym.reporting.terminal import printable
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import ChatHistory, Message
from tests.browser import CHROMIUM, dumped_dom_and_console, with_script
from tests.conftest import ROOT
from tests.minilm import MINILM
from tests.offline.human_eval.batches import rows_of, write

STEERS = "\x1b]0;owned\x07\x1b[2J\x9b31m\x00\x08\r\u202egnp\u2066\u200b\u2028"
"""What sets a terminal's title, clears it, colours it, goes back in the line, and turns the direction of writing."""
NAMES = (
    "__proto__", "constructor", "toString", "$x^$", "$\\frac", "_hidden", "a\x00b", f"red{STEERS}", "</script><b>b",
    "half \ud800", "日本 😀", "%s {0} {x}", "long " * 200, " ",
)  # fmt: skip
SEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b\u2028\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
"""What no terminal may get from us where the output is no terminal, so that rich colours nothing."""


class Named:
    """A policy whose name and message a stranger wrote."""

    def __init__(self, name: str, said: str = "What is your budget?") -> None:
        self.name, self._said = name, said

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return self._said


def marked(value: Any, keep: tuple[str, ...] = ()) -> Any:
    """Return JSON types with `STEERS` at the end of every text, but for some fields."""
    if isinstance(value, dict):
        return {key: inner if key in keep else marked(inner, keep) for key, inner in value.items()}
    if isinstance(value, list):
        return [marked(inner, keep) for inner in value]
    return value + STEERS if isinstance(value, str) else value


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of everything that strangers share, with such names and texts in every place."""
    folder = tmp_path_factory.mktemp("hostile")
    ids = [scenario.id for scenario in load_scenarios()[:6]]
    compare([Named(name) for name in NAMES[7:10]], scenario_ids=ids, out=folder / "run")
    compare([Named("other")], scenario_ids=ids, out=folder / "other", env_kwargs={"max_turns": 3})
    for name in ("run", "other"):
        manifest = json.loads((folder / name / "manifest.json").read_text())
        planted = marked(manifest, ("kind", "sha256", "policy", "name"))
        (folder / name / "manifest.json").write_text(json.dumps(planted))
    lines = (ROOT / "elicit_gym" / "scenarios" / "data" / "bundled.jsonl").read_text().splitlines()[:2]
    scenarios = []
    for row in map(json.loads, lines):
        facts = marked(row["facts"], ("id", "after"))
        scenarios.append(
            marked(row, ("split", "kind", "facts", "id", "after")) | {"facts": facts, "id": row["id"] + STEERS}
        )
    (folder / "scenarios.jsonl").write_text("".join(json.dumps(scenario) + "\n" for scenario in scenarios))
    (folder / "broken.jsonl").write_text(json.dumps({STEERS: STEERS, "id": STEERS}) + "\n")
    lines = (ROOT / "offline" / "data" / "sample.jsonl").read_text().splitlines()
    dialogues = [marked(json.loads(line), ("role", "split", "broad_source")) for line in lines]
    (folder / "dialogues.jsonl").write_text("".join(json.dumps(row) + "\n" for row in dialogues))
    with zipfile.ZipFile(folder / "corpus.zip", "w") as archive:
        archive.writestr(f"train/{STEERS.replace(chr(0), '')}.jsonl", f'{{"{STEERS!r}": "{STEERS!r}"}}\n')
    table = (
        f"speaker,text,column{STEERS.replace(chr(0), '')}\n"
        + f"Ann{STEERS[:9]},What is it?,x\nBob,It is {STEERS[:9]},x\n" * 3
    )
    (folder / "table.csv").write_text(table)
    (folder / f"{STEERS.replace(chr(0), '')}.txt").write_text(f"Ann{STEERS[1:9]}: What?\nBob: It.\n" * 3)
    (folder / f"{STEERS.replace(chr(0), '')}.xyz").write_text("?")
    (folder / os.fsdecode(b"not utf-8 \xff.txt")).write_text("Ann: What?\nBob: It.\n" * 3)
    evaluated(folder / "yield", NAMES[7:10])
    return folder


def evaluated(out: Path, names: tuple[str, ...]) -> Path:
    windows = list(load_dataset("sample/all-v1", split="test", reward="reply_length").windows())[:8]
    windows = [
        replace(
            w, domain=names[i % len(names)], block_id=f"{w.block_id} {names[i % len(names)]}",
            messages=(Message(role="user", content=names[i % len(names)]), *w.messages),
        )
        for i, w in enumerate(windows)
    ]  # fmt: skip
    policies = [Named(name, f"{name} and then? Why?") for name in names]
    result = evaluate_yield(
        policies, windows, encoder=load_encoder(MINILM), count_tokens=lambda texts: [len(t.split()) for t in texts]
    )
    return write_yield_report(
        result, out, evaluation_manifest(policies, windows, data=names[0], settings={"x": names[0]})
    )


COMMANDS: dict[str, tuple[list[str], int | None]] = {
    "report": (["report", "run", "--out", "report"], 0),
    "report, different runs": (["report", "run", "other"], 2),
    "report, no run": (["report", f"none{STEERS}"], 2),
    "rejudge": (["rejudge", "run", "--scenarios", "bundled", "--out", "again"], None),
    "compare": (["compare", "ask-one", "--scenarios", "scenarios.jsonl", "--repeats", "1", "--out", f"new{STEERS[:5]}"], 0),
    "compare, unknown policy": (["compare", f"none{STEERS}"], 2),
    "compare, resumed": (["compare", "ask-one", "--resume", "--out", "run"], 2),
    "play": (["play", "--scenarios", "scenarios.jsonl"], 0),
    "play as user": (["play", "--as-user", "ask-one", "--scenarios", "scenarios.jsonl"], 0),
    "play, no scenario": (["play", "--scenario", STEERS], 2),
    "scenarios stats": (["scenarios", "stats", "scenarios.jsonl"], 0),
    "scenarios validate": (["scenarios", "validate", "scenarios.jsonl"], None),
    "scenarios validate, broken": (["scenarios", "validate", "broken.jsonl"], 1),
    "data validate": (["data", "validate", "dialogues.jsonl"], 0),
    "data validate, broken": (["data", "validate", "broken.jsonl"], 1),
    "data validate, packed": (["data", "validate", "corpus.zip"], 1),
    "data stats": (["data", "stats", "mine", "--path", "dialogues.jsonl", "--reward", "reply_length", "--plot", "p.png"], 0),
    "data import, table": (["data", "import", "table.csv", "--out", "made.jsonl"], None),
    "data import, names of files": (["data", "import", ".", "--out", f"made{STEERS[:5]}.jsonl"], None),
    "evaluate-yield": (["evaluate-yield", "ask-one", "--data", "dialogues.jsonl", "--limit", "2"], None),
    "human-eval export": (["human-eval", "export", "yield", "--windows", "4", "--out", f"batch{STEERS[:5]}"], 0),
    "human-eval score": (["human-eval", "score", "batch", "answers.csv", "--keep-all", "--out", "scored"], 0),
    "noise-floor": (["noise-floor", "ask-one", "--scenarios", "scenarios.jsonl", "--repeats", "1", "--out", "floor"], None),
    "contrast, unknown judge": (["contrast", "--judge", f"none{STEERS}"], 2),
    "scenarios generate": (["scenarios", "generate", "--model", f"http:{STEERS}", "--api-base", "http://127.0.0.1:9", "--out", "s"], 2),
    "data list": (["data", "list"], 0),
    "data build": (["data", "build", "mine", "--path", "dialogues.jsonl", "--reward", "reply_length", "--out", f"{STEERS[:5]}.arrow"], 0),
    "data export": (["data", "export", "dialogues.jsonl", "--out", "e.jsonl"], None),
    "train awr, no data": (["train", "awr", "none", "--data", f"none{STEERS}", "--out", "trained", "--max-steps", "1"], 2),
    "train grpo, no model": (["train", "grpo", f"none{STEERS}", "--out", "trained", "--max-steps", "1"], 2),
    "train merge, no policy": (["train", "merge", f"none{STEERS}", "--out", "merged"], 2),
    "data ope": (["data", "ope", f"none{STEERS}", "--data", "sample/all-v1", "--reward", "reply_length"], 2),
    "train sft, no model": (["train", "sft", f"none{STEERS}", "--out", "trained", "--max-steps", "1"], 2),
}  # fmt: skip


def test_every_command_is_tried() -> None:
    def names(command: Any, before: tuple[str, ...] = ()) -> set[str]:
        inner = getattr(command, "commands", None)
        if inner is None:
            return {" ".join(before)}
        return {name for key, each in inner.items() for name in names(each, (*before, key))}

    tried = {" ".join(arguments) for arguments, _ in COMMANDS.values()}
    missing = {name for name in names(get_command(app)) if not any(each.startswith(name) for each in tried)}
    assert missing == {"serve"}  # it prints its own address alone, and its log stays empty: see its tests


@pytest.mark.parametrize(("arguments", "status"), COMMANDS.values(), ids=COMMANDS)
def test_no_command_lets_a_name_steer_the_terminal(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, arguments: list[str],
    status: int | None,
) -> None:  # fmt: skip
    monkeypatch.chdir(folder)
    if arguments[:2] == ["human-eval", "score"]:
        tasks = make_tasks(read_samples(folder / "yield"), 4, seed=0)
        write_batch(tasks, folder / "batch", seed=0)
        key = json.loads((folder / "batch" / "key.json").read_text())["tasks"]
        write(folder / "answers.csv", [r for i in range(2) for r in rows_of(key, f"{i}{STEERS[1:9]}", lambda *_: 3)])
    monkeypatch.setattr("sys.argv", ["elicit-gym", *(argument.replace("\x00", "") for argument in arguments)])
    monkeypatch.setattr("sys.stdin", io.StringIO(f"What is your budget?\nI see {STEERS}\n" * 2))
    found = 0
    try:
        main()
    except SystemExit as stop:
        found = int(stop.code or 0)
    printed = "".join(capfd.readouterr())
    assert SEEN.findall(printed) == [], printed[:3000]
    assert "Traceback" not in printed
    assert status in (None, found), printed[-2000:]
    assert printed.strip()


def test_whatever_is_printed_goes_through_one_function() -> None:
    """Printing directly is left to the module that cleans, and to those that clean what they hand to rich."""
    rich_only = {"cli/play.py", "envs/render.py", "offline/importing/report.py"}
    for path in sorted(p for f in ("elicit_gym", "agents", "offline") for p in (ROOT / f).rglob("*.py")):
        name = str(path.relative_to(ROOT)).removeprefix("elicit_gym/")
        if name == "reporting/terminal.py":
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            call = ast.unparse(node.func)
            where = f"{path}:{node.lineno}: {call}"
            assert call not in ("print", "typer.echo", "typer.secho", "click.echo", "pprint"), where
            assert not re.match(r"sys\.(stdout|stderr)\.write", call), where
            if re.search(r"[Cc]onsole(\(\))?\.print$", call):
                assert name in rich_only, where
                # A text of ours, or one that was cleaned.
                cleaned = (ast.Constant, ast.JoinedStr) if name == "cli/play.py" else ()
                for argument in node.args:
                    inner = ast.unparse(argument)
                    clean = inner.startswith(("printable(", "conversation_view(", "shown(")) or inner == "table"
                    only_ours = "verdict" in inner and isinstance(argument, ast.JoinedStr)
                    assert clean or only_ours or (isinstance(argument, ast.Constant) and cleaned), where


@pytest.mark.parametrize("name", NAMES)
def test_printable_and_drawable(name: str) -> None:
    for clean in (printable(name), drawable(name)):
        assert not SEEN.search(clean)
    assert len(drawable(name)) <= 61
    assert not drawable(name).startswith("_")
    assert printable("日本 😀 — Zürich\n\tx\u00a0y 👩\u200d🚀") == "日本 😀 — Zürich\n\tx y 👩\u200d🚀"
    assert printable("\x1b\u202e\U000e0001") == r"\x1b\u202e\U000e0001"


def test_a_figure_shows_each_name_as_it_is(tmp_path: Path) -> None:
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        figure = Figure(layout="constrained")
        axes = figure.subplots()
        for i, name in enumerate(NAMES):
            axes.plot([0, 1], [i, i], label=drawable(name))
        axes.set_yticks(range(len(NAMES)), [drawable(name) for name in NAMES])
        legend = axes.legend()
        figure.savefig(tmp_path / "x.svg")
    assert [text.get_text() for text in legend.get_texts()] == [drawable(name) for name in NAMES]
    import xml.etree.ElementTree as ET

    ET.parse(tmp_path / "x.svg")


def info_quest(out: Path, names: tuple[str, ...]) -> Path:
    rows = map(json.loads, (ROOT / "elicit_gym" / "scenarios" / "data" / "bundled.jsonl").read_text().splitlines())
    scenarios = [
        row | {"id": name.strip() or "x", "persona": name.strip() or "x"}
        for name, row in zip(names, rows, strict=False)
    ]
    out.mkdir(parents=True)
    source = out / "scenarios.jsonl"
    source.write_text("".join(json.dumps(scenario) + "\n" for scenario in scenarios))
    compare([Named(name, f"{name} budget?") for name in names], env_kwargs={"scenarios": str(source)}, out=out)
    return out / "report.html"


def without_scenarios(out: Path, names: tuple[str, ...]) -> Path:
    info_quest(out / "first", names)
    from elicit_gym.evaluation.compare import compare_runs

    return compare_runs([out / "first"]).save(out)


def form(out: Path, names: tuple[str, ...]) -> Path:
    evaluated(out / "evaluation", names)
    write_batch(make_tasks(read_samples(out / "evaluation"), 4), out, seed=0)
    return out / "form.html"


def manners(out: Path, names: tuple[str, ...]) -> Path:
    from elicit_gym.evaluation.manners import write_manners

    ids = [scenario.id for scenario in load_scenarios()[:6]]
    made = {name: compare([Named(n) for n in names[:2]], scenario_ids=ids) for name in names}
    out.mkdir(parents=True)
    return write_manners(out, made)


PAGES: dict[str, Callable[[Path, tuple[str, ...]], Path]] = {
    "report": info_quest, "report without scenarios": without_scenarios, "yield report": evaluated, "form": form,
    "manners": manners,
}  # fmt: skip


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph")
        yield


@pytest.mark.parametrize("names", [NAMES[:5], NAMES[5:10], NAMES[10:]], ids=("js", "terminal", "other"))
@pytest.mark.parametrize("page", PAGES)
def test_every_page_loads_whatever_the_names(tmp_path: Path, page: str, names: tuple[str, ...]) -> None:
    made = PAGES[page](tmp_path / "page", names)
    text = made.read_text(encoding="utf-8")
    assert "<b>b" not in text
    if CHROMIUM is None:
        return
    # A reader of every entry: an error anywhere in a script is an error here.
    reader = """
    window.addEventListener("error", e => { document.body.dataset.error = e.message; });
    window.addEventListener("unhandledrejection", e => { document.body.dataset.error = String(e.reason); });
    const go = setInterval(() => {
      if (document.body.dataset.ready !== "true") return;
      clearInterval(go);
      for (const select of document.querySelectorAll("select")) for (let i = 0; i < select.options.length; i++) {
        select.selectedIndex = i; select.dispatchEvent(new Event("change"));
        for (const button of [...document.querySelectorAll("#list button")].slice(0, 5)) button.click();
      }
      for (const button of document.querySelectorAll(".buttons button")) if (button.id !== "save") button.click();
      document.body.dataset.read = "true";
    }, 20);"""
    dom, console = dumped_dom_and_console(with_script(made, reader, made.with_name("read.html")), tmp_path)
    assert console == []
    assert "data-error" not in dom
    if page != "manners":
        assert 'data-read="true"' in dom
