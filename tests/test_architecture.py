"""The tree is the architecture: imports run one way, files stay short, every module says what it exports."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

LAYER = {"elicit_gym": 0, "offline": 1, "agents": 2, "cli": 3}


def modules() -> Iterator[Path]:
    for package in ("elicit_gym", "offline", "agents"):
        for path in sorted((ROOT / package).rglob("*.py")):
            relative = path.relative_to(ROOT)
            if not (package == "elicit_gym" and relative.parts[1] in ("agents", "offline")):
                yield relative


def layer_of(module: str) -> int | None:
    parts = module.split(".")
    if parts[0] != "elicit_gym":
        return None
    if len(parts) > 1 and parts[1] == "cli":
        return LAYER["cli"]
    return LAYER.get(parts[1], 0) if len(parts) > 1 else 0


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


@pytest.mark.parametrize("path", list(modules()), ids=str)
def test_imports_run_one_way(path: Path) -> None:
    own = LAYER["cli"] if path.parts[:2] == ("elicit_gym", "cli") else LAYER[path.parts[0]]
    for name in imported(path):
        theirs = layer_of(name)
        assert theirs is None or theirs <= own, f"{path} imports {name}"
        assert name.split(".")[0] not in ("agents", "offline"), f"{path} imports {name}: write elicit_gym.{name}"


@pytest.mark.parametrize("path", list(modules()), ids=str)
def test_files_and_functions_stay_short(path: Path) -> None:
    source = (ROOT / path).read_text(encoding="utf-8")
    assert source.count("\n") <= 330
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef):
            body = node.body[1:] if ast.get_docstring(node) else node.body
            length = (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0
            # A training loop reads better flat, from top to bottom, than in pieces that share ten names.
            assert length <= (200 if node.name == "train_awr" else 65), f"{path}: {node.name} has {length} lines"


@pytest.mark.parametrize("path", [p for p in modules() if p.name not in ("__init__.py", "__main__.py")], ids=str)
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
