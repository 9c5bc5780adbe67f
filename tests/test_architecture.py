"""The tree is the architecture: imports run one way and in no circle, files stay short, modules say what they export."""

import ast
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.import_graph import circle, read_graph, top_level_room

LINKED = ("agents", "offline")
GRAPH = read_graph(ROOT, ("elicit_gym", "benchmarks"), LINKED)

GROUND = (
    "batches", "episode", "errors", "file_limits", "files", "folder_lock", "json_files", "key_value", "lazy_sequence", "parts", "policy", "redaction", "registration", "registry", "rewards", "seeding",
    "spaces", "statistics", "strict_json", "text", "types", "version",
)  # fmt: skip
FLOORS = (
    GROUND,
    ("reporting",),  # so low that it can import the ground only
    ("llm",),
    ("scenarios",),
    ("understanding",),
    ("judges", "user_simulators"),
    ("envs",),
    ("rollout", "testing"),  # testing checks parts of every room below: for plug-ins' authors, nothing here imports it
    ("evaluation",),
    ("",),  # elicit_gym/__init__.py: the names that users import, from all of the rooms below
    ("offline",),
    ("offline.evaluation", "offline.human_eval"),
    ("agents",),
    ("agents.training",),
    ("adapters", "ui"),
    ("cli",),
    ("benchmarks",),
)
"""From the ground up. Everything on the ground is a room of its own there, and may import its neighbours."""

NESTED = ("agents.training", "offline.evaluation", "offline.human_eval")

MOST_ROOMS, MOST_ARROWS = 38, 199
"""As `python -m tests.import_graph` counts. Whoever adds a room raises them, in the commit that says why."""


CROSS_CUTTING = {
    "cli/test_own_transcripts.py": "the whole way from transcripts of one's own to a trained policy",
    "contracts/test_defaults.py": "one source of the environment's defaults, every environment and option",
    "contracts/test_optional.py": "every optional contract of a plug-in",
    "contracts/test_envs.py": "one contract, every registered environment",
    "contracts/test_parts.py": "one contract, every user simulator, judge and reward",
    "offline/importing/test_hostile.py": "every reader, on hostile files",
    "offline/importing/test_names_and_files.py": "names of speakers and of files, whatever the format",
    "offline/importing/test_shared_cases.py": "the cases in ../shared",
    "offline/importing/test_tables_and_json.py": "every format of tables and of JSON",
    "offline/importing/test_word_and_pdf.py": "Word and PDF",
    "scenarios/test_bundled.py": "the bundled scenarios themselves",
    "test_architecture.py": "the tree",
    "envs/test_long_conversations.py": "nothing is quadratic in the turns of a conversation",
    "rollout/test_isolated_node.py": "what travels to a machine that sees no file of this one",
    "judges/test_gaming.py": "policies that write for the judge",
    "test_differences.py": "the record of deliberate differences in docs/differences.md",
    "test_hostile_files.py": "every reader, on mutated files",
    "test_hostile_lengths.py": "every function on a text, on hostile lengths",
    "test_language.py": "the words of docstrings, help and messages",
    "test_llm_runs.py": "whole runs with models in every seat, over HTTP",
    "test_package.py": "what is installed",
    "test_readme.py": "the README",
    "test_hostile_names.py": "whatever shows a name: commands, figures, pages",
    "test_remote_code.py": "what models of strangers may not do",
    "test_trust.py": "what saved data may not do",
    "test_trust_page.py": "the page docs/trust.md",
    "test_real_model.py": "a whole run with a real model in every seat",
}
"""Tests of no single module, and what they are of."""


def room_of(module: str) -> str:
    inside = module.removeprefix("elicit_gym").removeprefix(".")
    nested = next((room for room in NESTED if inside == room or inside.startswith(room + ".")), None)
    return nested or inside.split(".")[0]


MODULES = sorted(path.relative_to(ROOT) for name, path in GRAPH.modules.items() if name.split(".")[0] == "elicit_gym")


def test_the_two_links_are_links_and_their_modules_are_seen() -> None:
    for name in LINKED:
        link = ROOT / "elicit_gym" / name
        assert link.is_symlink()
        assert link.resolve() == ROOT / name
        seen = {m for m in GRAPH.modules if m.startswith(f"elicit_gym.{name}")}
        assert len(seen) == len(list((ROOT / name).rglob("*.py")))


def test_imports_run_down() -> None:
    assert GRAPH.upward(FLOORS, room_of) == []
    assert GRAPH.strangers == ()


def test_reporting_imports_the_ground_only() -> None:
    theirs = {second for first, second in GRAPH.arrows(room_of) if first == "reporting"}
    assert theirs <= set(GROUND)


def test_there_are_no_circles() -> None:
    assert circle(GRAPH.arrows(str)) == []
    assert circle(GRAPH.arrows(room_of)) == []
    assert circle(GRAPH.arrows(top_level_room)) == []


def test_rooms_and_arrows_do_not_grow_unseen() -> None:
    assert len({top_level_room(module) for module in GRAPH.modules}) <= MOST_ROOMS
    assert len(GRAPH.arrows(top_level_room)) <= MOST_ARROWS


def test_tests_lie_where_the_code_lies() -> None:
    tests = ROOT / "tests"
    names = {name.removeprefix("elicit_gym.").replace(".", "/") for name in GRAPH.modules}
    helpers = {path.stem for path in tests.glob("*.py")}
    found = {str(path.relative_to(tests)) for path in tests.rglob("test_*.py")}
    astray = {
        name for name in found if name.removesuffix(".py").replace("test_", "") not in names | helpers
    }  # fmt: skip
    assert astray == set(CROSS_CUTTING)


@pytest.mark.parametrize("path", MODULES, ids=str)
def test_files_and_functions_stay_short(path: Path) -> None:
    source = (ROOT / path).read_text(encoding="utf-8")
    assert source.count("\n") <= 330
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            assert length <= 65, f"{path}: {node.name} has {length} lines"


@pytest.mark.parametrize("path", [p for p in MODULES if p.name not in ("__init__.py", "__main__.py")], ids=str)
def test_modules_say_what_they_export(path: Path) -> None:
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    assert ast.get_docstring(tree)
    names = [
        [element.value for element in node.value.elts if isinstance(element, ast.Constant)]
        for node in tree.body
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id == "__all__"
        and isinstance(node.value, ast.List)
    ]
    assert len(names) == 1


def test_what_dev_installs_is_imported_and_never_skipped_over() -> None:
    call = "importor" + "skip"
    assert [str(path) for path in (ROOT / "tests").rglob("*.py") if call in path.read_text(encoding="utf-8")] == []
