"""Files of anybody's: read within limits, and decoded strictly."""

import codecs
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO
from zipfile import ZipFile, ZipInfo

from elicit_gym.errors import SettingError, StorageError

__all__ = [
    "DEFAULT_LIMITS",
    "MEGABYTE",
    "RAISE",
    "FileLimits",
    "check_archive",
    "check_size",
    "current_limits",
    "decode_text",
    "read_bytes",
    "read_entry",
]

MEGABYTE = 1_000_000
LIMIT_VARIABLE = "ELICIT_GYM_MAX_MB"
RAISE = f"raise the limit (${LIMIT_VARIABLE}) if you trust the file"
"""What to do about a file that is too large, wherever no option says it."""
_ALWAYS_READ = 4 * MEGABYTE
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LIKELY_ENCODINGS = ("cp1252", "cp1251", "gb18030", "shift_jis")


@dataclass(frozen=True, kw_only=True)
class FileLimits:
    """How much of a stranger's file is read before it is refused.

    Attributes:
        total: bytes of a file, and of all that a packed file holds.
        text: bytes of a file that is text alone.
        entry: bytes of one entry of a packed file, unpacked, and of one line of JSON lines.
        records: bytes of a file that is read record by record: JSON lines, built datasets, corpora.
        line: characters of one line or field of a transcript.
        ratio: how many times larger than packed an archive's contents may be, from some megabytes on.
    """

    total: int = 256 * MEGABYTE
    text: int = 32 * MEGABYTE
    entry: int = 16 * MEGABYTE
    records: int = 8_000 * MEGABYTE
    line: int = 1_000_000
    ratio: int = 100

    @classmethod
    def of_megabytes(cls, megabytes: float) -> "FileLimits":
        """Return limits for texts of that size, the others in the default's proportion: 32 gives the default."""
        scale = megabytes / 32
        return cls(
            total=int(scale * cls.total),
            text=int(scale * cls.text),
            entry=int(scale * cls.entry),
            records=int(scale * cls.records),
            line=max(1, int(scale * cls.line)),
            ratio=max(1, int(scale * cls.ratio)),
        )


DEFAULT_LIMITS = FileLimits()


def current_limits() -> FileLimits:
    """Return the limits for files that no option is about: the default, or those of ``$ELICIT_GYM_MAX_MB``.

    Raises:
        SettingError: the variable is not a positive number.
    """
    given = os.environ.get(LIMIT_VARIABLE, "").strip()
    if not given:
        return DEFAULT_LIMITS
    try:
        megabytes = float(given)
    except ValueError:
        megabytes = 0.0
    if not 0 < megabytes < 1e9:
        raise SettingError(
            f"Reading ${LIMIT_VARIABLE}: expected a number of megabytes for a text file (32 is the default), got "
            f"{given[:40]!r}. Correct it, or unset it."
        )
    return FileLimits.of_megabytes(megabytes)


def read_bytes(path: Path, limits: FileLimits = DEFAULT_LIMITS, *, packed: bool = False) -> bytes:
    """Return a file's bytes.

    Args:
        path: of the file.
        limits: how large it may be.
        packed: whether it is of a kind that packs its contents, so that it may be larger than a text.

    Raises:
        SettingError: there is none, it cannot be read, or it is larger than the limit.
    """
    try:
        if not path.is_file():
            raise SettingError(f"Reading {path}: expected a file, got {_what_is_at(path)}. Check the path.")
        size = path.stat().st_size
        limit = limits.total if packed else limits.text
        if size > limit:
            raise _too_large(str(path), size, limit)
        return path.read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        if isinstance(error, SettingError):
            raise
        raise SettingError(
            f"Reading {path}: expected a file that can be read, got {getattr(error, 'strerror', None) or error}. "
            "Check the path."
        ) from error


def check_size(path: Path, file: IO[bytes], limit: int) -> None:
    """Refuse an open file that is larger than a limit; what has no size, such as a pipe, is limited by its lines.

    Raises:
        StorageError: it is.
    """
    size = os.fstat(file.fileno()).st_size
    if size > limit:
        raise StorageError(
            f"Reading {path}: expected at most {limit / MEGABYTE:.4g} MB, got {size / MEGABYTE:.4g} MB; {RAISE}."
        )


def _what_is_at(path: Path) -> str:
    return "a folder" if path.is_dir() else "something else" if path.exists() else "none"


def _too_large(where: str, size: int, limit: int) -> SettingError:
    return SettingError(
        f"Reading {where}: expected at most {limit / MEGABYTE:.4g} MB, got {size / MEGABYTE:.4g} MB. "
        f"Raise the limit (--max-mb, or ${LIMIT_VARIABLE} where there is no such option) if you trust the file."
    )


