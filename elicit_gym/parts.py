"""The optional contracts that any part of a run may have beside its own, and how a part is described.

A part (a policy, a user simulator, a judge, a reward) says more of itself by having one of these methods or attributes;
nothing has to be inherited. `elicit_gym.testing` checks them.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from hashlib import sha256
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from elicit_gym.errors import SettingError
from elicit_gym.types import Description

__all__ = [
    "CheckablePart",
    "DescribedPart",
    "HashedPrompt",
    "ModelPart",
    "NamedModel",
    "PromptedPart",
    "describe",
    "describe_with_model",
    "json_types",
    "kind_of",
    "model_name",
    "prompt_hashes",
]


@runtime_checkable
class CheckablePart(Protocol):
    """A part that can tell before the first call that no call can succeed."""

    def check(self) -> None:
        """Raise one clear sentence if it cannot work (no key, no server).

        Raises:
            FatalModelError: that sentence.
        """
        ...


class HashedPrompt(Protocol):
    """A prompt, such as `elicit_gym.llm.prompts.Prompt`."""

    @property
    def name(self) -> str:
        """What it is called in manifests."""
        ...

    @property
    def sha256(self) -> str:
        """The hash of its text."""
        ...


@runtime_checkable
class PromptedPart(Protocol):
    """A part with prompts: their hashes are in the manifest."""

    @property
    def prompts(self) -> Sequence[HashedPrompt]:
        """Every prompt that it uses."""
        ...


@runtime_checkable
class NamedModel(Protocol):
    """Something with a name: a model, such as `elicit_gym.llm.types.ChatModel`."""

    name: str


@runtime_checkable
class ModelPart(Protocol):
    """A part that calls a model: ``--dry-run`` counts its calls."""

    @property
    def model(self) -> NamedModel:
        """The model."""
        ...


@runtime_checkable
class DescribedPart(Protocol):
    """A part that says by itself what its records depend on; see `describe` for those that do not."""

    def describe(self) -> Description:
        """Return the description that manifests hold; a run is resumed only where it is the same."""
        ...


def model_name(part: object) -> str | None:
    """Return the name of the model that a part holds, None where it holds none."""
    if isinstance(part, ModelPart) and isinstance(part.model, NamedModel):
        return str(part.model.name)
    return None


def prompt_hashes(part: object) -> dict[str, str]:
    """Return the hash of each prompt that a part holds, by name."""
    return {prompt.name: prompt.sha256 for prompt in part.prompts} if isinstance(part, PromptedPart) else {}


def describe_with_model(part: object, settings: Mapping[str, Any]) -> Description:
    """Describe a part that calls a model: how the model is sampled and where it is served comes from the model.

    Args:
        part: with a name, a model and perhaps prompts.
        settings: of its own, on which its records depend.
    """
    own = Description(name=_name_of(part), kind=kind_of(part), prompts=prompt_hashes(part), settings=settings)
    if not isinstance(part, ModelPart):
        return own
    if not isinstance(part.model, DescribedPart):
        return replace(own, model=model_name(part))
    model = part.model.describe()
    return replace(
        own,
        model=model.name,
        sampling=model.sampling,
        weights_sha256=model.weights_sha256,
        settings={**model.settings, **settings},
        server=model.server,
    )


def describe(part: object, *, name: str | None = None, settings: Mapping[str, Any] | None = None) -> Description:
    """Describe a part: by its own `describe` where it has one, else by what can be seen of it.

    That is its class with a hash of its source (where it is not one of this package), the fields of a dataclass, the
    model's name and the prompts' hashes.

    Args:
        part: a policy, user simulator, judge or reward.
        name: how it was asked for, for parts without a name.
        settings: the arguments that it was made with; a part that describes itself says them by itself.

    Raises:
        SettingError: a setting is of no JSON type, or the part's own `describe` is something else.
    """
    if isinstance(part, DescribedPart):
        own = part.describe()
        if not isinstance(own, Description):
            raise SettingError(
                f"Describing {kind_of(part)}: expected describe() to return a Description, got {type(own).__name__}."
            )
        told = {"sampling": own.sampling, "settings": own.settings, "prompts": own.prompts}
        return replace(own, **{key: json_types(value, f"{own.name}.{key}") for key, value in told.items()})
    seen: dict[str, Any] = dict(settings or {})
    seen.pop("api_base", None)  # where a model is served changes no record
    if is_dataclass(part):
        seen |= {field.name: _json_or_kind(getattr(part, field.name)) for field in fields(part)}
    source = _source_sha256(type(part))
    if source is not None:
        seen["source_sha256"] = source
    shown = _name_of(part, name)
    return replace(describe_with_model(part, json_types(seen, shown)), name=shown)


def _name_of(part: object, name: str | None = None) -> str:
    return str(part.name) if isinstance(part, NamedModel) else name or type(part).__name__


def kind_of(part: object) -> str:
    """Return the class of a part as ``module:Class``."""
    return f"{type(part).__module__}:{type(part).__qualname__}"


def _json_or_kind(value: Any) -> Any:
    try:
        return json_types(value, "a field")
    except SettingError:
        return kind_of(value)


def _source_sha256(kind: type) -> str | None:
    """Return a hash of a class's source: an edited policy is another one, whatever its name."""
    if kind.__module__.partition(".")[0] == "elicit_gym":
        return None  # the package's version is in the manifest
    try:
        text = "\n".join(
            inspect.getsource(base)
            for base in kind.__mro__
            if base.__module__.partition(".")[0] not in ("elicit_gym", "builtins", "typing", "abc")
        )
    except (OSError, TypeError):  # typed into a shell: there is no source to be found
        return None
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def json_types(value: Any, where: str) -> Any:
    """Return a value in JSON types: paths as text, numbers of any library as Python's, enumerations by their value.

    Args:
        value: of any depth.
        where: what it belongs to, for the error.

    Raises:
        SettingError: something in it is of no JSON type.
    """
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Enum):
        return json_types(value.value, where)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Mapping):
        return {str(key): json_types(inner, f"{where}.{key}") for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [json_types(inner, f"{where}[{i}]") for i, inner in enumerate(value)]
    raise SettingError(
        f"Describing {where}: expected text, numbers, lists and mappings, got {type(value).__name__}. "
        "Name the object, as a registered name or as module:attribute."
    )
