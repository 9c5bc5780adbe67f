"""Characters: which of them nobody may lose, which are none, and how subtitles escape them."""

import html
import re

__all__ = ["has_marks", "is_visible", "replace_non_characters", "unescape", "visible", "without_marks"]

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|amp|lt|gt|quot|apos|nbsp|lrm|rlm);")
_NON_CHARACTER = re.compile("[\x00\ud800-\udfff]")
_INVISIBLE = re.compile(r"[\s\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]+")
_VISIBLE = re.compile(r"[^\s\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]")
_DIRECTION_MARKS = "\u061c\u200b\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"


def visible(text: str) -> str:
    """Return a text without white space, direction marks and the like: what nobody may lose."""
    return "".join(text.split()) if text.isascii() else _INVISIBLE.sub("", text)


def is_visible(text: str) -> bool:
    """Say whether a text holds anything but white space, direction marks and the like."""
    return _VISIBLE.search(text) is not None


def without_marks(text: str) -> str:
    """Strip white space and direction marks from both ends."""
    return text.strip(_DIRECTION_MARKS + " \t\r\n\x0b\x0c\xa0\u3000\u2028\u2029")


def has_marks(text: str) -> bool:
    """Say whether a text holds direction marks or the like."""
    return any(mark in text for mark in _DIRECTION_MARKS)


def unescape(text: str) -> str:
    """Resolve the entities that subtitles use; anything else that begins with ``&`` is text."""
    return _ENTITY.sub(lambda found: html.unescape(found[0]), text) if "&" in text else text


def replace_non_characters(text: str) -> str:
    """Put U+FFFD where there is a NUL or half of a surrogate pair, which are not characters."""
    return _NON_CHARACTER.sub("\ufffd", text)
