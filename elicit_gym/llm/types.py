"""What passes between this package and a model: a request, a response, and the protocol of whatever answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from elicit_gym.errors import EpisodeFailure
from elicit_gym.types import Message, Usage

__all__ = ["ChatModel", "ChatRequest", "ChatResponse", "PricedModel"]


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One question to a model.

    Attributes:
        messages: the messages, oldest first.
        seed: the sampling seed, for services that accept one.
        repeat: distinguishes requests that are equal in everything else but must be sampled again; it is part of the
            cache's key.
        json_schema: the schema of the JSON to ask for, if the model supports it.
        max_tokens: the largest number of tokens of this answer, in place of the model's own limit.
        more_room: how many times as many tokens an answer may have whose predecessor was cut off before it said
            anything.
    """

    messages: tuple[Message, ...]
    seed: int | None = None
    repeat: int = 0
    json_schema: Mapping[str, Any] | None = field(default=None, hash=False)
    max_tokens: int | None = None
    more_room: int = 1


@dataclass(frozen=True, kw_only=True)
class ChatResponse:
    """One answer.

    Attributes:
        text: the text without thinking; never blank.
        finish_reason: the service's; ``length`` means that the text was cut off.
        model: the model's name as the service gives it.
        flags: what had to be done to the answer (for example ``think_removed``), for counting.
        cached: whether it came from the cache; tokens and cost are then those of the calls that were saved.
        calls: the number of calls that were answered before one was usable, that one included; the tokens and the cost
            are those of all of them.
    """

    text: str
    finish_reason: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    flags: tuple[str, ...] = ()
    cached: bool = False
    calls: int = 1

    def usage(self, seat: str) -> Usage:
        """Return what this answer cost a seat."""
        return Usage(
            seat=seat,
            model=self.model,
            calls=self.calls,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.cost_usd,
        )


@runtime_checkable
class PricedModel(Protocol):
    """A model that knows what its calls cost: a budget in dollars can be told before the first call."""

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return what these tokens cost in US dollars, None where the price is unknown."""
        ...


@runtime_checkable
class ChatModel(Protocol):
    """Anything that answers chat requests.

    Attributes:
        name: the model's name in reports.
    """

    name: str

    def check(self) -> None:
        """Raise one clear sentence if no call can succeed (no key, no server). The check is cheap and sends no request.

        Raises:
            FatalModelError: no call can succeed.
        """
        ...

    def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request.

        Raises:
            ModelFailure: it failed for good.
            BudgetExceeded: the run's budget is spent.
        """
        ...

    def complete_batch(self, requests: Sequence[ChatRequest]) -> list[ChatResponse | EpisodeFailure]:
        """Answer many requests at once, in order; the failure of a request stands in place of its response."""
        ...
