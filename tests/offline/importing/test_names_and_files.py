"""Names, roles, ids, encodings, limits, and the file that is written."""

import codecs
import json
import os
from pathlib import Path

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.file_limits import FileLimits, decode_text
from elicit_gym.files import write_text, writing
from elicit_gym.offline.importing import import_transcript, import_transcripts, transcript_files, write_transcripts
from elicit_gym.offline.importing.names import NameKind, classify, name_key
from elicit_gym.offline.load_corpus import read_dialogues
from tests.offline.importing.reading import read, roles, said

TALK = "Anna: Where?\nBo: There.\nAnna: When?\nBo: Then.\n"


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (NameKind.role, "Interviewer|INTERVIEWER 2|Q|A|Respondent|the witness|Speaker 1|SPEAKER_00|Participant 3|访谈者|Enquêtrice|Ответ"),
        (NameKind.name, "Anna|ANNA LIND|Anna Lind|Ek, Bo|Dr. Lind|MR. EK|J. R. Smith|Ludwig van Beethoven|Anna and Bo|THE COURT|P1|I|田中|Мария|O'Brien|Lisa S. Blatt|Samuel A. Alito, Jr.|Will Smith|Edward Said|WILL|AL|BE|Jean-Luc|JUSTICE O’CONNOR|Ana María"),
        (NameKind.weak, "anna|Older brother|12|subject|Will"),
        (NameKind.prose, "and he said|My father said|One thing|One more thing|Remember|Note|He asked|well one thing first|It was cold, and|1950 was|Where?|Then he told me|Now|So|I Said|HE SAID|Date|http|said|"),
    ],
)  # fmt: skip
def test_what_looks_like_a_name(kind: NameKind, names: str) -> None:
    wrong = {name: found for name in names.split("|") if (found := classify(name)) is not kind}
    assert not wrong


def test_names_that_differ_in_case_marks_or_form_are_one_and_told(tmp_path: Path) -> None:
    rows = ["Anna", "\u200fANNA", "anna ", "Bjo\u0308rn", "Björn", "\uff22jörn"]
    transcript = read(tmp_path, "t.json", json.dumps([{"speaker": n, "text": "Where?"} for n in rows]))
    assert {name_key(speaker) for speaker, _ in said(transcript)} == {"anna", "björn"}
    assert len({speaker for speaker, _ in said(transcript)}) == 2
    assert sum("one speaker:" in note for note in transcript.notes) == 2
    text = "\u200fAnna: Where?\nBo: There.\n\u202aANNA\u202c: When?\nbo : Then.\n"
    assert len({speaker for speaker, _ in said(read(tmp_path, "t.txt", text))}) == 2


def test_roles_are_given_by_name_or_guessed(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.txt", "Q: Who are you?\nA: Anna, why?\nQ: So.\nA: Why? Why?\n")
    assert roles(transcript) == {"Q": "elicitor", "A": "respondent"}
    turned = read(tmp_path, "t.txt", "Q: Who?\nA: Anna.\n", roles={"a": "elicitor", "Q": "respondent"})
    assert roles(turned) == {"Q": "respondent", "A": "elicitor"}
    assert {row.source for row in turned.review} == {"given"}
    letters = read(
        tmp_path, "t.json", json.dumps([{"speaker": s, "text": t} for s, t in (("A", "Why?"), ("B", "So."))])
    )
    assert roles(letters) == {"A": "elicitor", "B": "respondent"}
    court = "JUSTICE KAGAN: Is it?\nMR. STONE: Yes.\nJUSTICE ALITO: How?\nMR. STONE: So.\n"
    assert roles(read(tmp_path, "c.txt", court))["JUSTICE ALITO"] == "elicitor"
    several = "EVA: Is it?\nBO: Yes.\nANNA: How?\nBO: So.\nEVA: And then?\nBO: No.\n"
    assert roles(read(tmp_path, "s.txt", several)) == {"EVA": "elicitor", "BO": "respondent", "ANNA": "elicitor"}
    chinese = "王：您在哪里？\n李：在这里。\n王：多久？\n李：十年。\n"
    assert roles(read(tmp_path, "z.txt", chinese)) == {"王": "elicitor", "李": "respondent"}


def test_a_role_for_nobody_is_an_error_that_lists_names(tmp_path: Path) -> None:
    with pytest.raises(
        SettingError, match=r"expected a role for somebody who speaks, got 'Eva'\. Speakers: 'Anna', 'Bo'\."
    ):
        read(tmp_path, "t.txt", TALK, roles={"Eva": "elicitor"})
    with pytest.raises(SettingError, match="got ''"):
        read(tmp_path, "t.txt", TALK, roles={"": "elicitor"})
    with pytest.raises(SettingError, match="expected role 'elicitor' or 'respondent' for 'Bo', got 'boss'"):
        read(tmp_path, "t.txt", TALK, roles={"Bo": "boss"})


def test_ids_tell_files_apart_and_stay(tmp_path: Path) -> None:
    names = [
        "интервью.txt",
        "беседа.txt",
        "talk one.txt",
        "talk-one.txt",
        "Talk-One.txt",
        "!.txt",
        "?.txt",
        "日本.txt",
        "é.txt",
    ]
    for name in names:
        (tmp_path / name).write_text(TALK, encoding="utf-8")
    found = {name: import_transcript(tmp_path / name).dialogues[0].dialogue_id for name in names}
    assert len(set(found.values())) == len(names)
    assert found["интервью.txt"] == "интервью"
    assert found["talk-one.txt"] == "talk-one"
    assert found["talk one.txt"].startswith("talk-one-")
    together = import_transcripts([tmp_path / name for name in reversed(names)])
    assert {t.path.name: t.dialogues[0].dialogue_id for t in together} == found
    (tmp_path / "e\u0301.csv").write_text("speaker,text\nA,b?\n", encoding="utf-8")
    with pytest.raises(SettingError, match="expected an id of its own for every dialogue, got 'é'"):
        import_transcripts([tmp_path / "é.txt", tmp_path / "e\u0301.csv"])


@pytest.mark.skipif(os.name == "nt" or os.fsencode("é") != b"\xc3\xa9", reason="names of files are no bytes here")
def test_names_of_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"t\xff.txt")
    path.write_text(TALK, encoding="utf-8")
    transcript = import_transcript(path)
    assert write_transcripts([transcript], tmp_path / "o.jsonl") == 1
    assert read_dialogues(tmp_path / "o.jsonl")[0].title == "t\\xff"


