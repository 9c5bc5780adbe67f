"""CHAT transcripts of TalkBank and CHILDES: ``*XXX:`` lines are turns."""

import re
from collections.abc import Sequence

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing.characters import is_visible, without_marks
from elicit_gym.offline.importing.names import name_key
from elicit_gym.offline.importing.role_words import role_of_chat
from elicit_gym.offline.importing.source import Line, Reading

__all__ = ["looks_like_cha", "read_cha"]

_TURN = re.compile(r"\*(?P<name>[^\s:*]{1,12}):")
_BULLET = re.compile("\x15(\\d{1,12}_\\d{1,12})\x15")


def looks_like_cha(lines: Sequence[Line]) -> bool:
    """Say whether a text is CHAT: it opens with one of its headers and has a turn of it."""
    first = next((without_marks(line.text) for line in lines if is_visible(line.text)), "")
    headed = first[:40].startswith(("@UTF8", "@Begin", "@Loc:", "@PID:"))
    return headed and any(_TURN.match(line.text[:40]) for line in lines)


def read_cha(lines: Sequence[Line], path: str) -> Reading:
    """Read the turns; headers go into the metadata, dependent tiers (``%mor`` and the like) are left out.

    Raises:
        SettingError: there is no turn.
    """
    reading = Reading("CHAT")
    tier = ""
    for line in lines:
        text = line.text
        if text.startswith(("@", "\ufeff@")):
            tier = "@"
        elif text.startswith("%"):
            tier = "%"
        elif found := _TURN.match(text[:40]):
            tier = "*"
            reading.begin(line.unit, found["name"], prefix=found[0], where=line.where)
            text = text[found.end() :]
        elif not tier and is_visible(text):
            tier = "@"
        if tier == "*":
            _say(reading, line, text)
        elif tier == "@":
            _header(reading, line)
        else:
            reading.leave_out(line.unit, "dependent tiers", text, where=line.where)
    if not reading.segments:
        raise SettingError(f"Importing {path}: expected turns such as '*INV:\\tWhere?', got none. Check the file.")
    reading.note("CHAT's codes in the text ([//], &-uh, xxx) are kept as they are")
    reading.finish()
    return reading


def _say(reading: Reading, line: Line, text: str) -> None:
    """Add a line of a turn; the times of the recording, between two bullets, are the turn's time."""
    segment = reading.segments[-1]
    at = 0
    for found in _BULLET.finditer(text):
        reading.say(line.unit, text[at : found.start()], join=" ", where=line.where)
        if segment.time:
            reading.leave_out(line.unit, "further times of a turn", found[0], where=line.where)
        else:
            segment.time = found[1]
            segment.labels.append(reading.add_time(line.unit, found[1], where=line.where))
            reading.mark(line.unit, "\x15\x15")
        at = found.end()
    reading.say(line.unit, text[at:], join=" ", where=line.where)


def _header(reading: Reading, line: Line) -> None:
    reading.leave_out(line.unit, "headers", line.text, keep=True, where=line.where)
    name, _, value = without_marks(line.text).partition(":")
    if name == "@Languages":
        reading.conversation.languages = tuple(part.strip() for part in value.split(",") if part.strip())
    elif name == "@Participants":
        for entry in value.split(","):
            words = entry.split()
            role = role_of_chat(words[-1]) if len(words) > 1 else None
            if role:
                reading.conversation.named_roles[name_key(words[0])] = role
