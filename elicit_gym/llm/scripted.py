"""A chat model without a model: the public test double."""

from collections.abc import Callable, Sequence
from threading import Lock

from elicit_gym.errors import EpisodeFailure, ModelFailure
from elicit_gym.llm.content import clean_content
from elicit_gym.llm.meter import Meter
from elicit_gym.llm.runtime import current_runtime
from elicit_gym.llm.transport import RawReply
from elicit_gym.llm.types import ChatRequest, ChatResponse

__all__ = ["ScriptedChatModel"]


class ScriptedChatModel:
    """A model that answers from a function or a list, counts words as tokens, and remembers what it was asked.

    Args:
        answers: a function from the request to the text, or texts that are given one after the other. An exception
            in place of a text is raised.
        name: the model's name.
        cost_usd: the cost per call; None for an unknown price.

    Attributes:
        requests: all requests so far.
    """

    def __init__(
        self,
        answers: Callable[[ChatRequest], str] | Sequence[str | EpisodeFailure],
        *,
        name: str = "scripted",
        cost_usd: float | None = 0.0,
    ) -> None:
        self.name = name
        self.requests: list[ChatRequest] = []
        self._answers = answers
        self._cost_usd = cost_usd
        self._lock = Lock()

    def check(self) -> None:
        """Do nothing: a script can always answer."""

    def complete(self, request: ChatRequest) -> ChatResponse:
        """Answer one request."""
        meter = Meter(current_runtime(), self.name, self.price_usd)
        with meter.call():
            return self._answer(request, meter)

    def _answer(self, request: ChatRequest, meter: Meter) -> ChatResponse:
        with self._lock:
            self.requests.append(request)
            index = len(self.requests) - 1
        if callable(self._answers):
            answer: str | EpisodeFailure = self._answers(request)
        elif index < len(self._answers):
            answer = self._answers[index]
        else:
            raise ModelFailure(f"Calling {self.name}: expected {len(self._answers)} calls at most, got one more.")
        if isinstance(answer, EpisodeFailure):
            raise answer
        raw = RawReply(
            content=answer,
            reasoning=None,
            finish_reason="stop",
            model=self.name,
            input_tokens=sum(len(m.content.split()) for m in request.messages),
            output_tokens=len(answer.split()),
        )
        spent = meter.charge(raw, request)
        text, flags = clean_content(answer, None, "stop")
        if not text:
            raise ModelFailure(f"Calling {self.name}: expected text, got none ({', '.join(flags)}).")
        return ChatResponse(
            text=text,
            finish_reason="stop",
            model=self.name,
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            cost_usd=None if spent.unpriced_calls else spent.cost_usd,
            flags=flags,
        )

    def price_usd(self, input_tokens: int, output_tokens: int) -> float | None:
        """Return the cost per call, whatever it took."""
        return self._cost_usd

    def complete_batch(self, requests: Sequence[ChatRequest]) -> list[ChatResponse | EpisodeFailure]:
        """Answer many requests, one after the other."""
        answers: list[ChatResponse | EpisodeFailure] = []
        for request in requests:
            try:
                answers.append(self.complete(request))
            except EpisodeFailure as failure:
                answers.append(failure)
        return answers
