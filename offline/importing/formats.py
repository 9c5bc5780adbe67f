"""One reader for each kind of file, and beside it the raw text that its result is held against."""

import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.file_limits import FileLimits, decode_text, read_bytes
from elicit_gym.offline.importing.characters import is_visible
from elicit_gym.offline.importing.chats import load_and_read
from elicit_gym.offline.importing.json_source import leaves
from elicit_gym.offline.importing.pdf import read_pdf
from elicit_gym.offline.importing.source import Line, Reading, SourceUnit, lines_of_text
from elicit_gym.offline.importing.subtitles import read_cues
from elicit_gym.offline.importing.tables import read_table, table_units
from elicit_gym.offline.importing.text_layouts import read_lines
from elicit_gym.offline.importing.word import read_word, word_units
from elicit_gym.offline.importing.word_tables import read_word_text

__all__ = ["FORMATS", "Opened", "ReadOptions", "read_file"]

_MOJIBAKE = re.compile("[ÃÂ][\x80-\xbf]|â[€\x80]|Ð[\x80-\xbf°-¿]Ñ")
_OTHERS = {
    ".doc": "Save it as .docx.",
    ".rtf": "Save it as .docx or .txt.",
    ".odt": "Save it as .docx.",
    ".pages": "Export it as .docx.",
    ".xls": "Save it as .csv.",
    ".xlsx": "Save it as .csv.",
    ".ods": "Save it as .csv.",
    ".html": "Save it as .txt or .docx.",
    ".htm": "Save it as .txt or .docx.",
    ".eaf": "Export it from ELAN as tab-separated text or as CHAT.",
    ".textgrid": "Export it as tab-separated text.",
    ".zip": "Unpack it first.",
}


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """What the user says about the files.

    Attributes:
        forced: keys of names that are speakers in any case.
        speaker: whether a file that names nobody is read nevertheless.
        encoding: of text files; None to tell it from the bytes.
    """

    limits: FileLimits
    forced: Collection[str] = ()
    speaker: bool = False
    encoding: str | None = None


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that was read.

    Attributes:
        source: yields its raw text, taken without the reader's help.
        encoding: "" for files that have their own way to write text.
    """

    reading: Reading
    source: Callable[[], Iterable[SourceUnit]]
    encoding: str


def read_file(path: Path, options: ReadOptions) -> Opened:
    """Read a file of any known kind.

    Raises:
        SettingError: the kind is unknown, the file cannot be read, or nobody speaks in it.
        MissingExtraError: the kind needs a library that is not installed.
    """
    kind = path.suffix.lower()
    if kind not in FORMATS:
        hint = _OTHERS.get(kind, "Rename it if it is one of these, or convert it.")
        raise SettingError(
            f"Importing {path}: expected one of {', '.join(FORMATS)}, got {kind or 'no ending'!r}. {hint}"
        )
    data = read_bytes(path, options.limits, packed=kind in (".docx", ".pdf"))
    if not data.strip():
        raise SettingError(f"Importing {path}: expected a transcript, got an empty file. Check the file.")
    return FORMATS[kind](data, str(path), options)


def _text(data: bytes, path: str, options: ReadOptions) -> tuple[str, str]:
    text, encoding = decode_text(data, path, options.encoding)
    if not is_visible(text):
        raise SettingError(f"Importing {path}: expected a transcript, got an empty file. Check the file.")
    return text, encoding


def _lines(text: str, path: str, limits: FileLimits) -> list[Line]:
    lines = lines_of_text(text)
    for line in lines:
        if len(line.text) > limits.line:
            raise SettingError(
                f"Importing {path}: expected lines of at most {limits.line:,} characters, got {len(line.text):,} "
                f"({line.where}). Raise the limit (--max-mb) if you trust the file."
            )
    return lines


def _units(lines: list[Line]) -> list[SourceUnit]:
    """Put lines of the same unit together, such as the two sides of a form feed."""
    texts: dict[object, tuple[str, list[str]]] = {}
    for line in lines:
        texts.setdefault(line.unit, (line.where, []))[1].append(line.text)
    return [(unit, where, "\n".join(parts)) for unit, (where, parts) in texts.items()]


def _note_damage(reading: Reading, text: str) -> None:
    if "\ufffd" in text:
        reading.note(
            f"{text.count(chr(0xFFFD))} characters were lost before this file was written: it has U+FFFD in their place"
        )
    if found := _MOJIBAKE.search(text):
        around = text[max(0, found.start() - 10) : found.end() + 10]
        reading.note(f"the text looks as if it had been decoded wrongly before this file was written: {around!r}")


def _read_txt(data: bytes, path: str, options: ReadOptions) -> Opened:
    text, encoding = _text(data, path, options)
    if re.match(r'\s*[\[{]\s*(?:["{\[]|$)', text[:1000]) and text.rstrip()[-1:] in "]}":
        try:
            return _read_json(data, path, options)
        except SettingError as error:
            if "expected JSON" not in str(error):
                raise
    lines = _lines(text, path, options.limits)
    reading = read_lines(lines, path, forced=options.forced, speaker=options.speaker)
    _note_damage(reading, text)
    return Opened(reading, lambda: _units(lines), encoding)


def _read_subtitles(data: bytes, path: str, options: ReadOptions) -> Opened:
    text, encoding = _text(data, path, options)
    lines = _lines(text, path, options.limits)
    reading = read_cues(lines, path, forced=options.forced, speaker=options.speaker)
    _note_damage(reading, text)
    return Opened(reading, lambda: _units(lines), encoding)


def _read_csv(data: bytes, path: str, options: ReadOptions) -> Opened:
    text, encoding = _text(data, path, options)
    reading = read_table(text, path, options.limits, speaker=options.speaker)
    _note_damage(reading, text)
    return Opened(reading, lambda: table_units(text, path, options.limits), encoding)


def _read_json(data: bytes, path: str, options: ReadOptions) -> Opened:
    text, encoding = _text(data, path, options)
    value, reading = load_and_read(text, path, options.limits, speaker=options.speaker)
    _note_damage(reading, text)
    return Opened(reading, lambda: leaves(value), encoding)


def _read_docx(data: bytes, path: str, options: ReadOptions) -> Opened:
    word = read_word(data, path, options.limits)
    reading = read_word_text(word, path, forced=options.forced, speaker=options.speaker)
    return Opened(reading, lambda: word_units(data, path, options.limits), "")


def _read_pdf(data: bytes, path: str, options: ReadOptions) -> Opened:
    pdf = read_pdf(data, path, options.limits)
    reading = read_lines(pdf.lines, path, forced=options.forced, speaker=options.speaker, wrapped=True)
    for remark in pdf.remarks:
        reading.leave_out(remark.unit, "comments and form fields", remark.text, keep=True, where=remark.where)
    reading.notes += pdf.notes
    return Opened(reading, lambda: _units([*pdf.lines, *pdf.remarks]), "")


FORMATS: dict[str, Callable[[bytes, str, ReadOptions], Opened]] = {
    ".cha": _read_txt,
    ".csv": _read_csv,
    ".docx": _read_docx,
    ".json": _read_json,
    ".jsonl": _read_json,
    ".md": _read_txt,
    ".ndjson": _read_json,
    ".pdf": _read_pdf,
    ".srt": _read_subtitles,
    ".tsv": _read_csv,
    ".txt": _read_txt,
    ".vtt": _read_subtitles,
}
