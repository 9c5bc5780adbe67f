"""Frozen dataclasses from JSON: every field checked against its type, and what is wrong told in one sentence."""

import json
import math
import types
from collections.abc import Mapping
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from elicit_gym.errors import StorageError

__all__ = ["from_json", "read_json"]

T = TypeVar("T")


def read_json(path: Path, what: str) -> Any:
    """Read a JSON file.

    Args:
        path: of the file.
        what: it should be, for the error.

    Raises:
        StorageError: there is none, or it is not JSON.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise StorageError(f"Reading {path}: expected {what}, got {error.strerror}. Check the path.") from error
    except (ValueError, RecursionError) as error:
        found = f"{type(error).__name__}: {error}"
        raise StorageError(f"Reading {path}: expected {what}, got text that is not JSON ({found}).") from error


def from_json(kind: type[T], value: Any, where: str) -> T:
    """Make a dataclass of a JSON value.

    Args:
        kind: the dataclass. Its fields are of JSON types, of ``Mapping``, ``tuple`` and ``Literal``, or dataclasses.
        value: as JSON has it.
        where: it stands, for the error.

    Raises:
        StorageError: a field is missing, unknown, or of another type.
    """
    made: T = _convert(kind, value, where)
    return made


def _convert(kind: Any, value: Any, where: str) -> Any:
    origin, arguments = get_origin(kind), get_args(kind)
    if kind is Any:
        return value
    if origin in (Union, types.UnionType):
        if value is None and types.NoneType in arguments:
            return None
        return _convert(next(a for a in arguments if a is not types.NoneType), value, where)
    if origin is Literal:
        if value not in arguments or isinstance(value, bool):
            raise _wrong(where, " or ".join(map(repr, arguments)), value)
        return value
    if is_dataclass(kind) and isinstance(kind, type):
        return _record(kind, value, where)
    if origin is tuple:
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        return tuple(_convert(arguments[0], inner, f"{where}[{i}]") for i, inner in enumerate(value))
    if origin is not None and issubclass(origin, Mapping):
        if not isinstance(value, dict):
            raise _wrong(where, "an object", value)
        return {key: _convert(arguments[1], inner, f"{where}.{key}") for key, inner in value.items()}
    if kind is float:
        if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
            return float(value)
        raise _wrong(where, "a number", value)
    if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
        raise _wrong(where, {str: "text", int: "a whole number", bool: "true or false"}[kind], value)
    return value


def _record(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(where, "an object", value)
    hints = get_type_hints(kind)
    known = {field.name: field for field in fields(kind) if field.init}
    unknown = sorted(set(value) - set(known))
    if unknown:
        raise StorageError(f"Reading {where}: expected the fields {', '.join(known)}, got {unknown[0]!r} too.")
    required = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING]
    missing = [name for name in required if name not in value]
    if missing:
        raise StorageError(f"Reading {where}: expected the field {missing[0]!r}, got none.")
    return kind(**{name: _convert(hints[name], inner, f"{where}: {name}") for name, inner in value.items()})


def _wrong(where: str, rule: str, value: Any) -> StorageError:
    found = repr(value)
    return StorageError(f"Reading {where}: expected {rule}, got {found if len(found) <= 60 else found[:57] + '...'}.")