def check_archive(archive: ZipFile, where: str, limits: FileLimits = DEFAULT_LIMITS) -> None:
    """Refuse a packed file whose contents exceed the limits; `zipfile` never unpacks more than an entry declares.

    Raises:
        SettingError: what it holds is too large, or much larger than it is packed, as in files made to fill a memory.
    """
    total = sum(entry.file_size for entry in archive.infolist())
    assert archive.fp is not None
    packed = archive.fp.seek(0, os.SEEK_END)  # what entries say of their packed size may be wrong
    limit = limits.total if total <= _ALWAYS_READ else min(limits.total, limits.ratio * packed)
    if total > limit:
        raise SettingError(
            f"Reading {where}: expected at most {limit / MEGABYTE:.4g} MB in {packed / MEGABYTE:.2g} MB packed, got "
            f"{total / MEGABYTE:.4g} MB. If you trust it, unpack it yourself, or raise the limit (--max-mb, or "
            f"${LIMIT_VARIABLE} where there is no such option)."
        )


def read_entry(archive: ZipFile, entry: ZipInfo | str, where: str, limits: FileLimits = DEFAULT_LIMITS) -> bytes:
    """Return the bytes of one entry of a packed file.

    Raises:
        SettingError: it is too large, encrypted, damaged, or packed in a way that cannot be read.
    """
    try:
        info = archive.getinfo(entry) if isinstance(entry, str) else entry
        if info.file_size > limits.entry:
            raise _too_large(f"{where}/{info.filename}", info.file_size, limits.entry)
        if info.flag_bits & 1:
            raise SettingError(
                f"Reading {where}/{info.filename}: expected an entry without a password, got an encrypted one. "
                "Unpack the file first."
            )
        return archive.read(info)
    except SettingError:
        raise
    except Exception as error:  # zipfile raises errors of half a dozen kinds for damaged entries
        raise SettingError(
            f"Reading {where}: expected a whole packed file, got {type(error).__name__}: {error}. Get it again."
        ) from error


def decode_text(data: bytes, where: str, encoding: str | None = None) -> tuple[str, str]:
    """Decode strictly and return the text and the name of its encoding.

    Without `encoding` a byte-order mark decides, then UTF-16's zero bytes, then UTF-8. Whatever is none of these is
    refused and not guessed: the message shows how the line would read in a few encodings.

    Raises:
        SettingError: the bytes are no text in that encoding, or hold a NUL.
    """
    name = encoding or next((name for mark, name in _MARKS if data.startswith(mark)), None) or _without_mark(data)
    try:
        text = data.decode(name)
    except LookupError as error:
        raise SettingError(
            f"Reading {where}: expected the name of an encoding, such as 'cp1252', got {encoding!r}."
        ) from error
    except UnicodeError as error:
        raise SettingError(_unreadable(data, where, name, error)) from error
    if encoding is not None:
        text = text.removeprefix("\ufeff")
    if "\x00" in text:
        line = text.count("\n", 0, text.index("\x00")) + 1
        raise SettingError(f"Reading {where}: expected text, got a NUL (line {line}). Is it another kind of file?")
    return text, {"utf-8-sig": "utf-8"}.get(name, name)


def _without_mark(data: bytes) -> str:
    """Tell UTF-16 without a mark by its zeros: in most texts every second byte is one."""
    start = data[:4096]
    if len(start) >= 4 and len(data) % 2 == 0:
        even, odd = start[0::2].count(0), start[1::2].count(0)
        if odd > len(start) // 5 and even * 10 < odd:
            return "utf-16-le"
        if even > len(start) // 5 and odd * 10 < even:
            return "utf-16-be"
    return "utf-8"


def _unreadable(data: bytes, where: str, name: str, error: UnicodeError) -> str:
    start = getattr(error, "start", 0)
    line = data[data.rfind(b"\n", 0, start) + 1 :].split(b"\n", 1)[0].strip()[:60]
    number = data.count(b"\n", 0, start) + 1
    found = f"byte 0x{data[start]:02x} (line {number})" if start < len(data) else str(error)
    if name != "utf-8":
        return f"Reading {where}: expected {name} text, got {found}. Check the encoding."
    readings = []
    for candidate in _LIKELY_ENCODINGS:
        with suppress(UnicodeError):
            readings.append(f"{candidate} reads {line.decode(candidate)!r}")
    shown = f" ({'; '.join(readings)})" if readings else ""
    return f"Reading {where}: expected UTF-8 or UTF-16 text, got {found}. Name its encoding, --encoding{shown}."
