"""Parts that are chosen by name: user simulators, judges and rewards. Their modules load at first use."""

from collections.abc import Mapping
from difflib import get_close_matches
from importlib import import_module
from typing import Any, Generic, TypeVar

from elicit_gym.errors import SettingError, UnknownNameError

__all__ = ["JUDGES", "REWARDS", "USER_SIMULATORS", "Registry"]

T = TypeVar("T")


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
            SettingError: the name is taken by another target, or the target has no colon.
        """
        if self._targets.get(name, target) != target:
            raise SettingError(
                f"Registering the {self.kind} {name!r}: expected a free name, got one that stands for "
                f"{self._targets[name]!r}. Choose another name."
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
        self._check(name)
        del self._targets[name]

    def make(self, name: str, kwargs: Mapping[str, Any] | None = None) -> T:
        """Make the part called `name` with these keyword arguments.

        Raises:
            UnknownNameError: there is no such name.
            SettingError: the part does not accept these arguments.
        """
        self._check(name)
        module, _, attribute = self._targets[name].partition(":")
        factory = getattr(import_module(module), attribute)
        try:
            made: T = factory(**(kwargs or {}))
        except TypeError as error:
            raise SettingError(f"Making the {self.kind} {name!r} with {dict(kwargs or {})!r}: {error}.") from error
        return made

    def _check(self, name: str) -> None:
        if name not in self._targets:
            near = get_close_matches(name, self._targets, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise UnknownNameError(f"Unknown {self.kind} {name!r}.{hint} Available: {', '.join(self.names())}.")


USER_SIMULATORS: Registry[Any] = Registry(
    "user simulator",
    {
        "llm": "elicit_gym.user_simulators.llm:LLMUserSimulator",
        "scripted": "elicit_gym.user_simulators.scripted:ScriptedUserSimulator",
    },
)
JUDGES: Registry[Any] = Registry(
    "judge",
    {
        "embedding": "elicit_gym.judges.embedding:EmbeddingJudge",
        "llm": "elicit_gym.judges.llm:LLMJudge",
        "scripted": "elicit_gym.judges.scripted:ScriptedJudge",
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
