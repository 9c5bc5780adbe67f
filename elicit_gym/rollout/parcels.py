"""What a runner needs on a machine that sees none of this one's files: it travels with all of it."""

import atexit
import io
import os
import shutil
import sys
import sysconfig
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache, lru_cache
from pathlib import Path
from types import ModuleType
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.registration import environment_spec
from elicit_gym.rollout.units import UnitRunner

__all__ = ["Parcel", "is_local", "pack", "unpack"]

PATHS = frozenset({"prompts", "scenarios"})
"""The arguments of environments and parts that may name a file or a folder."""


@dataclass(frozen=True, kw_only=True)
class Parcel:
    """A runner, packed.

    Attributes:
        runner: pickled; modules that other machines cannot import are in it by value.
        files: of the paths that its arguments name, as tar archives, by path.
        variables: environment variables by name, such as keys. They do not show when the parcel is printed.
    """

    runner: bytes = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)
    variables: Mapping[str, str] = field(repr=False)


def pack(runner: UnitRunner, *, variables: tuple[str, ...] = (), by_value: bool = True) -> Parcel:
    """Pack a runner for machines that see none of this one's files.

    Args:
        runner: what runs the units.
        variables: the names of environment variables that are sent along.
        by_value: whether modules that lie outside of Python's own folders travel with their code. Turn it off where
            they lie on the other machines too.

    Raises:
        SettingError: something cannot be pickled, or a variable is not set.
    """
    import cloudpickle

    missing = [name for name in variables if name not in os.environ]
    if missing:
        raise SettingError(
            f"Sending environment variables to other machines: expected {missing[0]} to be set, got none. Export it."
        )
    try:
        with _local_modules_by_value() if by_value else _as_they_are():
            packed = cloudpickle.dumps(runner)
    except Exception as error:
        raise SettingError(
            f"Sending policies and environment to other machines: expected what can be pickled, got "
            f"{type(error).__name__}: {error}. Make what cannot travel where it is used, or send its folder with "
            "--working-dir."
        ) from error
    paths = sorted({path for path in _paths(_arguments(runner)) if Path(path).exists()})
    return Parcel(
        runner=packed,
        files={path: _archive(Path(path)) for path in paths},
        variables={name: os.environ[name] for name in variables},
    )


def unpack(parcel: Parcel) -> UnitRunner:
    """Return the runner on the other machine; its files lie in a folder that is gone when the process ends."""
    import cloudpickle

    os.environ.update(parcel.variables)
    runner: UnitRunner = cloudpickle.loads(parcel.runner)
    if parcel.files:
        folder = Path(tempfile.mkdtemp(prefix="elicit-gym-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        places = {}
        for number, (path, archive) in enumerate(parcel.files.items()):
            with tarfile.open(fileobj=io.BytesIO(archive)) as files:
                files.extractall(folder / str(number), filter="data")
            places[path] = str(folder / str(number) / Path(path).name)
        runner.env_kwargs = _placed(_arguments(runner), places)
    return runner


def _arguments(runner: UnitRunner) -> dict[str, Any]:
    return {**environment_spec(runner.env_id).kwargs, **runner.env_kwargs}


def _paths(value: Any) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, inner in value.items():
            if name in PATHS and isinstance(inner, str | Path):
                yield str(inner)
            else:
                yield from _paths(inner)


def _placed(value: Any, places: Mapping[str, str]) -> Any:
    if not isinstance(value, Mapping):
        return value
    return {
        name: places.get(str(inner), inner)
        if name in PATHS and isinstance(inner, str | Path)
        else _placed(inner, places)
        for name, inner in value.items()
    }


def _archive(path: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as files:
        files.add(path.resolve(), arcname=path.name)
    return packed.getvalue()


@contextmanager
def _as_they_are() -> Iterator[None]:
    yield


@contextmanager
def _local_modules_by_value() -> Iterator[None]:
    from cloudpickle import register_pickle_by_value, unregister_pickle_by_value

    # A package counts with all that is in it, so it is enough to name what lies at the top.
    modules = [module for name, module in sorted(sys.modules.items()) if "." not in name and is_local(module)]
    for module in modules:
        register_pickle_by_value(module)
    try:
        yield
    finally:
        for module in modules:
            unregister_pickle_by_value(module)


def is_local(module: ModuleType) -> bool:
    """Say whether a module lies outside of the folders of Python, of what is installed, and of this package.

    Args:
        module: at the top; one inside a package may say anything about where it lies.
    """
    name = getattr(module, "__name__", "")
    if name in ("__main__", __name__.partition(".")[0]):
        return False
    # A package without an __init__.py has no file, but folders.
    file = getattr(module, "__file__", None)
    places = [file] if isinstance(file, str) else list(getattr(module, "__path__", ()) or ())
    return any(Path(place).is_absolute() and not _is_installed(place) for place in places)


@cache
def _is_installed(place: str) -> bool:
    return any(Path(place).resolve().is_relative_to(folder) for folder in _installed())


@lru_cache(maxsize=1)
def _installed() -> tuple[Path, ...]:
    named = {sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")}
    searched = {entry for entry in sys.path if Path(entry).name in ("site-packages", "dist-packages")}
    return tuple(Path(folder).resolve() for folder in named | searched if folder)
