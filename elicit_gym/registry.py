"""Objects by name: a name that a registry knows, or ``module:attribute``. Modules load when a name is used.

Names with a colon import code. They come from the command line or from code, and never from a file that was saved:
whoever reads a manifest, a policy's folder or a cache treats the names in it as text.
"""

import sys
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Generic, TypeVar

from elicit_gym.errors import ElicitGymError, SettingError, UnknownNameError

__all__ = [
    "JUDGES",
    "MODELS",
    "POLICIES",
    "REGISTRIES",
    "REWARDS",
    "USER_SIMULATORS",
    "Registry",
    "carry",
    "is_target",
    "load_module",
    "load_object",
    "receive",
    "unknown_name",
]

T = TypeVar("T")

_received: dict[str, Any] = {}
"""Objects of another process's main module, by target: no import finds them here."""


def unknown_name(kind: str, name: str, known: Iterable[str], more: str = "") -> UnknownNameError:
    """Return the error for a name that nobody knows; suggests the nearest and lists all.

    Args:
        kind: what the name stands for.
        name: as it was asked for.
        known: the names there are.
        more: what else could have been said, at the end of the list.
    """
    listed = sorted(known)
    near = get_close_matches(name, listed, n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    return UnknownNameError(f"Unknown {kind} {name!r}.{hint} Available: {', '.join(listed)}{more}.")


def is_target(text: str) -> bool:
    """Say whether a text has the form ``package.module:attribute``."""
    module, colon, attribute = text.partition(":")
    return bool(colon) and all(part.isidentifier() for part in (*module.split("."), *attribute.split(".")))


def load_module(kind: str, target: str) -> Any:
    """Import the module of ``module:attribute``; where it is not installed, the current folder is searched too.

    Args:
        kind: what the target stands for, for the error.
        target: given on the command line or in code, and never read from a file.

    Raises:
        SettingError: it cannot be imported.
    """
    module = target.partition(":")[0]
    top, here = module.partition(".")[0], str(Path.cwd())
    try:
        # Only for a module that a user named and that is found nowhere else: what lies in the folder that somebody
        # happens to stand in must not get in the way of any other import.
        if top not in sys.modules and find_spec(top) is None and here not in sys.path:
            sys.path.insert(0, here)
        return import_module(module)
    except Exception as error:
        raise _not_loaded(kind, target, error) from error


def load_object(kind: str, target: str) -> Any:
    """Return what ``module:attribute`` names; see `load_module`.

    Raises:
        SettingError: there is no such module, or nothing of this name in it.
    """
    if target in _received:
        return _received[target]
    found = load_module(kind, target)
    try:
        for part in target.partition(":")[2].split("."):
            found = getattr(found, part)
    except AttributeError as error:
        raise _not_loaded(kind, target, error) from error
    return found


def _not_loaded(kind: str, target: str, error: Exception) -> SettingError:
    return SettingError(
        f"Loading the {kind} {target!r}: expected a module and an attribute in it, got {type(error).__name__}: "
        f"{error}. Check the names; the current folder is searched too."
    )


class Registry(Generic[T]):
    """A table from a name to ``"module:attribute"``, the factory that makes the part.

    Args:
        kind: what the names stand for, for error messages.
        targets: the built-in names.
    """

    def __init__(self, kind: str, targets: Mapping[str, str]) -> None:
        self.kind = kind
        self._targets = dict(targets)
        self._builtin = frozenset(targets)

    def names(self) -> tuple[str, ...]:
        """Return every known name, sorted."""
        return tuple(sorted(self._targets))

    def register(self, name: str, target: str) -> None:
        """Add a name of your own.

        Args:
            name: the name.
            target: ``"package.module:attribute"``; imported at first use.

        Raises:
            SettingError: the name is taken by another target, or one of the two has a colon too many or too few.
        """
        if self._targets.get(name, target) != target:
            raise SettingError(
                f"Registering the {self.kind} {name!r}: expected a free name, got one that stands for "
                f"{self._targets[name]!r}. Choose another name."
            )
        if ":" in name:
            raise SettingError(
                f"Registering the {self.kind} {name!r}: expected a name without a colon, which is for "
                "'module:attribute', got one. Choose another name."
            )
        if ":" not in target:
            raise SettingError(
                f"Registering the {self.kind} {name!r}: expected 'module:attribute', got {target!r}. Add the attribute."
            )
        self._targets[name] = target

    def unregister(self, name: str) -> None:
        """Forget a name of your own.

        Raises:
            UnknownNameError: there is no such name.
            SettingError: it is built in.
        """
        if name in self._builtin:
            raise SettingError(
                f"Unregistering the {self.kind} {name!r}: expected a name that was registered, got a built-in one."
            )
        if name not in self._targets:
            raise unknown_name(self.kind, name, self._targets)
        del self._targets[name]

    def target(self, name: str) -> str:
        """Return the ``module:attribute`` that a name stands for; a name of that form stands for itself.

        Raises:
            UnknownNameError: no such name.
        """
        if name in self._targets:
            return self._targets[name]
        if ":" in name:
            return name
        raise unknown_name(self.kind, name, self._targets, "; or module:attribute for your own")

    def factory(self, name: str) -> Any:
        """Return what makes the part called `name`: a class, or a function.

        Raises:
            UnknownNameError: no such name.
            SettingError: ``module:attribute`` cannot be loaded.
        """
        return load_object(self.kind, self.target(name))

    def make(self, name: str, kwargs: Mapping[str, Any] | None = None) -> T:
        """Make the part called `name` with these keyword arguments.

        Args:
            name: a registered one, or ``module:attribute``.
            kwargs: for the factory.

        Raises:
            UnknownNameError: no such name.
            SettingError: it cannot be loaded, does not take these arguments, or fails with them.
        """
        factory = self.factory(name)
        try:
            made: T = factory(**(kwargs or {}))
        except ElicitGymError:
            raise
        except Exception as error:
            # Their names only: a value may be a secret.
            given = ", ".join(map(str, kwargs)) if kwargs else "no arguments"
            raise SettingError(
                f"Making the {self.kind} {name!r} with {given}: {type(error).__name__}: {error}."
            ) from error
        return made

    def _check(self, name: str) -> None:
        if name not in self._targets:
            near = get_close_matches(name, self._targets, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise UnknownNameError(f"Unknown {self.kind} {name!r}.{hint} Available: {', '.join(self.names())}.")


JUDGES: Registry[Any] = Registry(
    "judge",
    {
        "embedding": "elicit_gym.judges.embedding:EmbeddingJudge",
        "llm": "elicit_gym.judges.llm:LLMJudge",
        "scripted": "elicit_gym.judges.scripted:ScriptedJudge",
    },
)
MODELS: Registry[Any] = Registry("model", {})
POLICIES: Registry[Any] = Registry(
    "policy",
    {
        "adaptive": "elicit_gym.agents.baselines:Adaptive",
        "ask-many": "elicit_gym.agents.baselines:AskMany",
        "ask-one": "elicit_gym.agents.baselines:AskOne",
        "naive": "elicit_gym.agents.baselines:Naive",
        "oracle": "elicit_gym.agents.baselines:Oracle",
        "random": "elicit_gym.agents.baselines:RandomQuestions",
    },
)
REWARDS: Registry[Any] = Registry(
    "reward",
    {
        "checklist_gain": "elicit_gym.rewards:ChecklistGain",
        "checklist_gain_per_turn_cost": "elicit_gym.rewards:ChecklistGainPerTurnCost",
        "final_checklist": "elicit_gym.rewards:FinalChecklist",
    },
)
USER_SIMULATORS: Registry[Any] = Registry(
    "user simulator",
    {
        "llm": "elicit_gym.user_simulators.llm:LLMUserSimulator",
        "scripted": "elicit_gym.user_simulators.scripted:ScriptedUserSimulator",
    },
)

REGISTRIES: Mapping[str, Registry[Any]] = {r.kind: r for r in (JUDGES, MODELS, POLICIES, REWARDS, USER_SIMULATORS)}
"""Every registry of parts, by kind."""


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from _texts(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _texts(inner)


def carry(kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return what another process needs in order to understand the names in some arguments; see `receive`.

    Another process knows the built-in names. It knows nothing of what was registered here, has a main module of its
    own, and on another machine it may not find the modules of this one: the objects themselves travel. Nothing is
    imported for it.
    """
    named = set(_texts(kwargs))
    names = {
        kind: {name: registry.target(name) for name in registry.names() if name in named}
        for kind, registry in REGISTRIES.items()
    }
    targets = named | {target for those in names.values() for target in those.values()}
    own = [target for target in sorted(targets) if is_target(target) and _is_foreign(target)]
    return {"names": names, "objects": {target: load_object("object", target) for target in own}}


def _is_foreign(target: str) -> bool:
    """Say whether a target is a loaded module's and not this package's own."""
    module = target.partition(":")[0]
    return module in sys.modules and module.partition(".")[0] != __name__.partition(".")[0]


def receive(carried: Mapping[str, Any]) -> None:
    """Learn the names that `carry` packed in another process."""
    _received.update(carried["objects"])
    for kind, names in carried["names"].items():
        registry = REGISTRIES[kind]
        for name, target in names.items():
            if name in registry.names():
                registry.unregister(name)
            registry.register(name, target)
