"""Strangers' files: whatever they hold, a reader answers soon, with dialogues or with one sentence of ours."""

import json
import tempfile
import time
import zipfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing import import_transcript, write_transcripts
from elicit_gym.offline.load_corpus import CorpusError, read_dialogues, validate_dialogues
from tests.offline.importing.reading import outcome, small_pdf
from tests.offline.importing.test_subtitles import ROLLING, VTT, cues
from tests.offline.importing.test_tables_and_json import MESSAGES, RECOGNISERS
from tests.offline.importing.test_text_layouts import CHA, DEPOSITION, HEARING, LAYOUTS, TIMED, ZOOM
from tests.offline.importing.test_word_and_pdf import encrypted, packed, with_everything

TEXTS = [layout.format("Where?", "There: so.", "When?") for layout in (*LAYOUTS.values(), *TIMED.values())]
SAMPLES: dict[str, list[bytes]] = {
    ".txt": [text.encode() for text in (*TEXTS, DEPOSITION, HEARING, ZOOM, CHA)],
    ".cha": [CHA.encode()],
    ".vtt": [VTT.encode(), ROLLING.encode()],
    ".srt": [cues("Anna: Where?", "Bo: <i>There</i> &amp; so.", "- When?\n- Then.", "Anna: 1950").encode()],
    ".csv": [b'speaker,time,text\nAnna,0:01,"Where, then?"\nBo,0:02,There.\n', b"question;answer\nWhere?;There.\n"],
    ".tsv": [b"speaker\ttext\nAnna\tWhere?\nBo\tThere.\n"],
    ".json": [json.dumps(value).encode() for value, _ in RECOGNISERS.values()]
    + [json.dumps({"messages": MESSAGES}).encode()],
    ".jsonl": ["\n".join(json.dumps({"messages": MESSAGES}) for _ in range(3)).encode()],
    ".docx": [with_everything()],
    ".pdf": [small_pdf([["Anna: Where did you", "work?", "Page 1"], ["Bo: There.", "Page 2"]])],
}
TOKENS = [
    b":", b"\n", b"\n\n", b"\r", b"\t", b"\x00", b"\xff", b"\xef\xbb\xbf", b"\xe2\x80\x8f", b"\x0c", b"\x15", b'"', b"'", b",",
    b"<", b">", b"<v A>", b"</v>", b"-->", b"00:00:01.000", b"&amp;", b"&#0;", b"- ", b">> ", b"Q. ", b"[", b"]", b"{", b"}",
    b"null", b"NaN", b"1e999", b"-1", b"true", b"\\ud800", b"\\u0000", b"@", b"*A:", b"%", b"Page 3", b"12", b"  ", b"Anna",
]  # fmt: skip
EDIT = st.tuples(
    st.sampled_from(["cut", "double", "byte", "token", "copy", "end"]), st.floats(0, 1), st.integers(1, 40), st.floats(0, 1),
    st.integers(0, 255), st.sampled_from(TOKENS),
)  # fmt: skip


def mutated(sample: bytes, edits: list[tuple[str, float, int, float, int, bytes]]) -> bytes:
    data = bytearray(sample)
    for kind, at, length, source, byte, token in edits:
        i = int(at * len(data))
        j = int(source * len(data))
        if kind == "cut":
            del data[i : i + length]
        elif kind == "double":
            data[i:i] = data[i : i + length]
        elif kind == "byte" and i < len(data):
            data[i] = byte
        elif kind == "token":
            data[i:i] = token
        elif kind == "copy":
            data[i : i + length] = bytes(data[j : j + length])
        elif kind == "end":
            del data[len(data) - length :]
    return bytes(data)


