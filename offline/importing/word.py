"""Word files: paragraphs and tables in their order, tracked changes as accepted; the rest is kept apart by name."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from io import BytesIO
from typing import Any
from zipfile import ZipFile

from elicit_gym.errors import MissingExtraError, SettingError
from elicit_gym.file_limits import FileLimits, check_archive, read_entry
from elicit_gym.offline.importing.characters import is_visible
from elicit_gym.offline.importing.source import Line, SourceUnit

__all__ = ["WordText", "read_word", "word_units"]

W = "{http://schemas.openxmlformats.org/wordprocessingml/2006/main}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}t"
_DRAWN = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_FALLBACK = "{http://schemas.openxmlformats.org/markup-compatibility/2006}Fallback"
_TEXTS = {f"{W}t", f"{W}delText", f"{W}instrText", f"{W}delInstrText", _MATH, _DRAWN}
_SIGNS = {f"{W}tab": "\t", f"{W}ptab": "\t", f"{W}br": "\n", f"{W}cr": "\n", f"{W}noBreakHyphen": "-"}
_PARTS = {
    "comments": "comments", "footnotes": "footnotes", "endnotes": "endnotes", "header": "headers of pages",
    "footer": "footers of pages", "glossary": "building blocks", "diagrams": "diagrams", "charts": "charts",
}  # fmt: skip


@dataclass(slots=True)
class WordText:
    """The text of a Word file.

    Attributes:
        blocks: of the body, in order: lines, and rows of tables as lists of cells, each a list of lines.
        apart: what is not read as dialogue: unit, what it is, text, where.
    """

    blocks: list[Line | list[list[Line]]] = field(default_factory=list)
    apart: list[tuple[Any, str, str, str]] = field(default_factory=list)


def _parts(data: bytes, path: str, limits: FileLimits) -> Iterator[tuple[str, Any]]:
    """Yield the XML parts that hold text, by name, the main document first under the name ``document``."""
    try:
        archive = ZipFile(BytesIO(data))
    except Exception as error:  # zipfile raises errors of many kinds for what is no zip
        old = data.startswith(b"\xd0\xcf\x11\xe0")
        what = "an older Word file (.doc) or one with a password" if old else str(error)
        raise SettingError(
            f"Importing {path}: expected a .docx file, got {what}. Save it as .docx with Word or LibreOffice."
        ) from error
    with archive:
        check_archive(archive, path, limits)
        main = _main_part(archive, path, limits)
        yield "document", _xml(read_entry(archive, main, path, limits), path, main)
        folder = main.rpartition("/")[0]
        for name in sorted(set(archive.namelist())):
            inside = name.removeprefix(f"{folder}/")
            if name != main and name.endswith(".xml") and inside != name and any(part in inside for part in _PARTS):
                yield name, _xml(read_entry(archive, name, path, limits), path, name)


def _main_part(archive: ZipFile, path: str, limits: FileLimits) -> str:
    """Return the name of the document's part, which is not always word/document.xml."""
    names = set(archive.namelist())
    if "_rels/.rels" in names:
        for relation in _xml(read_entry(archive, "_rels/.rels", path, limits), path, "_rels/.rels"):
            target = str(relation.get("Target", "")).lstrip("/")
            if str(relation.get("Type", "")).endswith("/officeDocument") and target in names:
                return target
    if "word/document.xml" in names:
        return "word/document.xml"
    raise SettingError(f"Importing {path}: expected a Word file, got a packed file without a document. Check the file.")


def _xml(raw: bytes, path: str, name: str) -> Any:
    try:
        from lxml import etree
    except ImportError as error:
        raise MissingExtraError("Importing .docx transcripts", "import") from error
    try:
        root = etree.fromstring(raw, etree.XMLParser(resolve_entities=False, no_network=True, huge_tree=False))
    except (etree.XMLSyntaxError, ValueError) as error:
        raise SettingError(
            f"Importing {path}: expected readable XML in {name}, got {error}. Save the file again with Word."
        ) from error
    if root.tag.startswith("{http://purl.oclc.org/ooxml/wordprocessingml"):
        raise SettingError(
            f"Importing {path}: expected Word's usual .docx, got its strict form. Save it as 'Word document (.docx)'."
        )
    return root


def _paragraph_of(element: Any) -> Any:
    while element is not None and element.tag != f"{W}p":
        element = element.getparent()
    return element


