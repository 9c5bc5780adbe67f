"""Subtitles: who speaks in a cue, what is markup, what is repeated."""

from pathlib import Path

import pytest
import srt
import webvtt

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing.cues import parse_cues
from elicit_gym.offline.importing.source import Reading, lines_of_text
from tests.offline.importing.reading import kept, left_out, read, said, times

VTT = """WEBVTT - A talk
Kind: captions

NOTE the year
is not sure

STYLE
::cue { color: red }

c-1
00:00:01.000 --> 00:00:03.000 align:start
<v Anna>Where were <i>you</i> born &amp; raised?</v>

c-2
00:03.500 --> 00:05.000
<v.loud Björn Ek>In Oslo,
yes.</v>

c-3
00:00:05.000 --> 00:00:07.000
in the winter.

c-4
00:00:08.000 --> 00:00:09.000
<v Anna>And then?</v> <v Björn Ek>Nothing.</v>
"""


def cues(*texts: str, srt: bool = True) -> str:
    mark = "," if srt else "."
    blocks = [f"{i}\n00:00:{i:02}{mark}000 --> 00:00:{i + 1:02}{mark}000\n{text}\n" for i, text in enumerate(texts, 1)]
    return ("" if srt else "WEBVTT\n\n") + "\n".join(blocks)


