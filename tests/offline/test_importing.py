"""Transcripts of one's own."""

import json
from pathlib import Path

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing import import_transcript

PLAIN = """Interview in Kalmar, 2019

ANNA: Where were you born?
BJORN: In Oslo.
It was winter.
ANNA: And then? Did you stay?
BJORN: Until 1950: that was the year of the move.
ANNA: Who came along?
BJORN: Nobody.
"""


def check_nothing_is_lost(path: Path, said: str, **kwargs: object) -> list[tuple[str, str, str]]:
    result = import_transcript(path, **kwargs)  # type: ignore[arg-type]
    assert result.characters_in == result.characters_out
    kept = "".join("".join(t.utterance.split()) for t in result.dialogue.turns)
    assert kept == "".join(said.split())
    return [(t.role, t.speaker, t.utterance) for t in result.dialogue.turns]


def test_plain_text(tmp_path: Path) -> None:
    path = tmp_path / "My Talk.txt"
    path.write_text(PLAIN, encoding="utf-8")
    said = PLAIN.replace("ANNA:", "").replace("BJORN:", "")
    turns = check_nothing_is_lost(path, said)
    assert turns[0] == ("respondent", "(heading)", "Interview in Kalmar, 2019")
    assert turns[1] == ("elicitor", "ANNA", "Where were you born?")
    assert turns[2] == ("respondent", "BJORN", "In Oslo.\nIt was winter.")
    assert turns[4][2] == "Until 1950: that was the year of the move."
    result = import_transcript(path)
    assert result.dialogue.dialogue_id == "my-talk"
    assert {row["speaker"]: row["from"] for row in result.review}["ANNA"].startswith("guessed: asks the largest share")


def test_roles_given_or_by_name(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("Q: Who are you?\nA: Anna, why do you ask?\nQ: So.\nA: Why? Why? Why?\n", encoding="utf-8")
    assert [t[0] for t in check_nothing_is_lost(path, "Who are you?Anna, why do you ask?So.Why? Why? Why?")] == [
        "elicitor", "respondent", "elicitor", "respondent",
    ]  # fmt: skip
    turns = import_transcript(path, roles={"A": "elicitor", "Q": "respondent"}).dialogue.turns
    assert [t.role for t in turns] == ["respondent", "elicitor", "respondent", "elicitor"]
    with pytest.raises(SettingError, match="expected role"):
        import_transcript(path, roles={"A": "boss"})


VTT = """WEBVTT

1
00:00:01.000 --> 00:00:03.000
<v Anna>Where were you born?

2
00:00:03.500 --> 00:00:05.000
<v Björn>In Oslo,

3
00:00:05.000 --> 00:00:07.000
in the winter.

4
00:00:08.000 --> 00:00:09.000
Anna: And then?
"""

SRT = """1
00:00:01,000 --> 00:00:03,000
Anna: Where were you born?

2
00:00:03,500 --> 00:00:05,000
BJÖRN: In <i>Oslo</i>,

3
00:00:05,000 --> 00:00:07,000
in the winter.
"""


def test_subtitles(tmp_path: Path) -> None:
    path = tmp_path / "t.vtt"
    path.write_text(VTT, encoding="utf-8")
    turns = check_nothing_is_lost(path, "Where were you born?In Oslo, in the winter.And then?")
    assert [(role, speaker) for role, speaker, _ in turns] == [
        ("elicitor", "Anna"), ("respondent", "Björn"), ("elicitor", "Anna"),
    ]  # fmt: skip
    assert import_transcript(path).dialogue.turns[1].timestamp == "00:00:03.500"
    other = tmp_path / "t.srt"
    other.write_text(SRT, encoding="utf-8")
    turns = check_nothing_is_lost(other, "Where were you born?In Oslo, in the winter.")
    assert [speaker for _, speaker, _ in turns] == ["Anna", "BJÖRN"]


def test_tables_and_chats(tmp_path: Path) -> None:
    said = 'Where, exactly?"In Oslo",\nhe said.'
    table = tmp_path / "t.csv"
    table.write_text(
        'Speaker,Time,Text\nAnna,0:01,"Where, exactly?"\nBo,0:02,"""In Oslo"",\nhe said."\n', encoding="utf-8"
    )
    turns = check_nothing_is_lost(table, said)
    assert turns[1] == ("respondent", "Bo", '"In Oslo",\nhe said.')
    rows = [{"role": "assistant", "content": "Where, exactly?"}, {"role": "user", "content": '"In Oslo",\nhe said.'}]
    for name, text in {
        "a.jsonl": "\n".join(json.dumps(row) for row in rows),
        "b.json": json.dumps(rows),
        "c.json": json.dumps({"messages": rows}),
        "d.jsonl": json.dumps({"messages": rows}),
    }.items():
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        assert [t[0] for t in check_nothing_is_lost(path, said)] == ["elicitor", "respondent"]


def test_word_and_pdf(tmp_path: Path) -> None:
    import docx

    document = docx.Document()
    for line in ("Anna: Where were you born?", "Bo: In Oslo.", "Anna: And then?", "Bo: In Bern."):
        document.add_paragraph(line)
    document.save(str(tmp_path / "t.docx"))
    said = "Where were you born?In Oslo.And then?In Bern."
    assert [t[1] for t in check_nothing_is_lost(tmp_path / "t.docx", said)] == ["Anna", "Bo", "Anna", "Bo"]
    (tmp_path / "t.pdf").write_bytes(
        small_pdf(["Anna: Where were you born?", "Bo: In Oslo.", "Anna: And then?", "Bo: In Bern."])
    )
    assert [t[1] for t in check_nothing_is_lost(tmp_path / "t.pdf", said)] == ["Anna", "Bo", "Anna", "Bo"]


def small_pdf(lines: list[str]) -> bytes:
    """Write a PDF of one page with text, by hand."""
    text = "BT /F1 12 Tf 72 720 Td 16 TL " + " ".join(f"({line}) Tj T*" for line in lines) + " ET"
    objects = [
        "<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>",
        f"<< /Length {len(text)} >>\nstream\n{text}\nendstream", "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]  # fmt: skip
    out, offsets = "%PDF-1.4\n", []
    for i, body in enumerate(objects, 1):
        offsets.append(len(out))
        out += f"{i} 0 obj\n{body}\nendobj\n"
    start = len(out)
    out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{o:010d} 00000 n \n" for o in offsets)
    return (out + f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF").encode()


@pytest.mark.parametrize(
    ("name", "content", "problem"),
    [
        ("t.rtf", "x", "expected one of .csv"),
        ("t.txt", "just prose without anybody", "expected somebody who speaks"),
        ("t.csv", "a,b\n1,2\n", "expected a field for the speaker"),
        ("t.json", "{bad", "expected a readable .json transcript"),
        ("t.docx", "no word file", "expected a readable .docx file"),
    ],
)
def test_files_that_are_none(tmp_path: Path, name: str, content: str, problem: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(SettingError, match=problem):
        import_transcript(path)
    with pytest.raises(SettingError, match="expected a file, got none"):
        import_transcript(tmp_path / "nowhere.txt")
