"""The exception tree, and the one boundary that attributes a failure to whoever caused it.

::

    ElicitGymError
    ├── ScenarioError (ValueError)        a scenario file breaks a rule; `.problems` lists all of them
    ├── UnknownNameError (LookupError)    a name that no registry knows; suggests the nearest
    ├── SettingError (ValueError)         an argument, option or file of the user's is invalid
    ├── ManifestMismatchError             two runs differ in what matters; `.differences` says in what
    ├── StorageError                      saved data cannot be read, or cannot be written as they are
    ├── MissingExtraError (ImportError)   an optional dependency is absent; names the install command
    └── EpisodeFailure                    one episode could not be finished; `.source` says what caused it
        ├── PolicyFailure
        ├── UserSimulatorFailure
        ├── JudgeFailure
        ├── RewardFailure
        ├── ModelFailure                  a model service failed for good
        │   └── FatalModelError           so will every other call (no key, model or server); ends the run
        ├── WorkerFailure                 the process or machine that made it died of it, again and again
        └── BudgetExceeded                the run's budget is spent

Messages follow one form: `<doing what>: expected <rule>, got <value> (<where>). <what to do>.`
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar, Token
from types import TracebackType
from typing import Any, ClassVar, Literal

__all__ = [
    "BudgetExceeded",
    "ElicitGymError",
    "EpisodeFailure",
    "FailureSource",
    "FatalModelError",
    "JudgeFailure",
    "ManifestMismatchError",
    "MissingExtraError",
    "ModelFailure",
    "PolicyFailure",
    "PortableError",
    "RewardFailure",
    "ScenarioError",
    "Seat",
    "SettingError",
    "StorageError",
    "UnknownNameError",
    "UserSimulatorFailure",
    "WorkerFailure",
    "attributed",
    "boundary",
    "current_seat",
    "in_seat",
]

Seat = Literal["policy", "user_simulator", "judge", "reward"]
FailureSource = Literal["policy", "user_simulator", "judge", "reward", "model", "worker", "budget"]


class PortableError(Exception):
    """An error that travels between processes as it is, whatever it is made from."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python would call the class with the finished message, which is not what every class takes.
        return _rebuilt, (type(self), self.args, dict(self.__dict__))


def _rebuilt(kind: type[PortableError], args: tuple[Any, ...], attributes: dict[str, Any]) -> PortableError:
    error = kind.__new__(kind, *args)
    error.__dict__.update(attributes)
    return error


class ElicitGymError(PortableError):
    """Base of every error that this package raises on purpose."""


class ScenarioError(ElicitGymError, ValueError):
    """A scenario file breaks a rule.

    Attributes:
        problems: one line for each broken rule, with file, line, field, what was expected and what was found.
    """

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = tuple(problems)
        more = f"\n... and {len(problems) - 5} more" if len(problems) > 5 else ""
        super().__init__("\n".join(self.problems[:5]) + more)


class UnknownNameError(ElicitGymError, LookupError):
    """A name that no registry knows; the message suggests the nearest and lists all."""


class SettingError(ElicitGymError, ValueError):
    """An argument, an option or a file that the user gave is invalid."""


class ManifestMismatchError(ElicitGymError):
    """Two runs differ in what matters, so that they cannot be resumed into one another or compared.

    Attributes:
        differences: one line for each setting that differs.
    """

    def __init__(self, doing: str, differences: Sequence[str], advice: str) -> None:
        self.differences = tuple(differences)
        listed = "\n".join(f"  {line}" for line in differences)
        super().__init__(f"{doing}: expected the same settings, got differences:\n{listed}\n{advice}")


class StorageError(ElicitGymError):
    """Saved data cannot be read, or cannot be written as they are."""


class MissingExtraError(ElicitGymError, ImportError):
    """An optional dependency is absent."""

    def __init__(self, doing: str, extra: str) -> None:
        super().__init__(f'{doing} needs the extra {extra!r}. Install it: pip install "elicit-gym[{extra}]"')


class EpisodeFailure(ElicitGymError):
    """One episode could not be finished.

    Attributes:
        source: the part that caused it.
        seat: where it happened; set by the innermost boundary. A failed model may sit in any seat.
    """

    source: ClassVar[FailureSource]
    seat: Seat | None = None


class PolicyFailure(EpisodeFailure):
    """The policy raised, or its action was not a valid utterance."""

    source = "policy"


class UserSimulatorFailure(EpisodeFailure):
    """The user simulator raised, or could not produce a valid reply."""

    source = "user_simulator"


class JudgeFailure(EpisodeFailure):
    """The judge raised, or its answer was not a verdict."""

    source = "judge"


class RewardFailure(EpisodeFailure):
    """The reward raised, or it was not a finite number."""

    source = "reward"


class ModelFailure(EpisodeFailure):
    """A model service failed for good (bad key, unknown model, still failing after the retries)."""

    source = "model"


class FatalModelError(ModelFailure):
    """No call of this run can succeed: the key, the model's name or the server is wrong. Ends the run.

    It is raised before the first call where that can be told without one, and after a streak of calls that failed
    alike; a single request that is refused fails alone (`ModelFailure`).
    """


class WorkerFailure(EpisodeFailure):
    """The process or the machine that made the episode died of it each time that it was tried."""

    source = "worker"


class BudgetExceeded(EpisodeFailure):
    """The run's budget of money or tokens is spent."""

    source = "budget"


_FAILURES: dict[str, type[EpisodeFailure]] = {
    cls.source: cls
    for cls in (
        PolicyFailure,
        UserSimulatorFailure,
        JudgeFailure,
        RewardFailure,
        ModelFailure,
        WorkerFailure,
        BudgetExceeded,
    )
}


_SEAT: ContextVar[Seat | None] = ContextVar("elicit_gym_seat", default=None)


def current_seat() -> Seat | None:
    """Return the seat on whose behalf the caller acts, None outside of every `boundary`."""
    return _SEAT.get()


@contextmanager
def in_seat(seat: Seat) -> Iterator[None]:
    """Act on behalf of a seat within the block: what models cost there is its cost."""
    token = _SEAT.set(seat)
    try:
        yield
    finally:
        _SEAT.reset(token)


def attributed(error: Exception, source: Seat, doing: str) -> EpisodeFailure:
    """Return the failure of `source` that this error is; an `EpisodeFailure` is attributed already and stays itself.

    Args:
        error: what was raised; the cause of the failure.
        source: whose fault it is.
        doing: what was being done, for the message.
    """
    if isinstance(error, EpisodeFailure):
        error.seat = error.seat or source
        return error
    failure = _FAILURES[source](f"{doing}: {type(error).__name__}: {error}")
    failure.__cause__ = error
    failure.seat = source
    return failure


class boundary:  # noqa: N801 - reads as a verb: `with boundary("judge", ...)`
    """Attribute whatever is raised inside to `source`, once; a context manager.

    An `EpisodeFailure` passes through: the innermost boundary knows best (a dead model service behind a policy is the
    model's failure and not the policy's). KeyboardInterrupt and SystemExit are not failures.

    Raises:
        EpisodeFailure: the subclass for `source`, with the original as its cause.
    """

    # A class, which is faster than a generator: the environment enters two of these in every step.
    __slots__ = ("_doing", "_source", "_token")

    def __init__(self, source: Seat, doing: str) -> None:
        self._source = source
        self._doing = doing

    def __enter__(self) -> None:
        self._token: Token[Seat | None] = _SEAT.set(self._source)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        _SEAT.reset(self._token)
        if isinstance(error, Exception):
            failure = attributed(error, self._source, self._doing)
            if failure is not error:
                raise failure from error
