"""Files, written whole or not at all."""

import os
import secrets
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from elicit_gym.errors import SettingError

__all__ = ["appending", "check_output", "replacing", "write_text", "writing"]


def check_output(path: Path, inputs: Iterable[Path] = ()) -> None:
    """Check that a file or folder can be written, before the work whose result it is to hold.

    Args:
        path: where it goes.
        inputs: files and folders that are being read: `path` may be none of them, nor a file that lies below them.

    Raises:
        SettingError: `path` is an input, or what there is above it is not a folder to write to.
    """
    target = Path(os.path.realpath(path))
    for source in inputs:
        real = Path(os.path.realpath(source))
        if target == real or (real in target.parents and target.exists()):
            raise SettingError(
                f"Writing {path}: expected another file than the input, got the input. Choose another name."
            )
    above = next((folder for folder in target.parents if folder.exists()), target)
    if not above.is_dir() or not os.access(above, os.W_OK | os.X_OK):
        raise _not_writable(path, above)


@contextmanager
def replacing(path: Path, *, folder: bool = False, inputs: Iterable[Path] = ()) -> Iterator[Path]:
    """Give the path of a file that takes the place of `path` when the block ends, and leaves nothing when it fails.

    It is for libraries that write by name: it lies beside `path`, has its ending, and is renamed. Folders above it are
    made if need be.

    Args:
        path: where it goes; a link is followed, an old file's permissions stay.
        folder: whether a folder is written in place of a file, which is there when the block begins.
        inputs: see `check_output`.

    Raises:
        SettingError: `path` is an input, or cannot be written, or a text holds half of a surrogate pair.
    """
    check_output(path, inputs)
    target = Path(os.path.realpath(path))
    if target.exists() and target.is_dir() is not folder:
        expected, got = ("folder", "file") if folder else ("file", "folder")
        raise SettingError(f"Writing {path}: expected a {expected}, got a {got}. Choose another name.")
    beside = target.with_name(f".{secrets.token_hex(4)}.tmp.{target.name[-80:]}")
    try:
        (beside if folder else target.parent).mkdir(parents=True, exist_ok=True)
        yield beside
        _take_place(beside, target)
    except OSError as error:
        raise _not_writable(path, error) from error
    except UnicodeEncodeError as error:
        raise SettingError(
            f"Writing {path}: expected text, got half of a surrogate pair, {error.object[error.start : error.end]!r}. "
            "Remove it from the input."
        ) from error
    finally:
        _remove(beside)


def _take_place(new: Path, target: Path) -> None:
    old = new.with_name(f"{new.name}.old")
    if target.is_file():
        new.chmod(target.stat().st_mode & 0o7777)
    elif target.exists():  # a folder that holds anything cannot be renamed over
        os.replace(target, old)
    os.replace(new, target)
    _remove(old)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink()


@contextmanager
def writing(path: Path, *, binary: bool = False, inputs: Iterable[Path] = ()) -> Iterator[IO[Any]]:
    """Open a file that takes the place of `path` when the block ends, and leaves nothing when it fails.

    Text is strict UTF-8 with line feeds; all else is as in `replacing`.

    Args:
        path: where it goes.
        binary: whether bytes are written.
        inputs: see `check_output`.

    Raises:
        SettingError: see `replacing`.
    """
    text_settings: dict[str, Any] = {} if binary else {"encoding": "utf-8", "errors": "strict", "newline": "\n"}
    with (
        replacing(path, inputs=inputs) as beside,
        beside.open("xb" if binary else "x", **text_settings) as file,
    ):
        yield file


def write_text(path: Path, text: str, *, inputs: Iterable[Path] = ()) -> None:
    """Write a text so that a kill or a full disk leaves the old file or the new one; see `writing`."""
    with writing(path, inputs=inputs) as file:
        file.write(text)


def appending(path: Path) -> IO[str]:
    """Open a file of lines to go on with, made if need be: strict UTF-8 with line feeds.

    A kill leaves half a line at worst, which `elicit_gym.json_files` knows how to read.

    Raises:
        SettingError: it cannot be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        return path.open("a", encoding="utf-8", errors="strict", newline="\n")
    except OSError as error:
        raise _not_writable(path, error) from error


def _not_writable(path: Path, reason: object) -> SettingError:
    reason = getattr(reason, "strerror", None) or reason
    return SettingError(f"Writing {path}: expected a place to write to, got {reason}. Choose another.")
