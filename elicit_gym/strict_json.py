"""JSON taken strictly: finite numbers, few levels, and every field of the type that it should have.

Whatever a text holds, `parse_json` returns a value that the rest of the package can walk, count and write again, or
raises a ValueError. `json_text` writes nothing that `parse_json` would refuse.
"""

import json
import math
import types
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import lru_cache
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from elicit_gym.errors import StorageError
from elicit_gym.redaction import redact, redact_json

__all__ = [
    "MAX_DEPTH",
    "UnfitJSONError",
    "bad_number",
    "from_json",
    "json_text",
    "parse_json",
    "typed",
    "without_bad_numbers",
]

T = TypeVar("T")

MAX_DEPTH = 100
"""The largest number of lists and objects in one another: what walks a value recursively has room for these."""
_LEAST_INT, _LARGEST_INT = -(2**63), 2**64
_PLAIN: dict[Any, str] = {
    str: "text", int: "a whole number", bool: "true or false", list: "a list", dict: "an object",
}  # fmt: skip


class UnfitJSONError(ValueError):
    """A text is JSON, or nearly, but too deep, or it has a number that is not finite."""


def _constant(name: str) -> float:
    raise UnfitJSONError(name)


def _number(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        raise UnfitJSONError(text)
    return value


_STRICT = json.JSONDecoder(parse_float=_number, parse_constant=_constant)
_LENIENT = json.JSONDecoder(parse_float=_number, parse_constant=_constant, strict=False)


def parse_json(text: str, *, control_characters: bool = False) -> Any:
    """Return the value of a JSON text.

    Args:
        text: without a byte-order mark.
        control_characters: whether texts may hold line feeds and the like as they are, which some models write.

    Raises:
        UnfitJSONError: a number is NaN or infinite, which is not JSON, or there are more than `MAX_DEPTH` levels.
        ValueError: it does not parse.
    """
    try:
        value = (_LENIENT if control_characters else _STRICT).decode(text)
    except RecursionError as error:
        raise UnfitJSONError(f"more than {MAX_DEPTH} levels") from error
    except UnfitJSONError as error:
        try:
            where = bad_number(json.loads(text, strict=not control_characters))
        except (ValueError, RecursionError):  # something else is wrong with it, too
            where = None
        raise UnfitJSONError(f"{str(error)[:40]} in {where or 'the text'}, which is not a finite number") from error
    if _is_deep(value):
        raise UnfitJSONError(f"more than {MAX_DEPTH} levels")
    return value


def _is_deep(value: Any) -> bool:
    """Say whether there are more levels than allowed; level by level, since that needs no recursion."""
    level = [value] if isinstance(value, dict | list) else []
    for _ in range(MAX_DEPTH):
        if not level:
            return False
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
    return bool(level)


def bad_number(value: Any) -> str | None:
    """Return where a value holds NaN or an infinite number, as ``turns[3].reward``; None where it holds none."""
    return next(_bad_numbers(value, ""), None)


def _bad_numbers(value: Any, where: str) -> Iterator[str]:
    if isinstance(value, float) and not math.isfinite(value):
        yield f"{where[:80]!r}" if where else "the value"
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _bad_numbers(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value):
            yield from _bad_numbers(inner, f"{where}[{i}]")


def without_bad_numbers(value: Any) -> Any:
    """Return a value of JSON types with null in place of NaN and infinite numbers: for logs of what others count."""
    if isinstance(value, Mapping):
        return {key: without_bad_numbers(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [without_bad_numbers(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def json_text(value: Any, *, indent: int | None = None, ascii_only: bool = True, sort_keys: bool = False) -> str:
    """Return a value as JSON text without known secrets: the one place where the package writes JSON.

    Args:
        value: of JSON types; tuples are written as lists.
        indent: the number of spaces per level; None for one line.
        ascii_only: whether other characters are escaped, so that halves of surrogate pairs survive too.
        sort_keys: whether objects are written in the order of their names.

    Raises:
        StorageError: it holds NaN or an infinite number, which are not JSON.
        TypeError: it holds something that is of no JSON type.
    """
    try:
        text = json.dumps(value, indent=indent, ensure_ascii=ascii_only, sort_keys=sort_keys, allow_nan=False)
        if redact(text) == text:
            return text
        # Replaced within the values, so that a number that reads like a secret stays a number.
        clean = redact_json(value)
        return json.dumps(clean, indent=indent, ensure_ascii=ascii_only, sort_keys=sort_keys, allow_nan=False)
    except ValueError as error:
        raise StorageError(
            f"Writing JSON: expected finite numbers, got another in {bad_number(value) or 'the value'} ({error}). "
            "Correct what computed it."
        ) from error


def from_json(kind: type[T], value: Any, where: str) -> T:
    """Make a dataclass of a JSON value.

    Args:
        kind: see `typed`.
        value: as JSON has it.
        where: it stands, for the error.

    Raises:
        StorageError: a field is missing, unknown, or of another type.
    """
    try:
        made: T = _convert(kind, value, "")
    except TypeError as error:
        raise StorageError(f"Reading {where}: {error}.") from error
    return made


def typed(kind: Any, value: Any, name: str) -> Any:
    """Return a JSON value as a type says, checked: for rows whose fields are not those of one dataclass.

    Args:
        kind: a JSON type (``list`` and ``dict`` for any contents), ``Mapping``, ``tuple``, ``list`` or ``Literal`` of
            these, or a dataclass with such fields.
        value: as JSON has it.
        name: of the field, for the error.

    Raises:
        TypeError: it is of another type; the message says what was expected and what was found.
    """
    return _convert(kind, value, name)


def _convert(kind: Any, value: Any, where: str) -> Any:
    rule = _PLAIN.get(kind)
    if rule is not None:
        if type(value) is not kind or (kind is int and not _LEAST_INT <= value < _LARGEST_INT):
            raise _wrong(where, rule, value)
        return value
    if kind is float:
        return _finite(value, where)
    if kind is Any:
        return value
    origin, arguments = get_origin(kind), get_args(kind)
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
    if origin is tuple or origin is list:
        if not isinstance(value, list):
            raise _wrong(where, "a list", value)
        return origin([_convert(arguments[0], inner, f"{where}[{i}]") for i, inner in enumerate(value)])
    if origin is None or not issubclass(origin, Mapping):  # ``dict`` is one
        raise AssertionError(f"{kind} is of no kind that JSON has")
    if not isinstance(value, dict):
        raise _wrong(where, "an object", value)
    inside = f"{where}." if where else ""
    return {key: _convert(arguments[1], inner, f"{inside}{key}") for key, inner in value.items()}


def _finite(value: Any, where: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            number = float(value)
        except OverflowError as error:
            raise _wrong(where, "a number", value) from error
        if math.isfinite(number):
            return number
    raise _wrong(where, "a number", value)


@lru_cache(maxsize=256)
def _plan(kind: Any) -> tuple[dict[str, Field[Any]], dict[str, Any], tuple[str, ...]]:
    """Return the fields of a dataclass, their types, and those that have no default."""
    known = {field.name: field for field in fields(kind) if field.init}
    required = [n for n, f in known.items() if f.default is MISSING and f.default_factory is MISSING]
    return known, get_type_hints(kind), tuple(required)


def _record(kind: Any, value: Any, where: str) -> Any:
    if not isinstance(value, dict):
        raise _wrong(where, "an object", value)
    known, hints, required = _plan(kind)
    before = f"{where}: " if where else ""
    for name in value:
        if name not in known:
            raise TypeError(f"{before}expected the fields {', '.join(known)}, got {name[:60]!r} too")
    for name in required:
        if name not in value:
            raise TypeError(f"{before}expected the field {name!r}, got none")
    inside = f"{where}." if where else ""
    return kind(**{name: _convert(hints[name], inner, f"{inside}{name}") for name, inner in value.items()})


def _wrong(where: str, rule: str, value: Any) -> TypeError:
    try:
        found = repr(value)
    except (ValueError, RecursionError):  # an integer of thousands of digits, or a value of thousands of levels
        found = f"a very long {type(value).__name__}"
    found = found if len(found) <= 60 else found[:57] + "..."
    return TypeError(f"{where}: expected {rule}, got {found}" if where else f"expected {rule}, got {found}")
