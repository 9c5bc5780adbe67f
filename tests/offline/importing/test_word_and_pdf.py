"""Word and PDF files: what is dialogue, what is kept apart, what is refused."""

import io
import zipfile
from pathlib import Path
from typing import Any

import docx
import pypdf
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls

from elicit_gym.errors import SettingError
from elicit_gym.file_limits import FileLimits
from tests.offline.importing.reading import kept, left_out, read, roles, said, small_pdf, times


def saved(document: Any) -> bytes:
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def paragraphs(*texts: str) -> Any:
    document = docx.Document()
    for text in texts:
        document.add_paragraph(text)
    return document


def table(document: Any, rows: list[tuple[str, ...]]) -> Any:
    made = document.add_table(rows=0, cols=len(rows[0]))
    for row in rows:
        for cell, text in zip(made.add_row().cells, row, strict=True):
            cell.text = text
    return document


TALK = [("Anna", "Where were you born?"), ("Bo", "In Oslo."), ("Anna", "And then?"), ("Bo", "In Bern.")]


def test_paragraphs(tmp_path: Path) -> None:
    content = saved(paragraphs("Interview: Kalmar", *(f"{name}: {text}" for name, text in TALK)))
    transcript = read(tmp_path, "t.docx", content)
    assert said(transcript) == TALK
    assert kept(transcript) == {"headings": ["Interview: Kalmar"]}


def test_transcripts_of_teams(tmp_path: Path) -> None:
    document = paragraphs("Mill interview-20240305_100000-Meeting Recording", "March 5, 2024, 10:00AM", "12m 4s")
    for name, time, text in (
        ("Anna Lind", "0:03", "Where?"),
        ("Bo Ek", "0:07", "One thing: there."),
        ("Anna Lind", "0:11", "One thing: when?"),
    ):
        run = document.add_paragraph().add_run(name)
        run.bold = True
        run.add_text("   " + time)
        run.add_break()
        run.add_text(text)
    document.add_paragraph("Anna Lind stopped transcription")
    transcript = read(tmp_path, "t.docx", saved(document))
    assert said(transcript) == [
        ("Anna Lind", "Where?"),
        ("Bo Ek", "One thing: there."),
        ("Anna Lind", "One thing: when?"),
    ]
    assert times(transcript) == ["0:03", "0:07", "0:11"]
    assert len(kept(transcript)["headings"]) == 3


def test_dialogue_in_tables(tmp_path: Path) -> None:
    heading = paragraphs("Interview: Kalmar")
    rows = [(f"0:0{i}", name, text) for i, (name, text) in enumerate(TALK)]
    transcript = read(tmp_path, "t.docx", saved(table(heading, rows)))
    assert said(transcript) == TALK
    assert times(transcript) == ["0:00", "0:01", "0:02", "0:03"]
    assert kept(transcript) == {"text outside the table": ["Interview: Kalmar"]}
    headed = table(docx.Document(), [("Speaker", "Text"), *TALK[:2], ("", "And more."), *TALK[2:]])
    transcript = read(tmp_path, "h.docx", saved(headed))
    assert said(transcript) == [*TALK[:2], ("(unknown)", "And more."), *TALK[2:]]
    frame = table(docx.Document(), [("\n".join(f"{name}: {text}" for name, text in TALK),)])
    assert said(read(tmp_path, "f.docx", saved(frame))) == TALK


def test_a_table_about_the_talk_is_kept_apart(tmp_path: Path) -> None:
    document = table(docx.Document(), [("Interviewer", "Anna"), ("Interviewee", "Bo"), ("Date", "2019")])
    for name, text in TALK:
        document.add_paragraph(f"{name}: {text}")
    transcript = read(tmp_path, "t.docx", saved(document))
    assert said(transcript) == TALK
    assert kept(transcript)["tables"] == ["Interviewer", "Anna", "Interviewee", "Bo", "Date", "2019"]


def run(inside: str) -> str:
    return f"<w:r><w:t xml:space='preserve'>{inside}</w:t></w:r>"


def with_everything() -> bytes:
    document = docx.Document()
    space = nsdecls("w")
    parts = [
        f"<w:p {space}>{run('Anna: Where ')}<w:ins w:id='1' w:author='x'>{run('were ')}</w:ins>{run('you?')}</w:p>",
        f"<w:p {space}>{run('Bo: At the ')}<w:del w:id='2' w:author='x'><w:r><w:delText>old</w:delText></w:r></w:del>"
        f"<w:hyperlink>{run('mill')}</w:hyperlink><w:sdt><w:sdtContent>{run(' by')}</w:sdtContent></w:sdt>"
        f"<w:r><w:tab/><w:t>Kal</w:t><w:noBreakHyphen/><w:t>mar</w:t></w:r><w:r><w:instrText>PAGE</w:instrText></w:r></w:p>",
        f"<w:p {space}>{run('Anna: When?')}<w:r><w:pict><w:txbxContent><w:p>{run('in a box')}</w:p></w:txbxContent></w:pict></w:r></w:p>",
        f"<w:p {space}>{run('Bo: Then.')}</w:p>",
    ]
    for part in parts:
        document.element.body.insert(-1, parse_xml(part))
    document.sections[0].header.paragraphs[0].text = "Mill project"
    document.add_comment(runs=document.paragraphs[0].runs, text="Check this")
    return saved(document)


