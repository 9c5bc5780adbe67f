"""A run's budget of money and tokens, and what was spent."""

from collections.abc import Mapping
from dataclasses import dataclass
from threading import Lock

from elicit_gym.errors import BudgetExceeded, SettingError
from elicit_gym.llm.types import ChatResponse

__all__ = ["Budget", "Spent"]


@dataclass(frozen=True, kw_only=True)
class Spent:
    """What calls to one model have cost; calls that the cache answered cost nothing and are not counted.

    Attributes:
        cost_usd: the cost of the calls whose price is known.
        unpriced_calls: the number of calls whose price is unknown.
    """

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float = 0.0
    unpriced_calls: int = 0


class Budget:
    """Stops a run before it spends more than it may; safe from several threads.

    Args:
        usd: the limit in US dollars; None for no limit. With a limit, a call whose price is unknown ends the run.
        tokens: the limit in tokens, input and output together; None for no limit.

    Raises:
        SettingError: a limit is not above 0.
    """

    def __init__(self, usd: float | None = None, tokens: int | None = None) -> None:
        for name, limit in (("usd", usd), ("tokens", tokens)):
            if limit is not None and limit <= 0:
                raise SettingError(f"Setting a budget: expected {name} above 0, got {limit!r}. Raise it.")
        self._usd = usd
        self._tokens = tokens
        self._lock = Lock()
        self._spent: dict[str, Spent] = {}

    def check(self) -> None:
        """Refuse the next call if the budget is spent.

        Raises:
            BudgetExceeded: it is spent.
        """
        with self._lock:
            usd = sum(spent.cost_usd for spent in self._spent.values())
            tokens = sum(spent.input_tokens + spent.output_tokens for spent in self._spent.values())
            unpriced = [model for model, spent in self._spent.items() if spent.unpriced_calls]
        if self._usd is not None:
            if unpriced:
                raise BudgetExceeded(
                    f"Keeping to a budget of ${self._usd:g}: expected known prices, got none for {unpriced[0]}. "
                    "Limit the tokens instead."
                )
            if usd >= self._usd:
                raise BudgetExceeded(f"Keeping to a budget of ${self._usd:g}: ${usd:.4f} are spent.")
        if self._tokens is not None and tokens >= self._tokens:
            raise BudgetExceeded(f"Keeping to a budget of {self._tokens:,} tokens: {tokens:,} are spent.")

    def add(self, response: ChatResponse) -> None:
        """Count a call that was made."""
        with self._lock:
            old = self._spent.get(response.model, Spent())
            self._spent[response.model] = Spent(
                calls=old.calls + 1,
                input_tokens=old.input_tokens + response.input_tokens,
                output_tokens=old.output_tokens + response.output_tokens,
                cost_usd=old.cost_usd + (response.cost_usd or 0.0),
                unpriced_calls=old.unpriced_calls + (response.cost_usd is None),
            )

    @property
    def spent(self) -> Mapping[str, Spent]:
        """The amounts spent so far, by model."""
        with self._lock:
            return dict(self._spent)
