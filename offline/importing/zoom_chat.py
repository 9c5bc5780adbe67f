"""Zoom's saved chats: ``09:15:22 From Anna to Everyone:`` and the older forms."""

import re
from collections.abc import Sequence

from elicit_gym.offline.importing.characters import is_visible
from elicit_gym.offline.importing.source import Line, Reading

__all__ = ["looks_like_zoom_chat", "read_zoom_chat"]

_HEAD = 250
_FROM = re.compile(
    r"(?P<time>(?:\d{4}-\d{2}-\d{2} )?\d{1,2}:\d{2}:\d{2})[ \t]{1,4}From {1,3}(?P<name>[^\n:]{1,80}?)"
    r"(?P<to> {1,3}to {1,3}[^\n:]{1,80}?)?(?P<private> {0,2}\((?:direct message|privately)\))? {0,3}:"
)


def _head(line: Line) -> re.Match[str] | None:
    text = line.text[:_HEAD]
    return _FROM.match(text) if text[:1].isdigit() else None


def looks_like_zoom_chat(lines: Sequence[Line]) -> bool:
    """Say whether the first line that is not empty opens a message of such a chat."""
    return next((_head(line) is not None for line in lines if is_visible(line.text)), False)


def read_zoom_chat(lines: Sequence[Line]) -> Reading:
    """Read the messages; to whom each went is left out and told."""
    reading = Reading("Zoom's saved chat")
    for line in lines:
        found = _head(line)
        text = line.text
        if found:
            to = f"From{found['to'] or ''}{found['private'] or ''}"
            reading.begin(
                line.unit, found["name"], time=found["time"], prefix=found[0], where=line.where,
                beside={"to whom messages went": to},
            )  # fmt: skip
            if found["private"]:
                reading.count("a message went to one person only", line.where)
            text = text[found.end() :]
        if is_visible(text):
            reading.say(line.unit, text, where=line.where)
    reading.finish()
    return reading