@pytest.mark.parametrize("kind", list(SAMPLES))
def test_mutated_files_give_dialogues_or_our_errors(kind: str) -> None:
    @settings(
        max_examples=40 if kind in (".docx", ".pdf") else 120, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(
        st.sampled_from(SAMPLES[kind]),
        st.lists(EDIT, min_size=1, max_size=6),
        st.sampled_from([(), ("X",), ("X", "Y")]),
    )
    def check(sample: bytes, edits: list[tuple[str, float, int, float, int, bytes]], speakers: tuple[str, ...]) -> None:
        path = Path(folder) / f"t{kind}"
        path.write_bytes(mutated(sample, edits))
        found = outcome(path, speakers=speakers)
        if isinstance(found, str):
            assert "Please report" not in found  # that a reader lost something of the file
        else:
            assert write_transcripts([found], Path(folder) / "o.jsonl") == len(found.dialogues)

    with tempfile.TemporaryDirectory() as folder:
        check()


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=300), st.sampled_from([".txt", ".vtt", ".srt", ".csv", ".json", ".cha"]))
@example("\x85A: b?\x1c\u2028B: c", ".txt")
@example('"', ".csv")
def test_any_text_gives_dialogues_or_our_errors(text: str, kind: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"t{kind}"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        assert "Please report" not in str(outcome(path, speakers=["X"]))


UNITS = [
    " ", "\t", "\u3000", "\n", "\r\n", "\x0c", ":", "：", "a:", "A:\n", "A: ", "Q. ", "- ", "--", "<", "<v ", "<v A>", "<c>", "&",
    "&amp;", "[", "(", "0", "0:", "12:00 ", "x\n", "A\n\n", "*", "**", ">> ", "{", "[[", "|", ",", '""', "word-\n", "Anna 0:03\n",
    "1 a\n", "NOTE\n\n", "Page 1\n\x0c", "09:15:22 From ", "00:00:01,000 --> ", "1\n00:00:01,000 --> 00:00:02,000\n\n", "A. B. ",
    "\u200f", "e\u0301", "\x15",
]  # fmt: skip
FRAMES = {
    ".txt": ("ANNA: Where?\nBO: There. ", ""),
    ".vtt": ("WEBVTT\n\n00:00:01.000 --> 00:00:02.000\n<v Anna>Hi ", ""),
    ".srt": ("1\n00:00:01,000 --> 00:00:02,000\nAnna: hi ", ""),
    ".csv": ("speaker,text\nAnna,hi ", ""),
    ".json": ('[{"speaker": "A", "text": "', '"}]'),
}


@pytest.mark.parametrize("kind", list(FRAMES))
def test_hostile_lengths_take_linear_time(tmp_path: Path, kind: str) -> None:
    # 20,000 of whatever took more than 12 s where a pattern went back and forth; now it is a fraction of a second, and
    # the limit leaves room for a busy machine.
    path = tmp_path / f"t{kind}"
    before, after = FRAMES[kind]
    headed = "@UTF8\n@Begin\n*INV:\thi "
    slow = []
    for unit in UNITS:
        many = (20_000 if len(unit) <= 2 else 5_000) * unit
        for text in (before + many + after, *([headed + many, many] if kind == ".txt" else [])):
            path.write_text(text, encoding="utf-8")
            start = time.process_time()
            outcome(path)
            if time.process_time() - start > 8:
                slow.append(unit)
    assert not slow


def test_deep_and_wide_json_is_refused_or_read(tmp_path: Path) -> None:
    path = tmp_path / "t.json"
    for text in ("[" * 100_000, '{"a":' * 50_000, "[" * 900 + "]" * 900, "[" + "0," * 100_000 + "0]"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(SettingError, match="Importing"):
            import_transcript(path)


def test_packed_corpora_are_bounded_and_told(tmp_path: Path) -> None:
    path = tmp_path / "c.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.json", b" " * 40_000_000)
    assert path.stat().st_size < 100_000
    with pytest.raises(CorpusError, match="expected at most .* MB packed, got 40 MB"):
        read_dialogues(path)
    path.write_bytes(encrypted(packed(a_json="[]").replace(b"a_json", b"a.json")))
    with pytest.raises(CorpusError, match="got an encrypted one"):
        read_dialogues(path)
    path.write_bytes(packed(a_json="[]").replace(b"a_json", b"a.json").replace(b"\x08\x00", b"\x63\x00"))
    assert validate_dialogues(path)
    (tmp_path / "d.json").write_text("[" * 100_000, encoding="utf-8")
    assert "more than 100 levels" in validate_dialogues(tmp_path / "d.json")[0]
    (tmp_path / "d.jsonl").write_text("{}\n" + "[" * 100_000 + "\n", encoding="utf-8")
    assert len(validate_dialogues(tmp_path / "d.jsonl")) >= 1
