"""One process at a time writes to a folder: two that resume one run would pay for the same episodes twice."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from elicit_gym.errors import SettingError

__all__ = ["lock_folder", "locked_folder"]

LOCK = ".lock"
"""The file that is locked. It may stay behind: what counts is whether a living process holds it."""


def lock_folder(folder: Path) -> FileLock:
    """Take the lock of a folder, which is made if need be; a process that ends in any way gives it back.

    Returns:
        The lock, to be released.

    Raises:
        SettingError: another process (or this one, elsewhere) has it, or the folder cannot be written to.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / LOCK, timeout=0)
        lock.acquire()
    except Timeout as error:
        raise SettingError(
            f"Writing to {folder}: expected a folder that nothing else writes to, got one that another run is using. "
            "Wait for it, stop it, or choose another folder."
        ) from error
    except OSError as error:
        raise SettingError(
            f"Writing to {folder}: expected a folder to write to, got {error.strerror or error}. Choose another."
        ) from error
    return lock


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder while the block runs; see `lock_folder`."""
    lock = lock_folder(folder)
    try:
        yield
    finally:
        lock.release()
