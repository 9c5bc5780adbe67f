"""Prices that a user gives, for models whose price nobody else knows."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from elicit_gym.errors import SettingError

__all__ = ["Price", "Prices", "parse_prices"]

SEATS = {"policy": "policy", "user": "user_simulator", "judge": "judge"}
"""How the command line calls the seats."""


@dataclass(frozen=True)
class Price:
    """US dollars per million tokens, of input and of output."""

    input: float
    output: float

    def of(self, input_tokens: int, output_tokens: int) -> float:
        """Return what these tokens cost in US dollars."""
        return (self.input * input_tokens + self.output * output_tokens) / 1_000_000


@dataclass(frozen=True)
class Prices:
    """Prices by model, and by seat for all models that sit in it; they go before every list of prices.

    Attributes:
        by_name: of a seat (``policy``, ``user_simulator``, ``judge``) or of a model.
    """

    by_name: Mapping[str, Price]

    def find(self, seat: str, model: str) -> Price | None:
        """Return the price of a model in a seat, None where the user gave none."""
        return self.by_name.get(model) or self.by_name.get(seat)


def parse_prices(given: Sequence[str]) -> Prices:
    """Read prices as ``SEAT=IN/OUT`` or ``MODEL=IN/OUT``, in US dollars per million tokens.

    Raises:
        SettingError: one of them is written otherwise.
    """
    found: dict[str, Price] = {}
    for text in given:
        name, equals, numbers = text.rpartition("=")
        try:
            of_input, of_output = (float(number) for number in numbers.split("/"))
        except ValueError:
            of_input = of_output = math.nan
        if not (name and equals and 0 <= of_input < math.inf and 0 <= of_output < math.inf):
            raise SettingError(
                f"Reading a price: expected SEAT=IN/OUT in US dollars per million tokens, such as judge=0.10/0.40, got "
                f"{text!r}. SEAT is policy, user, judge, or a model's name."
            )
        found[SEATS.get(name, name)] = Price(of_input, of_output)
    return Prices(found)
