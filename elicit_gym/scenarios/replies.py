"""Read what models really send when they are asked for a sentence, a list or an object.

A fence, a preamble, a label, numbers, bullets, an object around the list, trailing commas: none of these changes what
is meant, and each is read. What could be meant in two ways is refused with a `ValueError` that says so.
"""

import ast
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from elicit_gym.strict_json import json_text, parse_json

__all__ = ["read_list", "read_object", "read_rows", "read_sentence", "texts_of"]

_FENCED = re.compile(r"```[\w-]*[ \t]*\n?(.*?)```", re.DOTALL)
_BULLET = re.compile(r"^\s*(?:[-*•–—·▪]\s+|[(\[]?(?:\d{1,2}|[a-zA-Z])[.)\]:]\s+|[(\[]\d{1,2}[)\]]\s*)(?=\S)")
_LABEL = re.compile(
    r"^(?:\w+ ){0,2}(?:messages?|answer|sentence|traits?|hints?|questions?|suggestions?|constraints?|output|reply|"
    r"result)\s*(?:#?\d{1,2})?\s*[:=]\s*(?=\S)",
    re.IGNORECASE,
)
_PREAMBLE = re.compile(
    r"^(?:sure|certainly|of course|okay|ok|here(?:'s| is| are)|absolutely|great|got it|below|the following)\b.*$",
    re.IGNORECASE,
)
_AFTERWORD = re.compile(
    r"^(?:let me know|i hope|hope (?:this|that)|feel free|would you like|note:|explanation:|this (?:message|sentence) |"
    r"these (?:traits|questions|hints)|is there anything|please let)\b.*$",
    re.IGNORECASE,
)
_INLINE = re.compile(r"(?:^|[\s,;])[(\[]?\d{1,2}[.)\]]\s*(?=\S)")
_OUTSIDE_QUOTES = r"(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)"
_QUOTES = "\"'“”„‟«»`"
_LOOKS_LIKE_JSON = re.compile(r"[{\[]\s*(?:[\"'{\[]|//)")
_MOST_STARTS = 40
LONGEST_ENTRY = 2_000
"""Characters of a line up to which emphasis is taken off and commas part it: the time grows with the square."""

UNPARSED = "JSON that does not parse (quotation marks and commas are wrong, or it ends early)"


def _plain_quotes(text: str) -> str:
    return text.translate(str.maketrans("“”„‟", '""""'))


def _bare(text: str) -> str:
    """Return a text without bullet, label, emphasis and the quotation marks around it."""
    text = _BULLET.sub("", text.strip(), count=1)
    if len(text) <= LONGEST_ENTRY:
        text = re.sub(r"(?<!\w)(\*\*|__|\*)(?=\S)(.+?)(?<=\S)\1(?!\w)", r"\2", text)
    text = _LABEL.sub("", text.strip(), count=1).strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] in _QUOTES:
        text = text[1:-1].strip()
    return text


def _body(text: str) -> str:
    """Return what stands in the fence, where there is one, else all of it."""
    fenced = [found.strip() for found in _FENCED.findall(text) if found.strip()]
    if len(fenced) > 1:
        raise ValueError(f"expected one answer, got {len(fenced)} fenced blocks")
    return fenced[0] if fenced else text.strip()


def _lines(text: str) -> list[str]:
    """Return the lines that belong to the answer: no preamble, heading, rule or closing offer."""
    lines = [line.strip() for line in text.splitlines() if line.strip(" \t-=*_`")]
    while len(lines) > 1 and (
        lines[0].rstrip("* ").endswith(":") or lines[0].startswith("#") or _PREAMBLE.match(lines[0])
    ):
        lines = lines[1:]
    while len(lines) > 1 and _AFTERWORD.match(lines[-1].lstrip("*_ (")):
        lines = lines[:-1]
    return lines


