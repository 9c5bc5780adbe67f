"""A conversation as the tokens that a policy sampled and those that the environment put between them."""

from collections.abc import Sequence
from typing import Any

from elicit_gym.llm.content import spoken
from elicit_gym.offline.model_input import encode_prompt, text_between_turns
from elicit_gym.types import ChatHistory

__all__ = ["ConversationTokens"]


class ConversationTokens:
    """The tokens of a growing conversation; the policy's stay as they were sampled and are never tokenized again.

    Args:
        tokenizer: a tokenizer with a chat template.
        history: the history with the opening message.

    Attributes:
        prompt_ids: the tokens before the first utterance.
        completion_ids: all tokens since then.
        mask: 1 at the tokens that the policy sampled, its end tokens included; 0 at the environment's.
    """

    def __init__(self, tokenizer: Any, history: ChatHistory) -> None:
        self._tokenizer = tokenizer
        self.prompt_ids = encode_prompt(tokenizer, history)
        self.completion_ids: list[int] = []
        self.mask: list[int] = []

    @property
    def ids(self) -> list[int]:
        """All tokens so far, which the policy sees when it speaks next."""
        return self.prompt_ids + self.completion_ids

    def say(self, ids: Sequence[int]) -> str:
        """Add what the policy sampled, with its end token if it came to one, and return it as an utterance."""
        self.completion_ids += list(ids)
        self.mask += [1] * len(ids)
        return spoken(self._tokenizer.decode(ids, skip_special_tokens=True))

    def hear(self, history: ChatHistory) -> None:
        """Add the user's reply, and the template's marks around it.

        Args:
            history: the whole history, which ends with the reply.
        """
        after = text_between_turns(self._tokenizer, history)
        ids: list[int] = self._tokenizer(after, add_special_tokens=False)["input_ids"]
        if self.completion_ids and ids and ids[0] == self.completion_ids[-1]:
            ids = ids[1:]  # the end token, which the policy sampled itself
        self.completion_ids += ids
        self.mask += [0] * len(ids)
