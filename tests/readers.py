"""Where the package reads what lies outside of it: every call of something that opens, unpacks or parses."""

import ast
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT
from tests.import_graph import read_graph

OPENING = frozenset(
    {
        # The standard library's, and other packages'.
        "open", "loads", "read_text", "read_bytes", "load", "load_file", "safe_open", "open_file", "open_stream", "memory_map",
        "read_record_batch", "reader", "DictReader", "ZipFile", "connect", "from_pretrained", "PdfReader", "fromstring",
        "safe_load", "json", "snapshot_download", "load_from_disk", "read_parquet", "read_csv", "loadtxt", "fromfile",
        # This package's own.
        "read_lines", "read_records", "resume_records", "parse_line", "parse_lines", "read_json", "read_entry", "decode_text",
        "KeyValueStore", "parse_json", "read_prompt",
    }
)  # fmt: skip


def calls_that_open() -> dict[str, set[str]]:
    """Return what is called to read, by ``module:function``, without the prefix ``elicit_gym.``."""
    found: dict[str, set[str]] = {}
    for name, path in read_graph(ROOT, ("elicit_gym",), ("agents", "offline")).modules.items():
        for function, called in _calls(path):
            found.setdefault(f"{name.removeprefix('elicit_gym.')}:{function}", set()).add(called)
    return found


def _calls(path: Path) -> Iterator[tuple[str, str]]:
    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, str]]:
        for inner in ast.iter_child_nodes(node):
            if isinstance(inner, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                yield from walk(inner, f"{function}.{inner.name}".lstrip("."))
                continue
            if isinstance(inner, ast.Call):
                called = inner.func.attr if isinstance(inner.func, ast.Attribute) else getattr(inner.func, "id", "")
                if called in OPENING and not _writes(inner):
                    yield function, called
            yield from walk(inner, function)

    yield from walk(ast.parse(path.read_text(encoding="utf-8")), "")


def _writes(call: ast.Call) -> bool:
    modes = [a.value for a in (*call.args, *(k.value for k in call.keywords)) if isinstance(a, ast.Constant)]
    return any(isinstance(mode, str) and mode in ("w", "a", "x", "wb", "ab", "xb") for mode in modes)
