"""A command's options in a file: ``--config run.yaml``, which a run's folder echoes."""

import re
from pathlib import Path
from typing import Annotated, Any

import typer

from elicit_gym.errors import SettingError
from elicit_gym.file_limits import current_limits, decode_text, read_bytes

__all__ = ["ConfigOption", "given_options"]

_NOT_OF_THE_RUN = ("config", "out", "resume", "dry_run")
_OF_CODE = ("policies", "policy", "user", "judge", "env")
_PREFIX = re.compile(r"(?:[^=:]*=)?\s*([A-Za-z_][\w.]*):")
_OF_MODELS = ("http", "https", "litellm", "hf")


def _read(ctx: typer.Context, path: Path | None) -> Path | None:
    """Let the file's values stand where the command line says nothing."""
    if path is None or ctx.resilient_parsing:
        return path
    import yaml

    doing = f"Reading the options in {path}"
    text, _ = decode_text(read_bytes(path, current_limits()), str(path))
    try:
        loaded = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:  # ValueError: a date that is none
        raise SettingError(f"{doing}: expected a YAML file, got {' '.join(str(error).split())}.") from error
    if not isinstance(loaded, dict):
        raise SettingError(f"{doing}: expected a mapping from options to values, got {type(loaded).__name__}.")
    params = {param.name: param for param in ctx.command.params}
    values: dict[str, Any] = {}
    for key, value in loaded.items():
        name = str(key).removeprefix("--").replace("-", "_")
        param = params.get(name)
        if param is None or name in ("config", "help"):
            known = ", ".join(sorted(str(each).replace("_", "-") for each in params if each not in ("config", "help")))
            raise SettingError(f"{doing}: expected options of this command, got {key!r}. Known: {known}.")
        several = param.multiple or param.nargs == -1
        if isinstance(value, dict) or (isinstance(value, list) and not several):
            raise SettingError(f"{doing}: expected one value for {key!r}, got {type(value).__name__}.")
        values[name] = [value] if several and not isinstance(value, list) else value
        for each in value if isinstance(value, list) else [value]:
            _refuse_code(doing, name, str(each))
    ctx.default_map = {**(ctx.default_map or {}), **values}
    return path


def _refuse_code(doing: str, name: str, value: str) -> None:
    """Refuse what would import a module: a file may be a stranger's, and such names come from the command line."""
    found = _PREFIX.match(value)
    prefix = found[1] if found is not None else ""
    if prefix == "python" or (name in _OF_CODE and prefix and prefix not in _OF_MODELS):
        raise SettingError(
            f"{doing}: expected no name of code such as 'module:attribute', which only the command line may give, got "
            f"{value!r:.80} ({name}). Give it there."
        )


ConfigOption = Annotated[
    Path | None,
    typer.Option(
        "--config",
        help="Take options from this YAML file, by their long names; those on the command line go before them.",
        is_eager=True,
        callback=_read,
    ),
]


def given_options(ctx: typer.Context) -> str:
    """Return the options that were given, on the command line or in a file, as the text of such a file."""
    import yaml

    given: dict[str, Any] = {}
    for param in ctx.command.params:
        name = param.name or ""
        source = ctx.get_parameter_source(name)
        if name in _NOT_OF_THE_RUN or source is None or source.name in ("DEFAULT", "ENVIRONMENT"):
            continue
        value = ctx.params.get(name)
        if value is None or value == ():
            continue
        shown = [str(v) for v in value] if isinstance(value, list | tuple) else value
        given[name.replace("_", "-")] = str(shown) if isinstance(shown, Path) else shown
    return str(yaml.safe_dump(given, sort_keys=False, allow_unicode=True))
