"""Extract the answer from what a model sent: the one place that deals with thinking, truncation and missing content."""

import re

__all__ = ["clean_content", "spoken"]

_BEGIN_THINK = re.compile(r"<think(?:ing)?>", re.IGNORECASE)
_END_THINK = re.compile(r"</think(?:ing)?>", re.IGNORECASE)
_OPEN_THINK = re.compile(r"<think(?:ing)?>.*\Z", re.DOTALL | re.IGNORECASE)
_ORPHAN_END = re.compile(r"\A.*</think(?:ing)?>", re.DOTALL | re.IGNORECASE)


def clean_content(content: str | None, reasoning: str | None, finish_reason: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of an answer and flags for what was done to get it.

    Thinking is never an answer: ``<think>`` blocks are removed, closed or not, and so is everything before a
    ``</think>`` whose start the chat template swallowed. What is only in a separate reasoning field does not count.

    Args:
        content: the content as it was sent; may be None.
        reasoning: the separate field that some services have; may be None.
        finish_reason: the service's; ``length`` means that the answer was cut off.

    Returns:
        The text, blank when there is no answer, and the flags ``think_removed``, ``think_unclosed``,
        ``only_reasoning``, ``truncated``, ``empty``.
    """
    flags: list[str] = []
    text = content or ""
    without = _without_closed(text)
    if without != text:
        flags.append("think_removed")
        text = without
    if _OPEN_THINK.search(text):
        flags.append("think_unclosed")
        text = _OPEN_THINK.sub("", text)
    elif _ORPHAN_END.search(text):
        flags.append("think_removed")
        text = _ORPHAN_END.sub("", text)
    text = text.strip()
    if finish_reason == "length":
        flags.append("truncated")
    if not text:
        flags.append("only_reasoning" if reasoning and reasoning.strip() else "empty")
    return text, tuple(flags)


def _without_closed(text: str) -> str:
    """Remove thinking that ends; a pattern for all of it would look for its end again and again."""
    kept: list[str] = []
    position = 0
    while (begin := _BEGIN_THINK.search(text, position)) and (end := _END_THINK.search(text, begin.end())):
        kept.append(text[position : begin.start()])
        position = end.end()
    return "".join(kept) + text[position:]


def spoken(text: str) -> str:
    """Return a local model's text as an utterance: deliberation cut off, an ellipsis where nothing is left."""
    cleaned, _ = clean_content(text, None, "stop")
    return cleaned or "..."