def read_sentence(text: str) -> str:
    """Read a reply that should be one line of text.

    Raises:
        ValueError: it has no text, or several lines that could each be meant.
    """
    body = _body(text)
    value = _json_in(body)
    if isinstance(value, Mapping) and len(value) == 1:
        (value,) = value.values()
    if isinstance(value, list) and len(value) == 1:
        (value,) = value
    if isinstance(value, str) and value.strip():
        return _bare(value)
    if isinstance(value, Mapping | list):
        raise ValueError(f"expected one sentence, got JSON with {len(value)} entries")
    lines = [_bare(line) for line in _lines(body)]
    if len(lines) != 1 or not lines[0]:
        raise ValueError(f"expected one sentence, got {len([line for line in lines if line])} lines: {text[:80]!r}")
    return lines[0]


def read_list(text: str) -> list[str]:
    """Read a reply that should be a list of texts: JSON, an object around it, numbered, bulleted, or split by commas.

    Raises:
        ValueError: it has no list, or more than one.
    """
    body = _body(text)
    value = _json_in(body)
    if value is not None:
        return texts_of(value)
    lines = _lines(body)
    marked = [line for line in lines if _BULLET.match(line)]
    if len(marked) > 1 or (marked and len(lines) == 1 and not _INLINE.search(marked[0][3:])):
        return _without_blanks(marked)
    if len(lines) > 1:
        return _without_blanks(lines)
    line = _LABEL.sub("", _plain_quotes(lines[0]) if lines else "", count=1)
    if len(_INLINE.findall(line)) > 1:
        return _without_blanks(part.strip(" ,;") for part in _INLINE.split(line))
    for mark in (";", ",") if len(line) <= LONGEST_ENTRY else ():
        parts = re.split(mark + _OUTSIDE_QUOTES, line)
        if len(parts) > 1:
            return _without_blanks(re.sub(r"^\s*and\s+", "", part) for part in parts)
    return _without_blanks(lines)


def texts_of(value: Any) -> list[str]:
    """Return the texts of a list in JSON, whatever it is wrapped in.

    Args:
        value: a list of texts, or of objects with one text each; an object that holds nothing but such a list, or one
            text under each key; a text with one entry per line.

    Raises:
        ValueError: it is none of these.
    """
    if isinstance(value, str):
        return _without_blanks(_lines(value))
    if isinstance(value, Mapping):
        lists = [inner for inner in value.values() if isinstance(inner, list)]
        if len(lists) == 1:
            return texts_of(lists[0])
        if len(lists) > 1:
            raise ValueError(f"expected one list, got {len(lists)}: {', '.join(map(str, value))}")
        if len(value) == 1 and isinstance(inner := next(iter(value.values())), Mapping):
            return texts_of(inner)
        value = list(value.values())
    if not isinstance(value, list):
        raise ValueError(f"expected a list of texts, got {str(value)[:60]!r}")
    return _without_blanks(_entry(entry) for entry in value)


def _entry(entry: Any) -> str:
    if isinstance(entry, Mapping):
        said = [inner for inner in entry.values() if isinstance(inner, str)]
        if len(said) == 1:
            return said[0]
    if isinstance(entry, list) and len(entry) == 1:
        return _entry(entry[0])
    if not isinstance(entry, str):
        raise ValueError(f"expected a text for each entry, got {json_text(entry, ascii_only=False)[:80]}")
    return entry


def _without_blanks(entries: Any) -> list[str]:
    return [bare for entry in entries if (bare := _bare(entry))]


def read_object(text: str, fields: Collection[str]) -> dict[str, Any]:
    """Read a reply that should be a JSON object.

    Args:
        text: the reply.
        fields: that it has to have; keys are read whatever their case, and an object around it is taken off.

    Raises:
        ValueError: there is no object, it does not parse, or fields are missing from it.
    """
    if "{" not in text:
        raise ValueError("no JSON object")
    found = [value for value in map(_only, _objects(text)) if isinstance(value, Mapping)]
    if not found:
        raise ValueError(UNPARSED)
    best = max(found, key=lambda value: (len(set(fields) & set(_unwrapped(value, fields))), len(str(value))))
    value = _unwrapped(best, fields)
    missing = [field for field in fields if field not in value]
    if missing:
        raise ValueError(f"expected the fields {', '.join(fields)}, got none named {', '.join(missing)}")
    return {field: value[field] for field in fields}


