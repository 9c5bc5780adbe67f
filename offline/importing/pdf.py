"""PDF files: the text of their pages, line by line."""

import io
import logging
from dataclasses import dataclass
from typing import Any

from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.file_limits import FileLimits
from elicit_gym.offline.importing.characters import is_visible, replace_non_characters
from elicit_gym.offline.importing.source import Line

__all__ = ["PdfText", "read_pdf"]


def _pages(data: bytes, path: str, limits: FileLimits) -> tuple[list[str], list[Line]]:
    try:
        import pypdf
    except ImportError as error:
        raise MissingExtraError("Importing .pdf transcripts", "import") from error
    logging.getLogger("pypdf").setLevel(logging.ERROR)  # it warns of every oddity, and reads on
    try:
        reader = pypdf.PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise SettingError(
                f"Importing {path}: expected a PDF without a password, got an encrypted one. Save it without."
            )
        pages: list[str] = []
        remarks: list[Line] = []
        total = 0
        for number, page in enumerate(reader.pages, 1):
            contents = page.get_contents()
            total += len(contents.get_data()) if contents is not None else 0
            if total > limits.entry:
                raise SettingError(
                    f"Importing {path}: expected at most {limits.entry / 1e6:,.0f} MB of page contents, got more "
                    f"(page {number}). Raise the limit (--max-mb) if you trust the file."
                )
            pages.append(replace_non_characters(page.extract_text()))
            remarks += _remarks(page, number)
        return pages, remarks
    except SettingError:
        raise
    except (Exception, RecursionError) as error:  # pypdf raises errors of many kinds for broken files
        raise SettingError(
            f"Importing {path}: expected a readable PDF, got {type(error).__name__}: {str(error)[:200]}. "
            "Save it again, or as .docx."
        ) from error


def _remarks(page: Any, number: int) -> list[Line]:
    """Return comments and filled fields, which lie on a page and do not belong to its text."""
    remarks = []
    for i, annotation in enumerate(page.get("/Annots") or ()):
        found = annotation.get_object()
        text = found.get("/Contents") or found.get("/V") if hasattr(found, "get") else None
        if isinstance(text, str) and is_visible(text):
            remarks.append(Line(("remark", number, i), f"page {number}", replace_non_characters(text), number - 1))
    return remarks


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text of a PDF.

    Attributes:
        lines: of its pages.
        remarks: comments and filled fields.
        notes: on pages without text.
    """

    lines: list[Line]
    remarks: list[Line]
    notes: list[str]


def read_pdf(data: bytes, path: str, limits: FileLimits) -> PdfText:
    """Return the text of a PDF.

    Raises:
        SettingError: it is none, is damaged, encrypted or too large, or holds pictures of text only.
        MissingExtraError: pypdf is not installed.
    """
    pages, remarks = _pages(data, path, limits)
    without = [number for number, text in enumerate(pages, 1) if not is_visible(text)]
    if len(without) == len(pages):
        raise SettingError(
            f"Importing {path}: expected text in the PDF, got none on its {len(pages)} pages. A scan must go through "
            "text recognition (OCR) first."
        )
    lines = [
        Line((number, i), f"page {number}, line {i}", text, number - 1)
        for number, page in enumerate(pages, 1)
        for i, text in enumerate(page.replace("\x0c", "\n").split("\n"), 1)
    ]
    notes = [f"pages without text, such as pictures: {', '.join(map(str, without[:10]))}"] if without else []
    if any("\ufffd" in page for page in pages):
        notes.append("the PDF does not say which characters some of its signs are: they are U+FFFD in the text")
    return PdfText(lines, remarks, notes)
