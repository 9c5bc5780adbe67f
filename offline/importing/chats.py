"""Chats in JSON: OpenAI's messages, ShareGPT, exports of ChatGPT and Claude, and any list of rows with a speaker."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.file_limits import FileLimits
from elicit_gym.offline.importing.asr import note_copy, read_asr
from elicit_gym.offline.importing.characters import is_visible, replace_non_characters
from elicit_gym.offline.importing.json_source import Path, all_text, leaf_text, load_json, shown
from elicit_gym.offline.importing.rows import Fields, Row, find_fields, no_speaker_field, read_rows
from elicit_gym.offline.importing.source import Conversation, Reading

__all__ = ["read_json"]

CONTAINERS = (
    "messages", "conversations", "conversation", "turns", "dialogue", "dialog", "chat_messages",
    "utterances", "segments", "chat", "log", "history", "items", "transcript", "transcription", "Transcript",
    "entries", "rows", "data",
)  # fmt: skip
_KEPT_FIELD = 500


def read_json(value: Any, path: str, *, speaker: bool = False) -> Reading:
    """Read a chat, several of them, or what a speech recogniser wrote.

    Args:
        value: of the file; JSON lines as a list.
        path: for messages.
        speaker: whether rows that name nobody are taken nevertheless.

    Raises:
        SettingError: it is none of these, or nobody speaks.
    """
    reading = read_asr(value, path)
    if reading is None:
        reading = Reading("chat")
        reading.conversations = []
        _read(reading, value, (), path, speaker)
    reading.finish()
    empty = [c for c in reading.conversations if not c.segments]
    if len(empty) < len(reading.conversations):
        for conversation in empty:
            reading.note("a conversation in which nobody speaks was left out")
            reading.conversations.remove(conversation)
    return reading


def load_and_read(text: str, path: str, limits: FileLimits, *, speaker: bool = False) -> tuple[Any, Reading]:
    """Parse and read; return the value too, for the check."""
    value = load_json(text, path, limits)
    return value, read_json(value, path, speaker=speaker)


def _read(reading: Reading, value: Any, at: Path, path: str, speaker: bool) -> None:
    if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
        if any(_container(item) is not None or _is_tree(item) for item in value):
            for i, item in enumerate(value):
                _read_object(reading, item, (*at, i), path, speaker)
        else:
            reading.conversations.append(Conversation())
            _read_rows(reading, value, at, path, speaker)
    elif isinstance(value, list) and value and all(isinstance(item, list) for item in value):
        for i, item in enumerate(value):
            _read(reading, item, (*at, i), path, speaker)
    elif isinstance(value, dict):
        _read_object(reading, value, at, path, speaker)
    else:
        raise _unknown(path, value, at)


def _unknown(path: str, value: Any, at: Path) -> SettingError:
    what = (
        f"an object with {', '.join(map(repr, list(value)[:8])) or 'nothing in it'}" if isinstance(value, dict)
        else "an empty list" if value == []
        else repr(value)[:60]
    )  # fmt: skip
    return SettingError(
        f"Importing {path}: expected messages (a list under 'messages', 'conversations', 'turns', 'segments' or "
        f"'utterances', or a list of objects with a speaker and a text), got {what} ({shown(at)}). Check the file."
    )


def _container(item: Mapping[str, Any]) -> str | None:
    lists = [name for name in CONTAINERS if isinstance(item.get(name), list)]
    rows = [name for name in lists if item[name] and all(isinstance(row, dict) for row in item[name])]
    return next(iter(rows), None) or next(iter(lists), None)


def _is_tree(item: Mapping[str, Any]) -> bool:
    return isinstance(item.get("mapping"), dict)


def _read_object(reading: Reading, item: Mapping[str, Any], at: Path, path: str, speaker: bool) -> None:
    name = _container(item)
    if _is_tree(item):
        conversation = Conversation()
        reading.conversations.append(conversation)
        used = "mapping"
        _read_tree(reading, item, at, path)
    elif name is not None and item[name] and not all(isinstance(row, dict) for row in item[name]):
        if all(isinstance(row, list) for row in item[name]):
            used = name
            _read(reading, item[name], (*at, name), path, speaker)
            conversation = reading.conversations[-1]
        else:
            raise _bad_rows(path, item[name], (*at, name))
    elif name is not None:
        used = name
        conversation = Conversation()
        reading.conversations.append(conversation)
        if item[name]:
            _read_rows(reading, item[name], (*at, name), path, speaker)
    else:
        wrong = next((key for key in CONTAINERS if key in item), None)
        raise _bad_rows(path, item[wrong], (*at, wrong)) if wrong is not None else _unknown(path, item, at)
    _fields(reading, conversation, item, at, used)


def _bad_rows(path: str, value: Any, at: Path) -> SettingError:
    return SettingError(
        f"Importing {path}: expected a list of messages as {shown(at)!r}, got {str(value)[:60]!r}. Fix the file."
    )


def _fields(reading: Reading, conversation: Conversation, item: Mapping[str, Any], at: Path, used: str) -> None:
    """Keep a conversation's own short fields in the metadata, and leave the others out by name."""
    for name, value in item.items():
        if name == used or value is None:
            continue
        unit = (*at, name)
        if name in ("text", "transcript") and isinstance(value, str):
            note_copy(reading, name, [value])
            reading.leave_out(unit, f"field {name!r}", value)
            continue
        is_number = isinstance(value, int | float) and math.isfinite(value)
        if (is_number or isinstance(value, str)) and len(leaf_text(value)) <= _KEPT_FIELD:
            conversation.fields[name] = replace_non_characters(value) if isinstance(value, str) else value
            if name in ("title", "name") and isinstance(value, str) and value.strip():
                conversation.title = conversation.title or replace_non_characters(value)
            if is_visible(leaf_text(value)):
                reading.leave_out(unit, "fields that are kept in the metadata", leaf_text(value))
        else:
            reading.leave_out(unit, f"field {name[:40]!r}", all_text(value))


