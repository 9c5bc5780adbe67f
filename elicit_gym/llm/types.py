"""What goes through the door: a request, a response, and the protocol of whatever answers."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, runtime_checkable

from elicit_gym.errors import EpisodeFailure
from elicit_gym.types import Message, Usage

__all__ = ["ChatModel", "ChatRequest", "ChatResponse"]


@dataclass(frozen=True, kw_only=True)
class ChatRequest:
    """One question to a model.

    Attributes:
        messages: oldest first.
        seed: for sampling, where the service takes one.
        repeat: tells apart requests that are the same in everything else and still shall be drawn anew; part of the
            cache's key.
        json_schema: ask for JSON of this form, where the model supports it.
    """

    messages: tuple[Message, ...]
    seed: int | None = None
    repeat: int = 0
    json_schema: Mapping[str, Any] | None = field(default=None, hash=False)


@dataclass(frozen=True, kw_only=True)
class ChatResponse:
    """One answer.

    Attributes:
        text: without thinking; never blank.
        finish_reason: as the service says; ``length`` means that the text is cut off.
        model: as the service names it.
        flags: what had to be done to the answer (for example ``think_removed``), for counting.
        cached: whether it came from the cache. Its tokens and cost are then those of the call that was saved.
    """

    text: str
    finish_reason: str
    model: str
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    flags: tuple[str, ...] = ()
    cached: bool = False

    def usage(self, seat: str) -> Usage:
        """Return what this answer cost a seat."""
        return Usage(
            seat=seat,
            model=self.model,
            calls=1,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            cost_usd=self.cost_usd,
        )


@runtime_checkable
class ChatModel(Protocol):
    """Whatever answers chat requests.

    Attributes:
        name: of the model, as reports show it.
    """

    name: str

    def check(self) -> None:
        """Raise one clear sentence if no call can succeed (no key, no server); cheap, and sends no request.

        Raises:
            FatalModelError: that sentence.
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
        """Answer many requests at once, in order; a request that failed for good has its failure in its place."""
        ...
