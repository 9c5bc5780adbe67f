"""Extract the answer from what a model sent: the one place that deals with thinking, truncation and missing content.

Model families mark their thinking, the end of their turn and the channel they speak on in different ways. All of them
are known here, and none of them is text. A mark that an answer merely names (``use the `<think>` tag``) stays.
"""

import re

__all__ = ["clean_content", "quoted", "spoken"]

LONGEST_QUOTATION = 4_000
"""The most characters of its own reply that a model is shown when it is asked again: replies may be megabytes."""

_TAG = r"(?:seed:)?(?:think(?:ing)?|thoughts?|scratchpad|inner_monologue)"
_FAMILIES = (
    (rf"<{_TAG}>", rf"</{_TAG}>"),  # most families
    (r"\[THINK\]", r"\[/THINK\]"),  # Magistral
    (r"◁think▷", r"◁/think▷"),  # Kimi
    (r"<\|?(?:begin_of_thought|start_thinking|inner_prefix)\|?>",
     r"<\|?(?:end_of_thought|end_thinking|inner_suffix)\|?>"),
    (r"<\|channel>thought\b", r"<channel\|>"),  # Gemma
    (r"<unused94>(?:thought\b)?", r"<unused95>"),
    (r"\A\s*Here is my thought process:", r"(?m:^)Here is my response:"),  # Granite
)  # fmt: skip
"""How a thought opens and how it closes, by family."""

_MARKS = tuple((re.compile(start, re.IGNORECASE), re.compile(end, re.IGNORECASE)) for start, end in _FAMILIES)
_CHANNEL = re.compile(r"<\|channel\|>\s*(\w+)[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>")
_END_OF_MESSAGE = re.compile(r"<\|(?:end|return|call|start)\|>")
_CHANNELS_AS_TEXT = re.compile(r"\A\s*analysis(?=[A-Z]).*?assistantfinal", re.DOTALL)
_START_OF_TURN = re.compile(
    r"\A\s*(?:(?:<bos>|<s>|<\|begin_of_text\|>|<\|start\|>assistant|<\|im_start\|>\s*assistant|<\|assistant\|>|"
    r"<\|start_header_id\|>\s*assistant\s*<\|end_header_id\|>|<start_of_turn>\s*model|<\|message\|>)\s*)+",
    re.IGNORECASE,
)
_END_OF_TURN = re.compile(
    r"<\|(?:im_end|im_start|eot_id|eom_id|end|return|endoftext|end_of_text|end_of_turn_token|endofprompt|user|system|"
    r"start_header_id|end_of_solution|end_response)\|>|<｜[^｜<>]{1,40}｜>|<(?:end_of_turn|start_of_turn|eos|eod)>"
    r"|<turn\|>|\[/?INST\]|</s>",
    re.IGNORECASE,
)
_WRAPPERS = re.compile(r"<\|?(?:begin_of_solution|start_response)\|?>", re.IGNORECASE)
_WRAPPED = re.compile(r"\s*<(answer|output|response)>\s*(.*?)\s*(?:</\1>)?\s*", re.DOTALL | re.IGNORECASE)
_LEAST_WORDS_OF_THOUGHT = 6


def clean_content(content: str | None, reasoning: str | None, finish_reason: str) -> tuple[str, tuple[str, ...]]:
    """Return the text of an answer and flags for what was done to get it.

    Thinking is never an answer: thought blocks of every family are removed, closed or not, and so is everything before
    the end of a thought whose start the chat template swallowed. The text ends where the model ended its turn. What is
    only in a separate reasoning field does not count.

    Args:
        content: the content as it was sent; may be None.
        reasoning: the separate field that some services have; may be None.
        finish_reason: the service's; ``length`` means that the answer was cut off.

    Returns:
        The text, blank when there is no answer, and the flags ``think_removed``, ``think_unclosed``,
        ``overrun_removed`` (text after the end of the turn), ``only_reasoning``, ``truncated``, ``empty``.
    """
    text, flags = _without_thoughts(content or "")
    text, overran = _of_this_turn(text)
    if flags:
        wrapped = _WRAPPED.fullmatch(text)
        text = wrapped[2] if wrapped else text
    text = text.strip()
    if overran:
        flags.append("overrun_removed")
    if finish_reason == "length":
        flags.append("truncated")
    if not text:
        flags.append("only_reasoning" if reasoning and reasoning.strip() else "empty")
    return text, tuple(flags)


