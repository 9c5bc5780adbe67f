"""JSON read strictly, and its leaves by path: what the check holds the result against."""

import json
from collections.abc import Iterator
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.file_limits import FileLimits

__all__ = ["Path", "all_text", "leaf_text", "leaves", "load_json", "shown"]

Path = tuple[str | int, ...]

_MAX_DEPTH = 100


def load_json(text: str, path: str, limits: FileLimits) -> Any:
    """Parse JSON, or JSON lines as a list.

    Raises:
        SettingError: it is neither, too deep, or an object has a name twice, of which one would be lost.
    """
    try:
        value = _parse(text, path, "")
    except json.JSONDecodeError as error:
        lines = [(i, line) for i, line in enumerate(text.split("\n"), 1) if line.strip()]
        if len(lines) < 2 or error.msg != "Extra data":
            raise SettingError(
                f"Importing {path}: expected JSON, got {error.msg} (line {error.lineno}, column {error.colno}). "
                "Fix the file."
            ) from error
        value = []
        for number, line in lines:
            try:
                value.append(_parse(line, path, f":{number}"))
            except json.JSONDecodeError as problem:
                raise SettingError(
                    f"Importing {path}:{number}: expected one JSON value per line, got text that does not parse "
                    f"({problem.msg}, column {problem.colno}). Fix the line."
                ) from problem
    for where, leaf in _walk(value, ()):
        if len(where) > _MAX_DEPTH:
            raise _too_deep(path, "")
        if isinstance(leaf, str) and len(leaf) > limits.line:
            raise SettingError(
                f"Importing {path}: expected texts of at most {limits.line:,} characters, got {len(leaf):,} "
                f"({shown(where)}). Raise the limit (--max-mb) if you trust the file."
            )
    return value


def _parse(text: str, path: str, line: str) -> Any:
    def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        made = dict(pairs)
        if len(made) < len(pairs):
            names = [name for name, _ in pairs]
            twice = next(name for name in names if names.count(name) > 1)
            raise SettingError(
                f"Importing {path}{line}: expected each name once in an object, got {twice[:60]!r} twice. "
                "Rename one, since only one of them could be kept."
            )
        return made

    try:
        return json.loads(text, object_pairs_hook=unique)
    except RecursionError as error:
        raise _too_deep(path, line) from error
    except json.JSONDecodeError:
        raise
    except SettingError:
        raise
    except ValueError as error:  # an integer of thousands of digits
        raise SettingError(f"Importing {path}{line}: expected JSON, got {error}. Fix the file.") from error


def _too_deep(path: str, line: str) -> SettingError:
    return SettingError(
        f"Importing {path}{line}: expected JSON of at most {_MAX_DEPTH} levels, got more. Fix the file."
    )


def _walk(value: Any, where: Path) -> Iterator[tuple[Path, Any]]:
    """Yield every scalar with its path, without recursion and without a list of all."""
    if not isinstance(value, dict | list):
        yield where, value
        return
    stack: list[tuple[Path, Iterator[tuple[str | int, Any]]]] = [(where, _items(value))]
    while stack:
        at, items = stack[-1]
        found = next(items, None)
        if found is None:
            stack.pop()
        elif isinstance(found[1], dict | list):
            stack.append(((*at, found[0]), _items(found[1])))
        else:
            yield (*at, found[0]), found[1]


def _items(value: dict[str, Any] | list[Any]) -> Iterator[tuple[str | int, Any]]:
    return iter(value.items() if isinstance(value, dict) else enumerate(value))


def leaf_text(value: Any) -> str:
    """Return a scalar as text; null is none."""
    return "" if value is None else value if isinstance(value, str) else str(value)


def all_text(value: Any) -> str:
    """Return the text of all scalars below a value, for a piece that stands for all of it."""
    if not isinstance(value, dict | list):
        return leaf_text(value)
    return " ".join(text for _, leaf in _walk(value, ()) if (text := leaf_text(leaf)))


def leaves(value: Any, where: Path = ()) -> Iterator[tuple[Path, str, str]]:
    """Yield every scalar below a value: path, no words for it (`shown` writes them), text."""
    for at, leaf in _walk(value, where):
        yield at, "", leaf_text(leaf)


def shown(where: Path) -> str:
    """Write a path as people do: ``messages[3].content``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).lstrip(".")
    return text[:120] or "the file"
