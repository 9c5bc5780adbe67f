"""How a command of the tool is made: its help in sections, and its options from a dataclass of settings."""

import inspect
from collections import defaultdict
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from types import NoneType
from typing import Annotated, Any, get_args, get_origin, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup

from elicit_gym.agents.training.settings import TrainingSettings, setting_metadata

__all__ = ["Command", "command_group", "takes_settings"]

PANEL = "Training settings"


class Command(TyperCommand):
    """A command whose help has a section for each panel and cuts no name short, however narrow the terminal is."""

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write arguments first, then the options by panel."""
        panels: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            kind = "Arguments" if param.param_type_name == "argument" else "Options"
            if record is not None:
                panels[getattr(param, "rich_help_panel", None) or kind].append(record)
        for title in sorted(panels, key=["Arguments", "Options"].__contains__, reverse=True):
            with formatter.section(title):
                # A third for the names: longer ones have a line of their own, and the sentences beside them have room.
                formatter.write_dl(panels[title], col_max=max(20, formatter.width // 3))


class Group(TyperGroup):
    """A group of commands whose help says what each of them does in a whole sentence."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write name and first paragraph of each command."""
        commands = ((name, self.get_command(ctx, name)) for name in self.list_commands(ctx))
        rows = [(name, (command.help or "").partition("\n\n")[0]) for name, command in commands if command]
        with formatter.section("Commands"):
            formatter.write_dl(rows)


def command_group(help_text: str, **more: Any) -> typer.Typer:
    """Return a group of commands; without a command it prints its help."""
    return typer.Typer(cls=Group, help=help_text, no_args_is_help=True, rich_markup_mode=None, **more)


def takes_settings(kind: type[TrainingSettings]) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command one option for each field of a settings dataclass.

    The command has an argument ``settings``, which gets the dataclass; name, type, default, limits and help of each
    option are those of the field. Typer reads the signature that is made here, so that these options are parsed,
    completed and explained as all others are.

    Args:
        kind: the dataclass.
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        own = inspect.signature(command, eval_str=True)
        hints = get_type_hints(kind)
        options = [_option(kind, each.name, each.default, hints[each.name]) for each in fields(kind)]

        @wraps(command)
        def run(**given: Any) -> None:
            values: dict[str, Any] = {each.name: given.pop(each.name) for each in fields(kind)}
            values = {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}
            command(settings=kind(**values), **given)

        others = [p.replace(kind=p.KEYWORD_ONLY) for p in own.parameters.values() if p.name != "settings"]
        run.__signature__ = own.replace(parameters=[*others, *options])  # type: ignore[attr-defined]
        return run

    return decorate


def _option(kind: type[TrainingSettings], name: str, default: Any, hint: Any) -> inspect.Parameter:
    about = setting_metadata(kind, name)
    flag = "--" + name.replace("_", "-")
    more: dict[str, Any] = {"help": about["help"], "rich_help_panel": PANEL}
    if hint is bool and default:
        flag += "/--no-" + flag.removeprefix("--")
    elif get_origin(hint) is tuple:
        hint, default = list[str], list(default)
        more["help"] += " Repeat the option to name several."
    elif NoneType in get_args(hint):
        (hint,) = (each for each in get_args(hint) if each is not NoneType)
        more |= {"parser": _or_none(hint), "metavar": f"<{hint.__name__}>|none"}
    elif hint in (int, float):
        more |= {"min": about["least"], "max": about["most"]}
    annotation = Annotated[hint, typer.Option(flag, **more)]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _or_none(number: Callable[[str], Any]) -> Callable[[Any], Any]:
    def parse(text: Any) -> Any:
        if text is None or str(text).lower() == "none":
            return None
        try:
            return number(text)
        except ValueError:
            raise ValueError(f"{text!r} is neither a number nor 'none'.") from None

    return parse