def read_rows(text: str, name: str) -> list[dict[str, Any]]:
    """Read a reply that should be an object with one list of objects.

    Args:
        text: the reply: that object, the list alone, or an object in its place that has one under each id.
        name: of the list.

    Raises:
        ValueError: there is no such list.
    """
    whole = [value for value in _objects(text) if isinstance(value, list | Mapping)] if "{" in text else []
    if not whole:
        raise ValueError(UNPARSED if "{" in text else "no JSON object")
    value: Any = max(whole, key=lambda value: len(str(value)))
    while isinstance(value, Mapping):
        plain = _plain_keys(value)
        if name in plain:
            value = plain[name]
            if isinstance(value, Mapping):
                value = [{"id": key, **row} if isinstance(row, Mapping) else row for key, row in value.items()]
        elif len(plain) == 1:
            (value,) = plain.values()
        else:
            raise ValueError(f"expected the field {name}, got {', '.join(plain)}")
    if not isinstance(value, list) or not all(isinstance(row, Mapping) for row in value):
        raise ValueError(f"expected a list of objects in {name}, got {json_text(value, ascii_only=False)[:80]}")
    return [_plain_keys(row) for row in value]


def _only(value: Any) -> Any:
    return value[0] if isinstance(value, list) and len(value) == 1 else value


def _plain_keys(value: Mapping[str, Any]) -> dict[str, Any]:
    return {re.sub(r"\W+", "_", str(key).strip().lower()).strip("_"): inner for key, inner in value.items()}


def _unwrapped(value: Mapping[str, Any], fields: Collection[str]) -> dict[str, Any]:
    plain = _plain_keys(value)
    if not set(fields) & set(plain) and len(plain) == 1:
        inner = _only(next(iter(plain.values())))
        if isinstance(inner, Mapping):
            return _unwrapped(inner, fields)
    return plain


def _json_in(text: str) -> Any:
    """Return the JSON of a reply that is nothing but JSON behind a preamble; None for a reply in prose.

    Raises:
        ValueError: it looks like JSON and does not parse: what could be read of it would be a part.
    """
    start = re.search(r"[\[{]", text)
    if start is None:
        return _parsed(text) if text[:1] == '"' and text[-1:] == '"' and text.count('"') == 2 else None
    before = text[: start.start()].strip()
    if before and not (before.endswith(":") or "\n" in text[: start.start()] or _PREAMBLE.match(before)):
        return None
    inside = text[start.start() :]
    value = next(_objects(inside), None)
    if value is None and _LOOKS_LIKE_JSON.match(inside):
        raise ValueError(UNPARSED)
    return value


def _objects(text: str) -> Iterator[Any]:
    """Yield the JSON values in a text, up to the first that does not parse: what stands inside of that is a part."""
    decoder = json.JSONDecoder(strict=False)
    for mended in (text, _mended(text)):
        place, starts, any_found = 0, 0, False
        while starts < _MOST_STARTS and (bracket := re.compile(r"[\[{]").search(mended, place)):
            starts += 1
            try:
                value, place = decoder.raw_decode(mended, bracket.start())
            except (ValueError, RecursionError):
                if _LOOKS_LIKE_JSON.match(mended, bracket.start()):
                    break
                place = bracket.start() + 1
                continue
            if value:
                any_found = True
                yield value
        if any_found:
            return
    start, end = re.search(r"[\[{]", text), max(text.rfind("}"), text.rfind("]"))
    if start and start.start() < end and (value := _literal(text[start.start() : end + 1])) is not None:
        yield value


def _mended(text: str) -> str:
    """Repair what changes no content: trailing commas, comments at ends of lines, typographic quotation marks."""
    text = re.sub(r"(?m)(?<=[,\[{\"\]}])[ \t]*//[^\n\"]*$", "", text)
    if '"' not in text:
        text = _plain_quotes(text)
    return re.sub(r",(\s*[}\]])", r"\1", text)


def _parsed(text: str) -> Any:
    try:
        return parse_json(text, control_characters=True)
    except ValueError:
        return None


def _literal(text: str) -> Any:
    """Read an object as Python prints it, with single quotation marks."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return None
