"""The checker of the architecture finds what it is for: on small made-up trees that break one rule each."""

from pathlib import Path

import pytest

from tests.import_graph import Graph, circle, read_graph, top_level_room

FLOORS = (("ground", "other"), ("low", "beside"), ("high",))


def room(module: str) -> str:
    return module.split(".")[1] if "." in module else "ground"


def tree(root: Path, files: dict[str, str], linked: tuple[str, ...] = ()) -> Graph:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        (path.parent / "__init__.py").touch()
    for name in linked:
        (root / "app" / name).symlink_to(Path("..", name))
    return read_graph(root, ("app",), linked)


LATE = "def f():\n    from app.{} import x\n"
FOR_TYPES = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from app.{} import x\n"


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("from app.{} import x", "module"),
        ("import app.{}", "module"),
        ("import app.{} as short", "module"),
        ("try:\n    from app.{} import x\nexcept ImportError:\n    pass", "module"),
        ("class A:\n    from app.{} import x", "module"),
        (LATE, "function"),
        ("async def f():\n    if True:\n        import app.{}", "function"),
        ("class A:\n    def f(self):\n        from app.{} import x", "function"),
        (FOR_TYPES, "type-checking"),
        ("import typing\nif typing.TYPE_CHECKING:\n    import app.{}", "type-checking"),
    ],
)
def test_every_kind_of_import_counts(tmp_path: Path, text: str, kind: str) -> None:
    graph = tree(tmp_path, {"app/low/a.py": text.format("high.b"), "app/high/b.py": "x = 1"})
    assert [(i.importer, i.imported, i.kind) for i in graph.imports] == [("app.low.a", "app.high.b", kind)]
    (problem,) = graph.upward(FLOORS, room)
    assert problem.startswith("app/low/a.py:")
    assert f"app.low.a imports app.high.b ({kind})" in problem
    down = tree(tmp_path, {"app/high/b.py": text.format("low.a"), "app/low/a.py": "x = 1"})
    assert len(down.imports) == 1
    assert down.upward(FLOORS, room) == []


def test_a_module_that_is_imported_as_a_name(tmp_path: Path) -> None:
    graph = tree(tmp_path, {"app/low/a.py": "from app.high import b, name", "app/high/b.py": ""})
    assert {i.imported for i in graph.imports} == {"app.high.b", "app.high"}


def test_rooms_on_one_floor_are_apart_save_on_the_ground(tmp_path: Path) -> None:
    files = {"app/low/a.py": "import app.beside.b", "app/beside/b.py": "", "app/ground/c.py": "import app.other.d"}
    graph = tree(tmp_path, {**files, "app/other/d.py": ""})
    assert len(graph.upward(FLOORS, room)) == 1


def test_a_room_without_a_floor_is_told(tmp_path: Path) -> None:
    graph = tree(tmp_path, {"app/new/a.py": "import app.high.b", "app/high/b.py": ""})
    assert graph.upward(FLOORS, room) == ["new stands on no floor"]


@pytest.mark.parametrize("text", ["from app.{} import x", LATE, FOR_TYPES])
def test_circles_of_modules_and_of_rooms(tmp_path: Path, text: str) -> None:
    inside = {"app/low/a.py": "import app.low.b", "app/low/b.py": text.format("low.a")}
    graph = tree(tmp_path / "inside", inside)
    assert set(circle(graph.arrows(str))) == {"app.low.a", "app.low.b"}
    assert circle(graph.arrows(room)) == []
    across = {
        "app/low/a.py": "import app.high.c", "app/low/b.py": "",
        "app/high/c.py": "", "app/high/d.py": text.format("low.b"),
    }  # fmt: skip
    graph = tree(tmp_path / "across", across)
    assert circle(graph.arrows(str)) == []
    assert set(circle(graph.arrows(room))) == {"low", "high"}
    longer = {
        "app/low/a.py": "import app.low.b",
        "app/low/b.py": "import app.low.c",
        "app/low/c.py": LATE.format("low.a"),
    }
    assert len(circle(tree(tmp_path / "longer", longer).arrows(str))) == 4


def test_links_are_looked_through(tmp_path: Path) -> None:
    files = {"app/low/a.py": "from app.high.b import x", "high/b.py": "from app.low.a import y"}
    graph = tree(tmp_path, files, linked=("high",))
    assert "app.high.b" in graph.modules
    assert set(circle(graph.arrows(str))) == {"app.low.a", "app.high.b"}
    assert len(graph.upward(FLOORS, room)) == 1


def test_imports_around_the_names_of_the_tree_are_told(tmp_path: Path) -> None:
    files = {"app/low/a.py": "from . import b", "app/low/b.py": "from high.c import x\nimport high", "high/c.py": ""}
    graph = tree(tmp_path, files, linked=("high",))
    assert [line.split(": ", 1)[1] for line in graph.strangers] == [
        "relative import", "high.c by its folder's own name", "high by its folder's own name",
    ]  # fmt: skip


def test_names_in_strings_and_the_packages_above_do_not_count(tmp_path: Path) -> None:
    files = {"app/low/a.py": "x = 'app.high.b:Name'", "app/low/b.py": "import app.low.a", "app/high/b.py": ""}
    graph = tree(tmp_path, {**files, "app/low/__init__.py": "from app.low.b import x"})
    assert circle(graph.arrows(str)) == []
    assert graph.upward(FLOORS, room) == []


def test_what_the_figures_count() -> None:
    rooms = {"elicit_gym", "elicit_gym.types", "elicit_gym.llm.cache", "elicit_gym.llm", "benchmarks.common"}
    assert {top_level_room(module) for module in rooms} == {
        "elicit_gym", "elicit_gym.types", "elicit_gym.llm", "benchmarks",
    }  # fmt: skip