NORDIC = "ANNA: Where?\nBÖRJE: In Malmö.\nANNA: And then?\nBÖRJE: Åhus.\n"


@pytest.mark.parametrize(
    "data",
    [
        NORDIC.encode(), codecs.BOM_UTF8 + NORDIC.encode(), NORDIC.encode("utf-16"), NORDIC.encode("utf-16-le"),
        NORDIC.encode("utf-16-be"), codecs.BOM_UTF16_BE + NORDIC.encode("utf-16-be"), NORDIC.encode("utf-32"),
    ],
)  # fmt: skip
def test_unicode_in_every_form(tmp_path: Path, data: bytes) -> None:
    assert said(read(tmp_path, "t.txt", data))[1] == ("BÖRJE", "In Malmö.")


def test_other_encodings_are_refused_by_name_and_read_when_named(tmp_path: Path) -> None:
    data = NORDIC.encode("cp1252")
    with pytest.raises(SettingError, match=r"byte 0xd6 \(line 2\).*--encoding.*cp1252 reads 'BÖRJE: In Malmö\.'"):
        read(tmp_path, "t.txt", data)
    assert said(read(tmp_path, "t.txt", data, encoding="cp1252"))[1] == ("BÖRJE", "In Malmö.")
    for encoding, problem in (
        ("nothing", "name of an encoding"),
        ("hex", "name of an encoding"),
        ("ascii", "expected ascii text"),
    ):
        with pytest.raises(SettingError, match=problem):
            read(tmp_path, "t.txt", data, encoding=encoding)
    with pytest.raises(SettingError, match=r"got a NUL \(line 2\)"):
        read(tmp_path, "t.txt", b"Anna: a?\nBo: b\x00\n")
    broken = read(tmp_path, "t.txt", "Anna: Where?\nBo: In Malm\ufffd or MalmÃ¶.\n")
    assert any("1 characters were lost before" in note for note in broken.notes)
    assert any("decoded wrongly before" in note for note in broken.notes)


