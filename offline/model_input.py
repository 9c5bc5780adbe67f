"""The only way from a history to a model's tokens, for acting, training and scoring, so that they cannot diverge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.types import Message

__all__ = [
    "Example",
    "context_length",
    "count_text_tokens",
    "encode_example",
    "encode_prompt",
    "end_token_id",
    "text_between_turns",
]

_PROBE = "zqxjkv"


@dataclass(frozen=True, kw_only=True, slots=True)
class Example:
    """A history and an action as tokens.

    Attributes:
        input_ids: prompt, action, and the end token that follows the action. Shape (T,).
        action_start: the index of the action's first token; the prompt's tokens come before it.
    """

    input_ids: list[int]
    action_start: int

    @property
    def end(self) -> int:
        """The index of the end token that follows the action, which is the last token."""
        return len(self.input_ids) - 1


def _render(tokenizer: Any, rows: list[dict[str, str]], **kwargs: Any) -> str:
    if getattr(tokenizer, "chat_template", None) is None:
        raise SettingError(
            f"Building a model's input: expected a tokenizer with a chat template, got {tokenizer.__class__.__name__} "
            "without one. Give one: tokenizer.chat_template = '...' (Jinja), or use an instruction-tuned model."
        )
    text: str = tokenizer.apply_chat_template(rows, tokenize=False, **kwargs)
    return text


def _prompt_text(tokenizer: Any, history: Sequence[Message], thinking: bool) -> str:
    rows = [{"role": message.role, "content": message.content} for message in history]
    text = _render(tokenizer, rows, add_generation_prompt=True)
    if not thinking and text.rstrip().endswith("<think>"):
        text = text.rstrip() + "\n\n</think>\n\n"
    return text


def encode_prompt(tokenizer: Any, history: Sequence[Message], *, thinking: bool = False) -> list[int]:
    """Return the tokens after which the model acts.

    Args:
        tokenizer: a Hugging Face tokenizer with a chat template.
        history: the messages, oldest first, with the system line if there is one.
        thinking: whether to leave open a ``<think>`` that the template opens. By default, it is closed, so that a
            reasoning model is trained, scored and asked for the utterance and not for a deliberation.

    Raises:
        SettingError: the tokenizer has no chat template.
    """
    ids: list[int] = tokenizer(_prompt_text(tokenizer, history, thinking), add_special_tokens=False)["input_ids"]
    return ids


def text_between_turns(tokenizer: Any, history: Sequence[Message], *, thinking: bool = False) -> str:
    """Return what the template writes from the end of the last utterance to the beginning of the next one.

    That is the end mark, the reply, and the mark of the utterance to come: with it, tokens that were sampled are
    continued without being tokenized again.

    Args:
        tokenizer: see `encode_prompt`.
        history: a history that ends with an utterance of the assistant's and the reply to it.
        thinking: see `encode_prompt`.
    """
    *before, _, reply = history
    probed = (*before, Message(role="assistant", content=_PROBE), reply)
    return _prompt_text(tokenizer, probed, thinking).rpartition(_PROBE)[2]


def encode_example(
    tokenizer: Any, history: Sequence[Message], action: str, *, thinking: bool = False, end: int | None = None
) -> Example:
    """Return the tokens of a history and an action.

    The prompt is exactly that of `encode_prompt`; prompt and action are tokenized separately, so that no token spans
    the border, and the model is trained and scored on what it will see when it acts.

    Args:
        tokenizer: see `encode_prompt`.
        history: see `encode_prompt`.
        action: what was said.
        thinking: see `encode_prompt`.
        end: the tokenizer's `end_token_id`, which callers with many examples give; by default, it is looked up.

    Raises:
        SettingError: the tokenizer has no chat template or no end token.
    """
    prompt = encode_prompt(tokenizer, history, thinking=thinking)
    said: list[int] = tokenizer(action, add_special_tokens=False)["input_ids"]
    last = end_token_id(tokenizer) if end is None else end
    return Example(input_ids=[*prompt, *said, last], action_start=len(prompt))


def end_token_id(tokenizer: Any) -> int:
    """Return the token that the chat template puts after an assistant's message, or else the end-of-sequence token.

    Raises:
        SettingError: there is neither, or the tokenizer has no chat template.
    """
    rows = [{"role": "user", "content": "x"}, {"role": "assistant", "content": _PROBE}]
    text = _render(tokenizer, rows)
    _, found, after = text.rpartition(_PROBE)
    ids = tokenizer(after.lstrip(), add_special_tokens=False)["input_ids"] if found and after.strip() else []
    special = set(tokenizer.all_special_ids)
    if ids and ids[0] in special:
        return int(ids[0])
    if tokenizer.eos_token_id is None:
        raise SettingError(
            f"Building a model's input: expected an end token, got {tokenizer.__class__.__name__} without one. "
            "Set tokenizer.eos_token."
        )
    return int(tokenizer.eos_token_id)


def context_length(model: Any) -> int | None:
    """Return how many tokens a Hugging Face model can read, or None if it does not say."""
    limit = getattr(model.config, "max_position_embeddings", None)
    return int(limit) if limit else None


def count_text_tokens(tokenizer: Any, texts: Sequence[str]) -> list[int]:
    """Return the number of tokens of each bare text, without a template or special tokens."""
    return [len(ids) for ids in tokenizer(list(texts), add_special_tokens=False)["input_ids"]] if texts else []
