"""JSON on disk: the one reader of JSON files and JSON lines, and whole files that a kill never leaves half written.

Whatever is wrong with a line, its file and number are reported. UTF-8, UTF-16 and UTF-32 are read, with a byte-order
mark or without, as `json.loads` reads bytes. How long a line may be, and how large a file, is limited by
`elicit_gym.files.current_limits`.
"""

import json
import os
import warnings
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from elicit_gym.errors import StorageError
from elicit_gym.file_limits import MEGABYTE, RAISE, check_size, current_limits
from elicit_gym.files import appending, write_text
from elicit_gym.strict_json import UnfitJSONError, json_text, parse_json

__all__ = [
    "UnfinishedLineWarning",
    "append_lines",
    "parse_line",
    "parse_lines",
    "read_json",
    "read_lines",
    "read_records",
    "read_text",
    "resume_records",
    "write_json",
]

T = TypeVar("T")


class UnfinishedLineWarning(UserWarning):
    """The last line of a file was cut off by a kill, and does not count."""


class _Line(NamedTuple):
    """A line that is not blank: its value, or what is wrong with it."""

    number: int
    start: int
    """The number of bytes before it, in a UTF-8 file only."""
    value: Any
    error: Exception | None
    finished: bool
    """Whether a newline ends it."""


def write_json(path: Path, value: Any) -> None:
    """Write JSON so that a kill leaves the old file or the new one, never half of it.

    Raises:
        StorageError: the value holds a number that is not finite.
        SettingError: the file cannot be written.
    """
    write_text(path, json_text(value, indent=2) + "\n")


def append_lines(path: Path, lines: str) -> None:
    """Add whole lines to the end of a file, made if need be; see `elicit_gym.files.appending`."""
    with appending(path) as file:
        file.write(lines)


def read_text(path: Path) -> str:
    """Read a text file in the encoding that its first bytes indicate.

    Raises:
        StorageError: there is no such file, it is too large, or it is not text in that encoding.
    """
    limit = current_limits().total
    try:
        with path.open("rb") as file:
            check_size(path, file, limit)
            data = file.read()
        return data.decode(json.detect_encoding(data), "surrogatepass")
    except OSError as error:
        raise _no_file(path, error) from error
    except UnicodeDecodeError as error:
        raise StorageError(f"Reading {path}: {_not_text(error)}") from error


def read_json(path: Path, what: str) -> Any:
    """Read a file that is one JSON value.

    Args:
        path: of the file.
        what: it should be, for the error.

    Raises:
        StorageError: there is none, it is too large, or it is not JSON.
    """
    limit = current_limits().text
    try:
        with path.open("rb") as file:
            check_size(path, file, limit)
            data = file.read()
        return parse_json(data.decode(json.detect_encoding(data), "surrogatepass").removeprefix("\ufeff"))
    except OSError as error:
        raise StorageError(f"Reading {path}: expected {what}, got {error.strerror}. Check the path.") from error
    except ValueError as error:
        raise StorageError(
            f"Reading {path}: expected {what}, got text that is not JSON ({error}). Get the file again, or correct it."
        ) from error


def parse_line(text: str, where: str) -> Any:
    """Return the value of one line.

    Raises:
        StorageError: it does not parse.
    """
    try:
        return parse_json(text)
    except ValueError as error:
        raise StorageError(f"{where}: {_sentence(error, finished=True)}") from error


def read_lines(path: Path, *, problems: list[str] | None = None) -> Iterator[tuple[int, Any]]:
    """Yield the number and the value of each line while the file is read; blank lines are skipped.

    Args:
        path: the file's path.
        problems: gets a sentence for each line that cannot be read, which is then skipped; if None, such a line raises.

    Raises:
        StorageError: there is no such file, or a line cannot be read.
    """
    try:
        with path.open("rb") as file:
            check_size(path, file, current_limits().records)
            yield from parse_lines(file, str(path), problems=problems)
    except OSError as error:
        if problems is None:
            raise _no_file(path, error) from error
        problems.append(str(_no_file(path, error)))


def parse_lines(file: IO[bytes], name: str, *, problems: list[str] | None = None) -> Iterator[tuple[int, Any]]:
    """Do what `read_lines` does for an open file, from its beginning.

    Args:
        file: a file opened in binary mode, for example a member of an archive.
        name: the file's name, for error messages.
        problems: see `read_lines`.

    Raises:
        StorageError: a line cannot be read.
    """
    for line in _lines(file):
        if line.error is None:
            yield line.number, line.value
            continue
        sentence = f"{name}:{line.number}: {_sentence(line.error, line.finished)}"
        if problems is None:
            raise StorageError(sentence) from line.error
        problems.append(sentence)


def read_records(
    path: Path, convert: Callable[[Any], T], *, what: str, advice: str = "Fix the line.", own: bool = False
) -> Iterator[T]:
    """Yield the object made from each line while the file is read.

    Args:
        path: the file's path.
        convert: makes the object from a line's value; it may raise AttributeError, LookupError, TypeError, ValueError
            or ArithmeticError.
        what: what a line should be, for error messages.
        advice: what to do about a bad line, for error messages.
        own: whether this program appends to the file, so that a kill may have cut off its last line, which is then
            skipped with an `UnfinishedLineWarning`. In any other file it is an error.

    Raises:
        StorageError: there is no such file, or a line cannot be read.
    """
    try:
        with path.open("rb") as file:
            check_size(path, file, current_limits().records)
            for line in _lines(file):
                if own and line.error is not None and not line.finished:
                    _warn(path, line, "It does not count")
                    return
                yield _converted(path, line, convert, what, advice)
    except OSError as error:
        raise _no_file(path, error) from error