def test_voices(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.vtt", VTT)
    assert said(transcript) == [
        ("Anna", "Where were you born & raised?"), ("Björn Ek", "In Oslo, yes. in the winter."), ("Anna", "And then?"),
        ("Björn Ek", "Nothing."),
    ]  # fmt: skip
    assert times(transcript) == ["00:00:01.000", "00:03.500", "00:00:08.000", ""]
    assert kept(transcript) == {"notes": ["NOTE the year", "is not sure"]}
    assert left_out(transcript)["cue numbers"] == 4
    assert any("a cue that names nobody goes on with the speaker before it (1: line" in n for n in transcript.notes)


def test_labels_in_cues(tmp_path: Path) -> None:
    text = cues("Anna: Where were you born?", "BJÖRN: In <i>Oslo</i>,", "in the winter.", "Anna: And?\nBJÖRN: So.")
    transcript = read(tmp_path, "t.srt", text)
    assert said(transcript) == [
        ("Anna", "Where were you born?"), ("BJÖRN", "In Oslo, in the winter."), ("Anna", "And?"), ("BJÖRN", "So."),
    ]  # fmt: skip


def test_only_markup_is_taken_out(tmp_path: Path) -> None:
    text = cues(
        "ANNA: <font color='red'>Where</font> {\\an8}was it?", "BO: In <unintelligible>, < 5 and > 3, &copy, &lt;b&gt;."
    )
    assert said(read(tmp_path, "t.srt", text)) == [
        ("ANNA", "Where was it?"), ("BO", "In <unintelligible>, < 5 and > 3, &copy, <b>."),
    ]  # fmt: skip


def test_dashes_are_the_two_speakers_in_turn(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.srt", cues("ANNA: Where?", "BO: There.", "- And then?\n- I left.", ">> When?"))
    assert said(transcript)[2:] == [("ANNA", "And then?"), ("BO", "I left."), ("ANNA", "When?")]
    assert sum("guessed: a dash" in note for note in transcript.notes) == 2
    three = read(tmp_path, "u.srt", cues("ANNA: Where?", "BO: There.", "EVA: Here.", "- And then?\n- I left."))
    assert said(three)[3:] == [("(unknown)", "And then?"), ("(unknown)", "I left.")]


def test_lines_that_only_look_like_labels_or_changes(tmp_path: Path) -> None:
    text = cues(
        "ANNA: Mr. Justice, may it please the", "Court: we ask.", "BO: Why?", "ANNA: As the", "Court: said,", "-- that is,",
        "- so to say.", "BO: Hm. It was -5", "-6 degrees.",
    )  # fmt: skip
    assert said(read(tmp_path, "t.srt", text)) == [
        ("ANNA", "Mr. Justice, may it please the Court: we ask."), ("BO", "Why?"), ("ANNA", "As the Court: said, -- that is, - so to say."),
        ("BO", "Hm. It was -5 -6 degrees."),
    ]  # fmt: skip


@pytest.mark.parametrize("kind", ["srt", "vtt", "txt"])
def test_a_file_that_names_nobody_is_refused_and_can_be_named(tmp_path: Path, kind: str) -> None:
    text = cues(
        "so tell me",
        "well one thing first: it was cold",
        "my father said: go",
        "one thing first: no",
        srt=kind == "srt",
    )
    with pytest.raises(SettingError, match=r"expected somebody who is named.*give --speaker NAME"):
        read(tmp_path, f"t.{kind}", text)
    transcript = read(tmp_path, f"t.{kind}", text, speakers=["Bo"])
    assert [speaker for speaker, _ in said(transcript)] == ["Bo"] * 4
    assert said(transcript)[1][1] == "well one thing first: it was cold"
    changes = cues(">> where?", ">> there.", "yes.", ">> when?")
    two = read(tmp_path, "c.srt", changes, speakers=["Anna", "Bo"])
    assert [speaker for speaker, _ in said(two)] == ["Anna", "Bo", "Bo", "Anna"]


ROLLING = """WEBVTT

00:00:00.030 --> 00:00:02.500 align:start position:0%
 
so<00:00:00.500><c> where</c><00:00:00.900><c> did</c><c> you</c>

00:00:02.500 --> 00:00:02.510
so where did you
 

00:00:02.510 --> 00:00:05.000
so where did you
work<00:00:02.900><c> then</c>

00:00:05.000 --> 00:00:05.010
work then
 
"""  # noqa: W293 - as the tool writes it


def test_captions_that_roll_are_read_once(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.vtt", ROLLING, speakers=["Anna"])
    assert [text for _, text in said(transcript)] == ["so where did you", "work then"]
    assert left_out(transcript)["lines that rolling captions repeat"] == 3
    grown = cues("so", "so where", "so where did", "so where did you", "work then")
    assert [text for _, text in said(read(tmp_path, "g.srt", grown, speakers=["A"]))] == [
        "so where did you",
        "work then",
    ]
    twice = read(tmp_path, "n.srt", cues("Bo: No.", "Bo: No.", "Bo: No.", "Anna: No?"))
    assert [text for _, text in said(twice)] == ["No.", "No.", "No.", "No?"]


def test_names_on_the_first_line_of_a_cue(tmp_path: Path) -> None:
    text = "0:0:0.0 --> 0:0:3.120\nAnna Lind\nWhere did you work?\n0:0:3.5 --> 0:0:5.0\nBo Ek\nThere.\n0:0:6.0 --> 0:0:7.0\nBo Ek\nYes.\n"
    transcript = read(tmp_path, "t.txt", text)
    assert said(transcript) == [("Anna Lind", "Where did you work?"), ("Bo Ek", "There."), ("Bo Ek", "Yes.")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1\n00:00:01,000 --> 00:00:03,000\nAnna: Where?\n\nBo: Here, and\n\nnow.\n", "Here, and now."),
        (
            "Transcript\n\n1\n00:00:01,000 --> 00:00:03,000\nAnna: Where?\n\n2\n00:00:03.5 --> 00:00:05.0\nBo: Here.\n",
            "Here.",
        ),
        (
            "WEBVTT\n\n00:01.000 --> 00:03.000\n<v Anna>Where?</v>\n00:03.000 --> 00:05.000\n<v Bo>In\n1950</v>\n",
            "In 1950",
        ),
        ("1\n00:00:01,000 --> 00:00:03,000\nAnna: Where?\n2\n00:00:03,000 --> 00:00:04,000\nBo: Here.\n", "Here."),
        ("WEBVTT\n\n00:01.000 --> 00:03.000\n\n00:03.000 --> 00:05.000\nAnna: Where?\nBo: Here.\n", "Here."),
    ],
)
def test_careless_files_are_read_whole(tmp_path: Path, text: str, expected: str) -> None:
    assert said(read(tmp_path, "t.vtt", text)) == [("Anna", "Where?"), ("Bo", expected)]


@pytest.mark.parametrize("line", ["00:00:03,000 -> 00:00:05,000", "00:00:03,000 --> 00:00:0x,000", "00:00:03,000 --> "])
def test_times_that_are_none_are_refused(tmp_path: Path, line: str) -> None:
    with pytest.raises(SettingError, match=r"expected times such as .* \(line 5\)"):
        read(tmp_path, "t.srt", f"1\n00:00:01,000 --> 00:00:03,000\nAnna: Where?\n\n{line}\nBo: Here.\n")


def test_our_cues_are_those_of_the_usual_libraries(tmp_path: Path) -> None:
    text = cues("Anna: Where\nthen?", "Bo: Here.", "Anna: 1950?", "2")
    ours = parse_cues(lines_of_text(text), "t", Reading("t"))
    assert ["\n".join(line.text for line in cue.lines) for cue in ours] == [cue.content for cue in srt.parse(text)]
    path = tmp_path / "t.vtt"
    path.write_text(VTT, encoding="utf-8")
    theirs = webvtt.read(str(path)).captions
    ours = parse_cues(lines_of_text(VTT), "t", Reading("t"))
    assert [len(cue.lines) for cue in ours] == [len(caption.raw_text.split("\n")) for caption in theirs]
