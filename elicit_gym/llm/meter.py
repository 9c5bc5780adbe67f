"""What the calls of one request cost, put on the account of who asked."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import replace

from elicit_gym.errors import current_seat
from elicit_gym.llm.runtime import Runtime
from elicit_gym.llm.spending import Account, Spent, paying_episode, paying_policy
from elicit_gym.llm.transport import RawReply
from elicit_gym.llm.types import ChatRequest, ChatResponse

__all__ = ["Meter"]

CHARACTERS_PER_TOKEN = 4


class Meter:
    """Counts calls on behalf of whoever asks in this thread: that is read here, since the calls run in another one.

    Args:
        runtime: with the budget and the user's prices.
        model: the model's name.
        price: from input and output tokens to dollars, None for an unknown price; the user's own goes before it.

    Attributes:
        seat: on whose behalf.
    """

    def __init__(self, runtime: Runtime, model: str, price: Callable[[int, int], float | None]) -> None:
        self._runtime = runtime
        self._listed = price
        self.seat = current_seat()
        self._episode = paying_episode()
        self._account = Account(policy=paying_policy(), seat=self.seat or "other", model=model)

    def call(self) -> AbstractContextManager[None]:
        """Let a call be made within the block; `elicit_gym.errors.BudgetExceeded` is raised if it may not."""
        return self._runtime.budget.call(self._account, self._episode)

    def failed(self) -> None:
        """Count a call that was not answered."""
        self._runtime.budget.charge(self._account, Spent(failed_calls=1), self._episode)

    def cached(self, response: ChatResponse) -> ChatResponse:
        """Count an answer of the cache, and return it at the price that is known now."""
        self._runtime.budget.charge(self._account, Spent(cached_calls=1), self._episode)
        if self._runtime.prices.find(self._account.seat, self._account.model) is None:
            return response
        return replace(response, cost_usd=self._price(response.input_tokens, response.output_tokens))

    def _price(self, input_tokens: int, output_tokens: int) -> float | None:
        own = self._runtime.prices.find(self._account.seat, self._account.model)
        return self._listed(input_tokens, output_tokens) if own is None else own.of(input_tokens, output_tokens)

    def charge(self, raw: RawReply, request: ChatRequest) -> Spent:
        """Count a call that was answered, usably or not, and return what it has cost.

        A service that does not say how many tokens it took, so that a budget of tokens would never be spent, is taken
        to have used one per four characters.
        """
        given, made = raw.input_tokens, raw.output_tokens
        if not given:  # a prompt takes some: some services, and litellm for them, say 0
            given = sum(len(message.content) for message in request.messages) // CHARACTERS_PER_TOKEN
        if not made:
            made = (len(raw.content or "") + len(raw.reasoning or "")) // CHARACTERS_PER_TOKEN
        cost = self._price(given, made)
        spent = Spent(
            calls=1, input_tokens=given, output_tokens=made, cost_usd=cost or 0.0, unpriced_calls=int(cost is None)
        )
        self._runtime.budget.charge(self._account, spent, self._episode)
        return spent