def test_what_word_keeps_beside_the_text(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.docx", with_everything())
    assert said(transcript) == [
        ("Anna", "Where were you?"),
        ("Bo", "At the mill by\tKal-mar"),
        ("Anna", "When?"),
        ("Bo", "Then."),
    ]
    assert kept(transcript) == {
        "tracked deletions": ["old"], "text boxes": ["in a box"], "comments": ["Check this"], "headers of pages": ["Mill project"],
    }  # fmt: skip
    assert left_out(transcript)["field codes"] == 1


def packed(**files: str | bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name.replace("__", "/"), content)
    return out.getvalue()


def encrypted(content: bytes) -> bytes:
    """Set the flag of encryption on every entry."""
    data = bytearray(content)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.find(mark)
        while at >= 0:
            data[at + offset] |= 1
            at = data.find(mark, at + 4)
    return bytes(data)


BIG = (
    '<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>' + "<w:p/>" * 4_000_000
)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"no word file", "expected a .docx file"),
        (b"\xd0\xcf\x11\xe0 old", "an older Word file"),
        (packed(a="x"), "without a document"),
        (packed(word__document_xml="x").replace(b"document_xml", b"document.xml"), "expected readable XML"),
        (encrypted(packed(word__document_xml="x").replace(b"document_xml", b"document.xml")), "got an encrypted one"),
        (packed(word__document_xml=BIG).replace(b"document_xml", b"document.xml"), "MB packed, got 24 MB"),
        (saved(paragraphs("prose", "and more")), "expected somebody who speaks"),
        (saved(docx.Document()), "expected text, got none"),
        (with_everything()[:-500], "expected a .docx file"),
    ],
)  # fmt: skip
def test_word_files_that_are_refused(tmp_path: Path, content: bytes, problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        read(tmp_path, "t.docx", content)


def test_an_entry_over_the_limit_is_refused_until_it_is_raised(tmp_path: Path) -> None:
    content = saved(paragraphs(*(f"{name}: {text}" for name, text in TALK)))
    with pytest.raises(SettingError, match="document.xml: expected at most .*--max-mb"):
        read(tmp_path, "t.docx", content, limits=FileLimits(entry=1000))
    assert said(read(tmp_path, "t.docx", content)) == TALK


def test_pages(tmp_path: Path) -> None:
    pages = [
        ["Mill project   Interview 7", "ANNA: Where did you", "work?", "BO: At the mill, with my bro-", "ther, a well-", "Known man.", "Page 1 of 2"],
        ["Mill project   Interview 7", "We lived there.", "ANNA: And then?", "BO: I moved.", "Page 2 of 2"],
    ]  # fmt: skip
    transcript = read(tmp_path, "t.pdf", small_pdf(pages))
    assert said(transcript) == [
        ("ANNA", "Where did you work?"), ("BO", "At the mill, with my brother, a well- Known man. We lived there."),
        ("ANNA", "And then?"), ("BO", "I moved."),
    ]  # fmt: skip
    assert left_out(transcript) == {"running heads": 2, "page numbers": 2, "hyphens at the ends of lines": 1}
    assert any("'bro-ther'" in note for note in transcript.notes)


def test_lines_that_open_pages_and_are_talk_stay(tmp_path: Path) -> None:
    pages = [["Q. Why?", "A. Yes.", "Q. Why?", "A. So."], ["Q. Why?", "A. No.", "Q. Why?", "A. So."]]
    transcript = read(tmp_path, "t.pdf", small_pdf(pages))
    assert len(said(transcript)) == 8
    for first, second in (("1950", "1951"), ("40", "70")):
        pages = [["Anna: When?", "Bo: In", first], ["Anna: Sure?", "Bo: In", second]]
        texts = [text for _, text in said(read(tmp_path, "n.pdf", small_pdf(pages)))]
        assert texts == ["When?", f"In {first}", "Sure?", f"In {second}"]


def test_pdf_files_that_are_refused(tmp_path: Path) -> None:
    whole = small_pdf([["Anna: Where?", "Bo: There."]])
    writer = pypdf.PdfWriter(clone_from=io.BytesIO(whole))
    writer.encrypt("secret", algorithm="RC4-128")
    locked = io.BytesIO()
    writer.write(locked)
    for content, problem in (
        (b"no pdf", "expected a readable PDF"),
        (whole[:200], "expected a readable PDF"),
        (small_pdf([[]]), "must go through text recognition"),
        (small_pdf([["prose and more"]]), "expected somebody who speaks"),
        (locked.getvalue(), "got an encrypted one"),
    ):
        with pytest.raises(SettingError, match=problem):
            read(tmp_path, "t.pdf", content)
    with pytest.raises(SettingError, match=r"page contents, got more \(page 1\)"):
        read(tmp_path, "t.pdf", whole, limits=FileLimits(entry=10))
    assert roles(read(tmp_path, "t.pdf", whole)) == {"Anna": "elicitor", "Bo": "respondent"}