def resume_records(
    path: Path, convert: Callable[[Any], T], *, what: str, advice: str = "Remove the line, or start over."
) -> list[T]:
    """Read a file that this program appends to, and repair its end, so that more can be appended.

    A last line that was cut off is removed, with an `UnfinishedLineWarning`. One that lacks nothing but its newline
    counts, and the newline is added.

    Args:
        path: the file's path; a file that does not exist is read as empty.
        convert: see `read_records`.
        what: see `read_records`.
        advice: see `read_records`.

    Raises:
        StorageError: a line cannot be read, or the file is no longer UTF-8, so that nothing can be appended.
    """
    if not path.exists():
        return []
    found: list[T] = []
    unfinished: _Line | None = None
    with path.open("rb") as file:
        encoding = _encoding(file)
        if encoding != "utf-8":
            raise StorageError(
                f"Going on with {path}: expected UTF-8, as it was written, got {encoding}. Convert it back."
            )
        for line in _lines(file):
            unfinished = None if line.finished else line
            if line.error is None or line.finished:
                found.append(_converted(path, line, convert, what, advice))
    if unfinished is not None and unfinished.error is not None:
        _warn(path, unfinished, "It was taken away")
        os.truncate(path, unfinished.start)
    elif unfinished is not None:
        append_lines(path, "\n")
    return found


def _no_file(path: Path, error: OSError) -> StorageError:
    return StorageError(f"Reading {path}: expected a file, got {error.strerror or error}. Check the path.")


def _warn(path: Path, line: _Line, what: str) -> None:
    warnings.warn(
        f"{path}:{line.number}: expected a whole last line, got the beginning of one, as a kill leaves it. {what}.",
        UnfinishedLineWarning,
        stacklevel=4,
    )


def _converted(path: Path, line: _Line, convert: Callable[[Any], T], what: str, advice: str) -> T:
    if line.error is not None:
        sentence = _sentence(line.error, line.finished, what, advice)
        raise StorageError(f"{path}:{line.number}: {sentence}") from line.error
    if not isinstance(line.value, dict):
        found = repr(line.value)[:40]
        raise StorageError(f"{path}:{line.number}: expected {what}, got a line with {found}, not an object. {advice}")
    try:
        return convert(line.value)
    except (AttributeError, LookupError, TypeError, ValueError, ArithmeticError) as error:
        raise StorageError(
            f"{path}:{line.number}: expected {what}, got a line that cannot be read as one "
            f"({type(error).__name__}: {error}). {advice}"
        ) from error


def _encoding(file: IO[bytes]) -> str:
    """Return the encoding that the first bytes indicate; the file is left at its beginning, or after UTF-8's mark."""
    file.seek(0)
    encoding = json.detect_encoding(file.read(4))
    file.seek(3 if encoding == "utf-8-sig" else 0)
    return "utf-8" if encoding == "utf-8-sig" else encoding


def _lines(file: IO[bytes]) -> Iterator[_Line]:
    encoding = _encoding(file)
    start = file.tell()
    number = 0
    limit = current_limits().entry
    try:
        # UTF-8 is read as bytes, line by line, so that a line that is not text can be reported by its number.
        for raw in _bounded(file, limit) if encoding == "utf-8" else _as_utf8(file, encoding, limit):
            number += 1
            if len(raw) > limit:
                yield _Line(number, start, None, _too_long(limit), finished=True)
            elif raw.strip():
                yield _line(raw, number, start)
            start += len(raw)
    except UnicodeDecodeError as error:
        yield _Line(number + 1, start, None, error, finished=True)


def _bounded(file: Any, limit: int) -> Iterator[Any]:
    """Yield the lines of a file; of one that is longer than the limit, that much and a bit, and the rest is skipped."""
    while raw := file.readline(limit + 1):
        yield raw
        while len(raw) > limit and raw[-1:] not in (b"\n", "\n") and (raw := file.readline(limit + 1)):
            pass


def _as_utf8(file: IO[bytes], encoding: str, limit: int) -> Iterator[bytes]:
    for line in _bounded(TextIOWrapper(file, encoding, "surrogatepass", newline="\n"), limit):
        yield line.encode("utf-8", "surrogatepass")


def _too_long(limit: int) -> ValueError:
    return UnfitJSONError(f"more than {limit / MEGABYTE:.4g} MB; {RAISE}")


def _line(raw: bytes, number: int, start: int) -> _Line:
    # A line that can be told to hold something else is not the beginning of a sound one.
    finished = raw.endswith(b"\n")
    try:
        value = parse_json(raw.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        return _Line(number, start, None, error, finished or isinstance(error, UnfitJSONError))
    return _Line(number, start, value, None, finished)


def _sentence(
    error: Exception, finished: bool, what: str = "one JSON value on the line", advice: str = "Fix the line."
) -> str:
    if not finished:
        return (
            f"expected {what}, got text that does not parse ({error}) and no newline: the file may be cut off here. "
            "Get it again, or remove the line."
        )
    if isinstance(error, UnicodeDecodeError):
        return _not_text(error)
    return f"expected {what}, got text that does not parse ({error}). {advice}"


def _not_text(error: UnicodeDecodeError) -> str:
    return f"expected {error.encoding.upper()} text, got {error.reason}. Convert the file."
