"""Who imports whom: the graph of a source tree, its circles, and the imports that run up. Run it to see the figures.

What counts as an import is decided here, once:

- imports at module level, inside functions and under ``TYPE_CHECKING`` all count. A late import hides a circle from the
  interpreter, and one for the type checker hides it from both, but the two files still cannot be understood, tested or
  moved without each other;
- ``from package import name`` is an import of ``package.name`` where that is a module, else of ``package``;
- the packages above an imported module, whose ``__init__`` Python runs on the way, do not count;
- names in strings (the registries, Gymnasium's entry points, the lazy names of `elicit_gym`) are data and do not count.

The tree is walked as Python sees it, through symbolic links: ``elicit_gym/agents`` and ``elicit_gym/offline`` are links.
"""

import ast
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import Literal

__all__ = ["Graph", "Import", "circle", "read_graph", "top_level_room"]

Kind = Literal["module", "function", "type-checking"]


@dataclass(frozen=True, slots=True)
class Import:
    """One module imports another.

    Attributes:
        importer, imported: dotted names of modules of the tree.
        where: file and line.
        kind: at which level it stands.
    """

    importer: str
    imported: str
    where: str
    kind: Kind


@dataclass(frozen=True)
class Graph:
    """The modules of a tree and the imports among them.

    Attributes:
        modules: file by dotted name.
        imports: those between two different modules of the tree.
        strangers: imports that go around the tree's own names: relative ones, and those of a linked folder by its own
            name (``agents.load`` in place of ``elicit_gym.agents.load``). One line each.
    """

    modules: Mapping[str, Path]
    imports: tuple[Import, ...]
    strangers: tuple[str, ...]

    def arrows(self, room_of: Callable[[str], str]) -> set[tuple[str, str]]:
        """Return the imports between rooms, each pair once."""
        pairs = {(room_of(found.importer), room_of(found.imported)) for found in self.imports}
        return {(first, second) for first, second in pairs if first != second}

    def upward(self, floors: Sequence[Sequence[str]], room_of: Callable[[str], str]) -> list[str]:
        """Return one line for each import that does not lead to a lower floor or stay in its room.

        Args:
            floors: from the ground up; rooms on one floor do not import each other, save on the ground.
            room_of: the room of a module.
        """
        level = {room: height for height, rooms in enumerate(floors) for room in rooms}
        problems = [f"{room} stands on no floor" for room in sorted({room_of(m) for m in self.modules} - level.keys())]
        for found in self.imports:
            ours, theirs = room_of(found.importer), room_of(found.imported)
            if ours == theirs or ours not in level or theirs not in level:
                continue
            if level[theirs] > level[ours] or (level[theirs] == level[ours] > 0):
                problems.append(f"{found.where}: {found.importer} imports {found.imported} ({found.kind})")
        return problems


def circle(arrows: set[tuple[str, str]]) -> list[str]:
    """Return the nodes of a circle, the first one again at the end; empty where there is none."""
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for first, second in sorted(arrows):
        sorter.add(first, second)
    try:
        sorter.prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def read_graph(root: Path, packages: Sequence[str], linked: Sequence[str] = ()) -> Graph:
    """Read a source tree.

    Args:
        root: where the packages lie.
        packages: folders to walk, through links.
        linked: top-level folders that are reached through links and must not be imported by their own names.
    """
    modules = {name: path for package in packages for name, path in _modules(root, root / package)}
    imports: list[Import] = []
    strangers: list[str] = []
    for name, path in modules.items():
        for node, kind in _import_nodes(ast.parse(path.read_text(encoding="utf-8")), "module"):
            where = f"{path.relative_to(root)}:{node.lineno}"
            if isinstance(node, ast.ImportFrom) and node.level:
                strangers.append(f"{where}: relative import")
                continue
            for target in _targets(node, modules):
                if target.split(".")[0] in linked:
                    strangers.append(f"{where}: {target} by its folder's own name")
                if target in modules and target != name:
                    imports.append(Import(name, target, where, kind))
    return Graph(modules, tuple(imports), tuple(strangers))


def _modules(root: Path, package: Path) -> Iterator[tuple[str, Path]]:
    for folder, folders, files in os.walk(package, followlinks=True):
        folders[:] = sorted(name for name in folders if name != "__pycache__")
        for file in sorted(files):
            if file.endswith(".py"):
                path = Path(folder, file)
                parts = path.relative_to(root).with_suffix("").parts
                yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def _import_nodes(tree: ast.AST, kind: Kind) -> Iterator[tuple[ast.Import | ast.ImportFrom, Kind]]:
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, kind
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for inside in node.body:
                yield from _import_nodes(ast.Module([inside], []), "type-checking")
            for other in node.orelse:
                yield from _import_nodes(ast.Module([other], []), kind)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _import_nodes(node, "function")
        else:
            yield from _import_nodes(node, kind)


def _targets(node: ast.Import | ast.ImportFrom, modules: Mapping[str, Path]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
        return
    for alias in node.names:
        inside = f"{node.module}.{alias.name}"
        yield inside if inside in modules else node.module or ""


def top_level_room(module: str) -> str:
    """Return the room that the figures count: what lies directly in `elicit_gym` (a folder or a file), or benchmarks."""
    return ".".join(module.split(".")[:2]) if module.startswith("elicit_gym") else module.split(".", maxsplit=1)[0]


if __name__ == "__main__":
    graph = read_graph(Path(__file__).resolve().parent.parent, ("elicit_gym", "benchmarks"), ("agents", "offline"))
    pairs = graph.arrows(top_level_room)
    print(f"{len({top_level_room(module) for module in graph.modules})} rooms, {len(pairs)} arrows between them")
    print("circle between rooms:", " -> ".join(circle(pairs)) or "none")
    print("circle between modules:", " -> ".join(circle(graph.arrows(str))) or "none")
