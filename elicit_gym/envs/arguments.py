"""The arguments of an environment: whole numbers of any library, and specs that survive JSON."""

import copy
import operator
from typing import TYPE_CHECKING, Any

from elicit_gym.errors import SettingError
from elicit_gym.parts import json_types

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

__all__ = ["as_seed", "json_spec", "whole_number"]


def whole_number(doing: str, name: str, value: Any, least: int | None = None) -> int:
    """Return a whole number of any library (``numpy.int64``) as Python's own.

    Args:
        doing: for the error.
        name: of the argument.
        value: as it was given.
        least: the smallest that is taken; None for any.

    Raises:
        SettingError: it is not a whole number (True and 3.0 are not), or too small.
    """
    try:
        if isinstance(value, bool):
            raise TypeError
        number = operator.index(value)
    except TypeError:
        raise SettingError(f"{doing}: expected a whole number as {name}, got {value!r}. Give one.") from None
    if least is not None and number < least:
        raise SettingError(f"{doing}: expected {name} of {least} or more, got {value!r}. Raise it.")
    return number


def as_seed(doing: str, seed: Any) -> int | None:
    """Return the seed of a reset as Python's own number, which Gymnasium insists on; None stays None.

    Raises:
        SettingError: it is not a whole number, or below 0.
    """
    return None if seed is None else whole_number(doing, "seed", seed, 0)


def json_spec(spec: "EnvSpec") -> "EnvSpec":
    """Return a spec whose arguments survive ``to_json()``: paths as text, numbers as Python's own.

    Raises:
        SettingError: an argument is a live object.
    """
    made = copy.copy(spec)
    try:
        made.kwargs = {name: json_types(value, f"the argument {name!r}") for name, value in spec.kwargs.items()}
    except SettingError as error:
        raise SettingError(
            f"Making {spec.id} by gym.make: expected arguments that survive env.spec.to_json(). {error} Live objects "
            "are for the constructor: InfoQuestEnv(...)."
        ) from error
    return made