def spoken(text: str) -> str:
    """Return a local model's text as an utterance: deliberation cut off, an ellipsis where nothing is left."""
    cleaned, _ = clean_content(text, None, "stop")
    return cleaned or "..."


def _without_thoughts(text: str) -> tuple[str, list[str]]:
    removed = unclosed = False
    if "<|channel|>" in text:
        spoken_on = list(_CHANNEL.finditer(text))
        final = next((found for found in reversed(spoken_on) if found[1].lower() == "final"), None)
        before = text[: spoken_on[0].start()] if spoken_on else ""
        thought = len(spoken_on) > (final is not None)
        text = _END_OF_MESSAGE.split(text[final.end() :])[0] if final is not None else _START_OF_TURN.sub("", before)
        removed, unclosed = thought and final is not None, final is None and thought
    found = _CHANNELS_AS_TEXT.match(text)
    if found:  # the same, decoded without its special tokens
        text, removed = text[found.end() :], True
    for start, end in _MARKS:
        text, closed, opened, orphaned = _without_family(text, start, end)
        removed, unclosed = removed or closed or orphaned, unclosed or opened
    return text, ["think_removed"] * removed + ["think_unclosed"] * unclosed


def _without_family(text: str, start: re.Pattern[str], end: re.Pattern[str]) -> tuple[str, bool, bool, bool]:
    """Remove one family's thoughts; say whether there were closed ones, an unclosed one, one without a start."""
    kept, at = [], 0
    closed = opened = False
    for begin in start.finditer(text):
        if begin.start() < at:
            continue
        finish = end.search(text, begin.end())
        inner = text[begin.end() : finish.start()] if finish else ""
        if _is_named(text, begin) and len(inner.split()) < _LEAST_WORDS_OF_THOUGHT:
            continue
        kept.append(text[at : begin.start()])
        if finish is None:
            opened, at = True, len(text)
            break
        closed, at = True, finish.end()
    text = "".join(kept) + text[at:]
    if opened:
        return text, closed, True, False
    last = None
    for finish in end.finditer(text):
        if not _is_named(text, finish):
            last = finish
    return (text[last.end() :], closed, False, True) if last else (text, closed, False, False)


def _is_named(text: str, mark: re.Match[str]) -> bool:
    """Say whether a sentence only speaks of this mark: in quotation marks, or as a word among words."""
    before, after = text[: mark.start()], text[mark.end() :]
    if not before.strip() or before.endswith("\n"):
        return False
    if before[-1] in "`\"'“‘«(":
        return True
    among_words = before[-1] in " \t" and (before.rstrip()[-1:].isalnum() or before.rstrip()[-1:] in ",:/")
    return among_words and (not after or after[0] in " \t.,;:!?)/")


def _of_this_turn(text: str) -> tuple[str, bool]:
    """Cut off the marks around the model's turn, and say whether it went on to write after the end of it."""
    text = _WRAPPERS.sub("", _START_OF_TURN.sub("", text))
    for mark in _END_OF_TURN.finditer(text):
        struck = mark[0].lower() == "</s>" and "<s>" in text[: mark.start()].lower()
        if struck or (_is_named(text, mark) and text[mark.end() :].strip()):
            continue
        return text[: mark.start()], bool(_END_OF_TURN.sub("", text[mark.end() :]).strip())
    return text, False


def quoted(reply: str) -> str:
    """Return a model's own reply for a conversation in which it is asked again, cut where it is very long."""
    return reply if len(reply) <= LONGEST_QUOTATION else reply[:LONGEST_QUOTATION] + " [...]"
