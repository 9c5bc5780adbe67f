"""Windows: the latest turns of a conversation, ending with the agent's, as training examples."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.strict_json import json_text, typed
from elicit_gym.types import Message, Role

__all__ = [
    "Window",
    "WindowRules",
    "WindowSet",
    "chat_template_counter",
    "count_simple_tokens",
    "make_windows",
    "system_line",
]

TokenCounter = Callable[[Sequence[Message]], int]

_TOKEN = re.compile(r"\w+|[^\w\s]")


def system_line(domain: str) -> str:
    """Return the base instruction of a domain, as the published rows have it.

    References:
        YIELD, Section 6.3 and the row in Appendix A.4.
    """
    return f"Act as an information elicitation agent for {domain.replace('_', ' ')}."


def count_simple_tokens(messages: Sequence[Message]) -> int:
    """Count words and punctuation, and four for the frame of each message: within a few percent of most tokenizers."""
    return sum(len(_TOKEN.findall(message.content)) + 4 for message in messages)


def chat_template_counter(tokenizer: Any) -> TokenCounter:
    """Return a counter that applies a Hugging Face tokenizer's chat template, so that its markup counts, too."""

    def count(messages: Sequence[Message]) -> int:
        rows = [{"role": message.role, "content": message.content} for message in messages]
        return len(tokenizer.apply_chat_template(rows, tokenize=True, return_dict=False))

    return count


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """One training example.

    Attributes:
        block_id: ``<dialogue id>:<turn id of the window's first turn>``; in datasets made as published, its place in
            the dialogue instead of its id.
        messages: the system line, if any, the context, and the action, which is the last.
    """

    block_id: str
    domain: str
    messages: tuple[Message, ...]
    reward: float
    return_to_go: float
    episode_id: str
    step: int

    @property
    def action(self) -> str:
        """The agent's message."""
        return self.messages[-1].content

    @property
    def context(self) -> tuple[Message, ...]:
        """All messages before the action, the system line included."""
        return self.messages[:-1]


@dataclass(frozen=True, kw_only=True)
class WindowRules:
    """The rules by which windows are made.

    Attributes:
        size: the number of merged turns in a window, the action included.
        max_tokens: windows with more tokens by `count_tokens`, system line included, are left out; None for no limit.
        count_tokens: the token counter; see `chat_template_counter`.
        min_action_words: actions of fewer white-space separated words are left out.
        with_system_line: whether a window begins with the domain's line.

    References:
        YIELD, Section 6.3: six turns, 512 tokens, actions of two words or fewer removed. The released rows for
        fine-tuning keep the short actions (set ``min_action_words=0`` for those); the rule is the experimental set's.
    """

    size: int = 6
    max_tokens: int | None = 512
    count_tokens: TokenCounter = count_simple_tokens
    min_action_words: int = 3
    with_system_line: bool = True


def make_windows(
    episodes: Iterable[OfflineEpisode], rules: WindowRules | None = None, counts: Counter[str] | None = None
) -> Iterator[Window]:
    """Yield the windows of episodes, in order.

    Args:
        episodes: the episodes.
        rules: the published ones by default.
        counts: a counter that is filled in: ``actions``, and how many of them had ``too_little_context``, were a
            ``short_action``, were ``too_long``, or were ``made`` into a window.
    """
    rules = rules or WindowRules()
    counts = Counter() if counts is None else counts
    for episode in episodes:
        system = (Message(role="system", content=system_line(episode.domain)),) if rules.with_system_line else ()
        for step, position in enumerate(episode.positions):
            counts["actions"] += 1
            start = position - rules.size + 1
            if start < 0:
                counts["too_little_context"] += 1
                continue
            if len(episode.messages[position].content.split()) < rules.min_action_words:
                counts["short_action"] += 1
                continue
            messages = (*system, *episode.messages[start : position + 1])
            if rules.max_tokens is not None and rules.count_tokens(messages) > rules.max_tokens:
                counts["too_long"] += 1
                continue
            counts["made"] += 1
            yield Window(
                block_id=f"{episode.id}:{episode.turn_ids[start]}",
                domain=episode.domain,
                messages=messages,
                reward=episode.rewards[step],
                return_to_go=episode.returns_to_go[step],
                episode_id=episode.id,
                step=step,
            )


@dataclass(frozen=True, kw_only=True)
class WindowSet:
    """Which windows something was made with, for manifests.

    Attributes:
        count: how many.
        sha256: of what they say and earn, which identifies them.
    """

    count: int
    sha256: str

    @classmethod
    def of(cls, windows: Sequence[Window]) -> "WindowSet":
        """Describe windows."""
        whole = sha256()
        for window in windows:
            row = [window.block_id, [[m.role, m.content] for m in window.messages], window.return_to_go]
            whole.update(json_text(row).encode("ascii"))
        return cls(count=len(windows), sha256=whole.hexdigest())

    def identity(self) -> dict[str, str]:
        """Return what two of them have to share."""
        return {"sha256": self.sha256}


def window_to_row(window: Window, *, experimental: bool = True) -> dict[str, Any]:
    """Convert to a published row: an experimental one, with score and return, or a plain one for fine-tuning."""
    row: dict[str, Any] = {"block_id": window.block_id, "domain": window.domain}
    if experimental:
        whole = window.reward == int(window.reward)
        row["factual_novelty_score"] = int(window.reward) if whole else window.reward
        row["return_to_go"] = window.return_to_go
    row["messages"] = [{"role": m.role, "content": m.content} for m in window.messages]
    return row


def window_from_row(row: Mapping[str, Any]) -> Window:
    """Invert `window_to_row`; a row without score and return has 0 for both, and the step is not known (-1).

    Raises:
        KeyError, TypeError: the row is none; a field of another type is named.
    """
    block_id = typed(str, row["block_id"], "block_id")
    messages = typed(list, row["messages"], "messages")
    if not messages:
        raise TypeError("messages: expected at least one, got none")
    return Window(
        block_id=block_id,
        domain=typed(str, row["domain"], "domain"),
        messages=tuple(
            [
                Message(
                    role=typed(Role, message["role"], f"messages[{i}].role"),
                    content=typed(str, message["content"], f"messages[{i}].content"),
                )
                for i, message in enumerate(messages)
            ]
        ),
        reward=typed(float, row.get("factual_novelty_score", 0), "factual_novelty_score"),
        return_to_go=typed(float, row.get("return_to_go", 0), "return_to_go"),
        episode_id=block_id.rsplit(":", 1)[0],
        step=-1,
    )
