"""JSON on disk: the one reader of JSON lines, and whole files that a kill never leaves half written.

Whatever is wrong with a line, its file and number are reported. UTF-8, UTF-16 and UTF-32 are read, with a byte-order
mark or without, as `json.loads` reads bytes.
"""

import json
import os
import warnings
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path
from typing import IO, Any, NamedTuple, TypeVar

from elicit_gym.errors import StorageError
from elicit_gym.redaction import dump_json

__all__ = [
    "UnfinishedLineWarning",
    "parse_line",
    "parse_lines",
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
    """Write JSON, without known secrets, so that a kill leaves the old file or the new one, never half of it."""
    temporary = path.with_name(path.name + ".tmp")
    temporary.write_text(dump_json(value, indent=2) + "\n", encoding="utf-8")
    os.replace(temporary, path)


def read_text(path: Path) -> str:
    """Read a text file in the encoding that its first bytes indicate.

    Raises:
        StorageError: there is no such file, or it is not text in that encoding.
    """
    try:
        data = path.read_bytes()
        return data.decode(json.detect_encoding(data), "surrogatepass")
    except OSError as error:
        raise StorageError(f"Reading {path}: expected a file, got {error.strerror}. Check the path.") from error
    except UnicodeDecodeError as error:
        raise StorageError(f"Reading {path}: {_not_text(error)}") from error


def parse_line(text: str, where: str) -> Any:
    """Return the value of one line.

    Raises:
        StorageError: it does not parse.
    """
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
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
            yield from parse_lines(file, str(path), problems=problems)
    except OSError as error:
        sentence = f"Reading {path}: expected a file, got {error.strerror}. Check the path."
        if problems is None:
            raise StorageError(sentence) from error
        problems.append(sentence)


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
        convert: makes the object from a line's value; it may raise AttributeError, KeyError, TypeError or ValueError.
        what: what a line should be, for error messages.
        advice: what to do about a bad line, for error messages.
        own: whether this program appends to the file, so that a kill may have cut off its last line, which is then
            skipped with an `UnfinishedLineWarning`. In any other file it is an error.

    Raises:
        StorageError: there is no such file, or a line cannot be read.
    """
    try:
        with path.open("rb") as file:
            for line in _lines(file):
                if own and line.error is not None and not line.finished:
                    _warn(path, line, "It does not count")
                    return
                yield _converted(path, line, convert, what, advice)
    except OSError as error:
        raise StorageError(f"Reading {path}: expected a file, got {error.strerror}. Check the path.") from error


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
        with path.open("ab") as file:
            file.write(b"\n")
    return found


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
    try:
        return convert(line.value)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
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
    try:
        # UTF-8 is read as bytes, line by line, so that a line that is not text can be reported by its number.
        for raw in file if encoding == "utf-8" else _as_utf8(file, encoding):
            number += 1
            if raw.strip():
                yield _line(raw, number, start)
            start += len(raw)
    except UnicodeDecodeError as error:
        yield _Line(number + 1, start, None, error, finished=True)


def _as_utf8(file: IO[bytes], encoding: str) -> Iterator[bytes]:
    for line in TextIOWrapper(file, encoding, "surrogatepass", newline="\n"):
        yield line.encode("utf-8", "surrogatepass")


def _line(raw: bytes, number: int, start: int) -> _Line:
    finished = raw.endswith(b"\n")
    try:
        value = json.loads(raw.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        return _Line(number, start, None, error, finished)
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
