"""What calls to models have cost, kept apart by who made them."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import asdict, dataclass
from threading import Lock
from typing import TypeAlias

__all__ = [
    "Account",
    "Episode",
    "EpisodeCost",
    "Ledger",
    "Spent",
    "SpentRow",
    "on_account_of",
    "paying_episode",
    "paying_policy",
]

Episode: TypeAlias = tuple[str, str, int]
"""Policy, scenario and repeat: what identifies an episode within a run."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Spent:
    """What a number of calls has cost.

    Attributes:
        calls: those that were answered, usably or not; all of their tokens count.
        failed_calls: those that were not: refused, cut off, out of time. What they cost is not known.
        cached_calls: those that the cache answered, for nothing.
        cost_usd: of the calls whose price is known.
        unpriced_calls: the number of calls whose price is unknown.
    """

    calls: int = 0
    failed_calls: int = 0
    cached_calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0

    @property
    def tokens(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: "Spent") -> "Spent":
        return self._combined(other, 1)

    def __sub__(self, other: "Spent") -> "Spent":
        return self._combined(other, -1)

    def _combined(self, other: "Spent", sign: int) -> "Spent":
        return Spent(
            calls=self.calls + sign * other.calls,
            failed_calls=self.failed_calls + sign * other.failed_calls,
            cached_calls=self.cached_calls + sign * other.cached_calls,
            input_tokens=self.input_tokens + sign * other.input_tokens,
            output_tokens=self.output_tokens + sign * other.output_tokens,
            cost_usd=self.cost_usd + sign * other.cost_usd,
            unpriced_calls=self.unpriced_calls + sign * other.unpriced_calls,
        )


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """Who spends.

    Attributes:
        policy: whose episodes; empty outside of a run.
        seat: ``policy``, ``user_simulator`` or ``judge``; ``other`` where nobody says.
        model: as the service calls it.
    """

    policy: str
    seat: str
    model: str


@dataclass(frozen=True, kw_only=True)
class SpentRow:
    """What one account has spent, as manifests keep it; see `Account` and `Spent`."""

    policy: str
    seat: str
    model: str
    calls: int
    failed_calls: int
    cached_calls: int
    input_tokens: int
    output_tokens: int
    cost_usd: float
    unpriced_calls: int

    @property
    def account(self) -> Account:
        """Who spent it."""
        return Account(policy=self.policy, seat=self.seat, model=self.model)

    @property
    def spent(self) -> Spent:
        """What was spent."""
        return Spent(**{name: getattr(self, name) for name in Spent.__dataclass_fields__})


@dataclass(frozen=True, kw_only=True)
class EpisodeCost:
    """What the dearest episode of a policy takes, as far as it is known.

    Attributes:
        whole: whether one was played to its end; if not, it takes more.
    """

    policy: str
    tokens: float
    cost_usd: float
    whole: bool


class Ledger:
    """What was spent, by account; safe from several threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._spent: dict[Account, Spent] = {}
        self._total = Spent()

    def add(self, account: Account, spent: Spent) -> None:
        """Write down what an account has spent."""
        with self._lock:
            self._spent[account] = self._spent.get(account, Spent()) + spent
            self._total += spent

    @property
    def total(self) -> Spent:
        """All of it."""
        return self._total

    def snapshot(self) -> dict[Account, Spent]:
        """Return what every account has spent so far."""
        with self._lock:
            return dict(self._spent)

    def rows(self, since: Mapping[Account, Spent], before: Sequence[SpentRow] = ()) -> tuple[SpentRow, ...]:
        """Return what was spent since a snapshot, on top of what is written down already, sorted by account."""
        sums = {row.account: row.spent for row in before}
        for account, spent in self.snapshot().items():
            new = spent - since.get(account, Spent())
            if new != Spent():
                sums[account] = sums.get(account, Spent()) + new
        ordered = sorted(sums, key=lambda a: (a.policy, a.seat, a.model))
        return tuple(SpentRow(**asdict(account), **asdict(sums[account])) for account in ordered)

    def by_model(self) -> dict[str, Spent]:
        """Return what was spent on each model."""
        sums: dict[str, Spent] = {}
        for account, spent in self.snapshot().items():
            sums[account.model] = sums.get(account.model, Spent()) + spent
        return sums


@dataclass(frozen=True, slots=True)
class _Payer:
    policy: str = ""
    episode: Episode | None = None


_PAYER: ContextVar[_Payer] = ContextVar("elicit_gym_payer", default=_Payer())  # noqa: B039 - it is frozen


@contextmanager
def on_account_of(policy: str, episode: Episode | None = None) -> Iterator[None]:
    """Put what models cost within the block on a policy's account, and on that of one of its episodes.

    Args:
        policy: its name.
        episode: None where several are under way in one thread.
    """
    token = _PAYER.set(_Payer(policy, episode))
    try:
        yield
    finally:
        _PAYER.reset(token)


def paying_policy() -> str:
    """Return the name of the policy whose episodes are being made; empty outside of a run."""
    return _PAYER.get().policy


def paying_episode() -> Episode | None:
    """Return the episode that is being made in this thread, if it is one."""
    return _PAYER.get().episode