def _read_rows(reading: Reading, rows: Sequence[Mapping[str, Any]], at: Path, path: str, speaker: bool) -> None:
    fields = find_fields(rows)
    if fields is None or (fields.speaker is None and not fields.pairs and not speaker):
        raise no_speaker_field(path, dict.fromkeys(name for row in rows for name in row))
    read_rows(reading, [_row(row, (*at, i)) for i, row in enumerate(rows)], fields, path)


def _row(row: Mapping[str, Any], at: Path) -> Row:
    return Row(row, {name: (*at, name) for name in row}, shown(at))


def _read_tree(reading: Reading, item: Mapping[str, Any], at: Path, path: str) -> None:
    """Read ChatGPT's export, a tree of messages: the branch that is shown; the others are left out and told."""
    nodes: Mapping[str, Any] = item["mapping"]
    children = {str(n.get("parent")) for n in nodes.values() if isinstance(n, dict) and n.get("parent") is not None}
    ends = [key for key in nodes if key not in children]
    current = item.get("current_node")
    node = current if isinstance(current, str) and current in nodes else (ends[-1] if ends else None)
    branch: dict[str, None] = {}
    while isinstance(node, str) and node in nodes and node not in branch:
        branch[node] = None
        inside = nodes[node]
        node = inside.get("parent") if isinstance(inside, dict) else None
    rows = []
    for key in reversed(branch):
        message = nodes[key].get("message") if isinstance(nodes[key], dict) else None
        if isinstance(message, dict):
            rows.append(_row(message, (*at, "mapping", key, "message")))
        _rest_of_node(reading, nodes[key], (*at, "mapping", key), skip=isinstance(message, dict))
    for key in nodes:
        if key not in branch:
            reading.count("a message of another branch was left out", shown((*at, "mapping", key)))
            _rest_of_node(reading, nodes[key], (*at, "mapping", key), skip=False, what="messages of other branches")
    fields = Fields("author", "content", "create_time")
    if not rows:
        raise _unknown(path, item, at)
    read_rows(reading, rows, fields, path)


def _rest_of_node(reading: Reading, node: Any, at: Path, *, skip: bool, what: str = "ids of messages") -> None:
    if not isinstance(node, dict):
        reading.leave_out(at, what, all_text(node))
        return
    for name, value in node.items():
        if not (skip and name == "message"):
            reading.leave_out((*at, name), what, all_text(value))