def _place(name: str, number: int) -> str:
    return f"paragraph {number + 1}" if name == "document" else f"{name}, paragraph {number + 1}"


def word_units(data: bytes, path: str, limits: FileLimits) -> list[SourceUnit]:
    """Return all text of a Word file by paragraph, whatever it is and wherever it stands, for the check."""
    units: list[SourceUnit] = []
    for name, root in _parts(data, path, limits):
        numbers = {paragraph: i for i, paragraph in enumerate(root.iter(f"{W}p"))}
        texts: dict[int, list[str]] = {}
        for element in root.iter(*_TEXTS, f"{W}noBreakHyphen"):
            paragraph = _paragraph_of(element)
            text = "-" if element.tag == f"{W}noBreakHyphen" else element.text or ""
            texts.setdefault(-1 if paragraph is None else numbers[paragraph], []).append(text)
        units += [((name, i), _place(name, i), "".join(parts)) for i, parts in texts.items()]
    return units


class _Body:
    """Walks through one part."""

    def __init__(self, name: str, root: Any, text: WordText) -> None:
        self.name, self.text = name, text
        self.numbers = {paragraph: i for i, paragraph in enumerate(root.iter(f"{W}p"))}

    def blocks(self, parent: Any) -> Iterator[Line | list[list[Line]]]:
        """Yield lines, and rows of tables as cells of lines."""
        for child in parent:
            if child.tag == f"{W}p":
                yield from self.paragraph(child)
            elif child.tag == f"{W}tbl":
                rows = [self._row(row) for row in child.iter(f"{W}tr") if next(row.iterancestors(f"{W}tbl")) is child]
                if any(sum(any(is_visible(line.text) for line in cell) for cell in row) > 1 for row in rows):
                    yield from rows
                else:  # a frame around text is no table
                    yield from (line for row in rows for line in _flat(row))
            elif isinstance(child.tag, str):
                yield from self.blocks(child)  # content controls and the like

    def _row(self, row: Any) -> list[list[Line]]:
        return [
            [line for block in self.blocks(cell) for line in _flat(block)]
            for cell in row.iter(f"{W}tc")
            if next(cell.iterancestors(f"{W}tr")) is row
        ]

    def paragraph(self, paragraph: Any) -> list[Line]:
        number = self.numbers[paragraph]
        unit, where = (self.name, number), _place(self.name, number)
        said: list[str] = []
        self._runs(paragraph, unit, where, said)
        return [Line(unit, where, part) for part in "".join(said).split("\n")]

    def _runs(self, parent: Any, unit: Any, where: str, said: list[str]) -> None:
        for child in parent:
            tag = child.tag
            if tag in (f"{W}del", f"{W}moveFrom"):
                self._apart(child, "tracked deletions", where)
            elif tag in (f"{W}instrText", f"{W}delInstrText"):
                self.text.apart.append((unit, "field codes", child.text or "", where))
            elif tag in (f"{W}txbxContent", _FALLBACK):
                self._apart(child, "text boxes" if tag != _FALLBACK else "copies for older programs", where)
            elif tag in (f"{W}t", _MATH, f"{W}delText", _DRAWN):
                said.append(child.text or "")
            elif tag in _SIGNS:
                said.append(_SIGNS[tag])
            elif isinstance(tag, str) and tag != f"{W}pPr":
                self._runs(child, unit, where, said)

    def _apart(self, element: Any, what: str, where: str) -> None:
        for found in element.iter(*_TEXTS, f"{W}noBreakHyphen"):
            paragraph = _paragraph_of(found)
            number = -1 if paragraph is None else self.numbers[paragraph]
            text = "-" if found.tag == f"{W}noBreakHyphen" else found.text or ""
            self.text.apart.append(((self.name, number), what, text, where))


def _flat(block: Line | list[list[Line]]) -> list[Line]:
    return [block] if isinstance(block, Line) else [line for cell in block for line in cell]


def read_word(data: bytes, path: str, limits: FileLimits) -> WordText:
    """Read a Word file.

    Raises:
        SettingError: it is none, is damaged or too large.
        MissingExtraError: lxml is not installed.
    """
    text = WordText()
    for name, root in _parts(data, path, limits):
        if name != "document":
            what = next(label for part, label in _PARTS.items() if part in name)
            _Body(name, root, text)._apart(root, what, name)
            continue
        text.blocks += _Body(name, root, text).blocks(root)
    return text