def test_corpora_are_read_in_the_same_encodings(tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text(TALK, encoding="utf-8")
    write_transcripts([import_transcript(tmp_path / "t.txt")], tmp_path / "o.jsonl")
    text = (tmp_path / "o.jsonl").read_text(encoding="utf-8")
    for encoding in ("utf-8-sig", "utf-16"):
        (tmp_path / "p.jsonl").write_text(text, encoding=encoding)
        assert len(read_dialogues(tmp_path / "p.jsonl")) == 1


def test_files_that_are_no_transcripts(tmp_path: Path) -> None:
    for name, content, problem in (
        ("t.rtf", "x", "expected one of .cha, .csv.*Save it as .docx or .txt"),
        ("t", "x", "got 'no ending'"),
        ("t.zip", "x", "Unpack it first"),
        ("t.txt", "", "expected a transcript, got an empty file"),
        ("t.vtt", " \n\n", "expected a transcript, got an empty file"),
        ("t.json", "\ufeff", "expected a transcript, got an empty file"),
    ):
        with pytest.raises(SettingError, match=problem):
            read(tmp_path, name, content)
    with pytest.raises(SettingError, match="expected a file, got none"):
        import_transcript(tmp_path / "nowhere.txt")
    (tmp_path / "f.txt").mkdir()
    with pytest.raises(SettingError, match="expected a file, got a folder"):
        import_transcript(tmp_path / "f.txt")
    with pytest.raises(SettingError, match="Reading"):
        import_transcript(str(tmp_path / "a\0.txt"))


def test_limits_are_told_and_can_be_raised(tmp_path: Path) -> None:
    long = f"Anna: Where?\nBo: {'so ' * 1000}\n"
    with pytest.raises(
        SettingError, match=r"expected lines of at most 1,000 characters, got 3,004 \(line 2\).*--max-mb"
    ):
        read(tmp_path, "t.txt", long, limits=FileLimits(line=1000))
    with pytest.raises(SettingError, match=r"expected at most 0\.001 MB, got 0\.003\d+ MB.*--max-mb"):
        read(tmp_path, "t.txt", long, limits=FileLimits.of_megabytes(0.001))
    rows = json.dumps([{"speaker": "A", "text": "so " * 1000}])
    with pytest.raises(SettingError, match=r"texts of at most 1,000 characters, got 3,000 \(\[0\]\.text\)"):
        read(tmp_path, "t.json", rows, limits=FileLimits(line=1000))
    with pytest.raises(SettingError, match=r"fields of at most 1,000 characters.*line 2"):
        read(tmp_path, "t.csv", f"speaker,text\nA,{'so ' * 1000}\n", limits=FileLimits(line=1000))
    field = "so " * 100_000
    assert said(read(tmp_path, "u.csv", f"speaker,text\nA,{field}\n"))[0][1] == field.strip()


def test_folders_are_searched_and_others_named(tmp_path: Path) -> None:
    for name in ("a/x.txt", "b/y.vtt", "b/z.mp3", "b/.hidden.txt", "b/~$w.docx"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(TALK, encoding="utf-8")
    files, others = transcript_files([tmp_path / "b", tmp_path / "a", tmp_path / "a" / "x.txt"])
    assert [file.name for file in files] == ["y.vtt", "x.txt"]
    assert [file.name for file in others] == ["z.mp3"]


def test_writing_is_whole_or_not_at_all(tmp_path: Path) -> None:
    path = tmp_path / "new" / "o.txt"
    write_text(path, "one\n")
    path.chmod(0o640)
    with pytest.raises(SettingError, match=r"half of a surrogate pair, '\\ud83d'"):
        write_text(path, "two \ud83d\n")
    with pytest.raises(TypeError), writing(path) as file:
        file.write(3)
    with pytest.raises(SettingError, match="expected another file than the input"):
        write_text(path, "four", inputs=[path.parent / ".." / "new" / "o.txt"])
    with pytest.raises(SettingError, match="expected a file, got a folder"):
        write_text(path.parent, "five")
    with pytest.raises(SettingError, match="expected a place to write to"):
        write_text(path / "below", "six")
    assert path.read_text(encoding="utf-8") == "one\n"
    assert os.listdir(path.parent) == ["o.txt"]
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    write_text(link, "seven\n")
    assert link.is_symlink()
    assert path.read_bytes() == b"seven\n"
    assert path.stat().st_mode & 0o777 == 0o640
    with writing(path, binary=True) as file:
        file.write(b"\xff")
    assert path.read_bytes() == b"\xff"


def test_what_is_written_is_a_corpus(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    path.write_text("Kalmar\n\n" + TALK, encoding="utf-8")
    transcript = import_transcript(path, licence="CC BY 4.0", domain="d", collection="c")
    assert write_transcripts([transcript], tmp_path / "o.jsonl") == 1
    assert read_dialogues(tmp_path / "o.jsonl") == list(transcript.dialogues)
    assert transcript.dialogues[0].metadata == {
        "original_file_name": "t.txt", "layout": "Name: text", "licence": "CC BY 4.0", "left_out": {"headings": ["Kalmar"]},
    }  # fmt: skip
    with pytest.raises(SettingError, match="expected another file than the input"):
        write_transcripts([transcript], path)
    assert path.read_text(encoding="utf-8").startswith("Kalmar")


def test_decoding_never_guesses_in_silence() -> None:
    assert decode_text("å".encode(), "x") == ("å", "utf-8")
    assert decode_text(codecs.BOM_UTF8 + b"a", "x", "utf-8") == ("a", "utf-8")
    assert decode_text("å".encode("utf-16"), "x") == ("å", "utf-16")
    with pytest.raises(SettingError, match="expected utf-16 text"):
        decode_text(codecs.BOM_UTF16_LE + b"a", "x")
