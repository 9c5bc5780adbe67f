"""Layouts of plain text: what is a label, what is text, what stands beside both."""

from pathlib import Path

import pytest

from elicit_gym.errors import SettingError
from tests.offline.importing.reading import kept, left_out, read, roles, said, times

TALK = [("Anna Lind", "Where did you work?"), ("Bo Ek", "At the mill, from 6:00 to 18:00."), ("Anna Lind", "When?")]

LAYOUTS = {
    "colons": "Anna Lind: {}\nBo Ek: {}\nAnna Lind: {}\n",
    "blank lines": "Anna Lind: {}\n\nBo Ek: {}\n\nAnna Lind: {}\n",
    "labels above": "Anna Lind:\n{}\n\nBo Ek:\n{}\n\nAnna Lind:\n{}\n",
    "full-width colons": "Anna Lind：{}\nBo Ek：{}\nAnna Lind：{}\n",
    "no-break space before the colon": "Anna Lind\xa0: {}\nBo Ek\xa0: {}\nAnna Lind\xa0: {}\n",
    "bold": "**Anna Lind:** {}\n\n**Bo Ek:** {}\n\n**Anna Lind**: {}\n",
    "list": "- Anna Lind: {}\n- Bo Ek: {}\n- Anna Lind: {}\n",
    "brackets": "[Anna Lind]: {}\n[Bo Ek]: {}\n[Anna Lind]: {}\n",
    "irc": "<Anna Lind> {}\n<Bo Ek> {}\n<Anna Lind> {}\n",
    "tabs": "Anna Lind\t{}\nBo Ek\t{}\nAnna Lind\t{}\n",
    "names alone": "Anna Lind\n{}\n\nBo Ek\n{}\n\nAnna Lind\n{}\n",
    "carriage returns": "Anna Lind: {}\rBo Ek: {}\rAnna Lind: {}\r",
}
TIMED = {
    "otter": "Anna Lind  0:03  \n{}\n\nBo Ek  0:07  \n{}\n\nAnna Lind  0:11  \n{}\n",
    "rev": "Anna Lind (0:03):\n{}\n\nBo Ek (0:07):\n{}\n\nAnna Lind (0:11):\n{}\n",
    "times first": "[0:03] Anna Lind: {}\n[0:07] Bo Ek: {}\n[0:11] Anna Lind: {}\n",
    "times in labels": "Anna Lind (0:03): {}\nBo Ek (0:07): {}\nAnna Lind (0:11): {}\n",
    "times after labels": "Anna Lind: [0:03] {}\nBo Ek: [0:07] {}\nAnna Lind: [0:11] {}\n",
    "time and name above": "0:03 Anna Lind\n{}\n\n0:07 Bo Ek\n{}\n\n0:11 Anna Lind\n{}\n",
    "names in brackets": "[Anna Lind] 0:03\n{}\n\n[Bo Ek] 0:07\n{}\n\n[Anna Lind] 0:11\n{}\n",
    "dashes": "Anna Lind - 0:03\n{}\n\nBo Ek - 0:07\n{}\n\nAnna Lind - 0:11\n{}\n",
    "names and times on lines of their own": "Anna Lind\n0:03\n{}\n\nBo Ek\n0:07\n{}\n\nAnna Lind\n0:11\n{}\n",
    "times on lines of their own": "0:03\nAnna Lind: {}\n0:07\nBo Ek: {}\n0:11\nAnna Lind: {}\n",
    "of f4": "#0:03# Anna Lind: {}\n#0:07# Bo Ek: {}\n#0:11# Anna Lind: {}\n",
    "columns": "0:03\tAnna Lind\t{}\n0:07\tBo Ek\t{}\n0:11\tAnna Lind\t{}\n",
    "zoom's cloud": "0:03\tAnna Lind:\t{}\n0:07\tBo Ek:\t{}\n0:11\tAnna Lind:\t{}\n",
}


@pytest.mark.parametrize("layout", list(LAYOUTS))
def test_layouts(tmp_path: Path, layout: str) -> None:
    transcript = read(tmp_path, "t.txt", LAYOUTS[layout].format(*(text for _, text in TALK)))
    assert said(transcript) == TALK
    assert transcript.characters["left out"] == 0
    assert roles(transcript) == {"Anna Lind": "elicitor", "Bo Ek": "respondent"}


@pytest.mark.parametrize("layout", list(TIMED))
def test_layouts_with_times(tmp_path: Path, layout: str) -> None:
    transcript = read(tmp_path, "t.txt", TIMED[layout].format(*(text for _, text in TALK)))
    assert said(transcript) == TALK
    assert times(transcript) == ["0:03", "0:07", "0:11"]
    assert transcript.characters["left out"] == 0


@pytest.mark.parametrize(
    "time",
    ["00:00:03.12", "1:02:03", "00:03,120", "10:03 AM", "2024-03-05 10:03:00", "05/03/2024, 10:03", "0:03 - 0:05"],
)
def test_forms_of_times(tmp_path: Path, time: str) -> None:
    transcript = read(tmp_path, "t.txt", f"[{time}] Anna: Where?\n[{time}] Bo: There.\n[{time}] Anna: When?\n")
    assert times(transcript) == [time] * 3
    assert said(transcript)[1] == ("Bo", "There.")


def test_a_short_talk_has_every_label_once(tmp_path: Path) -> None:
    for text in (
        "Interviewer: Where were you born?\nRespondent: In Oslo.\n",
        "Anna: Where were you born?\nBo: In Oslo.\n",
        "Q: Where were you born?\nA: In Oslo.\n",
        "Interview 12, Kalmar\n\nAnna: Where were you born?\nBo: In Oslo.\n",
        "Anna: Where were you born?\nBo: In Oslo.\nIt was winter.\n",
    ):
        transcript = read(tmp_path, "t.txt", text)
        assert len(said(transcript)) == 2
        assert [turn.role for turn in transcript.dialogues[0].turns] == ["elicitor", "respondent"]


def test_a_third_speaker_who_speaks_once_is_one_and_shown(tmp_path: Path) -> None:
    text = "ANNA: Where?\nBO: There.\nANNA: And then?\nWIFE: He will not say: we moved.\nANNA: When?\nBO: Then.\n"
    transcript = read(tmp_path, "t.txt", text)
    assert ("WIFE", "He will not say: we moved.") in said(transcript)
    assert any("'WIFE' speaks once (line 4)" in note for note in transcript.notes)


def test_prose_with_a_colon_is_no_speaker(tmp_path: Path) -> None:
    lines = [
        "and he said: go.", "One thing: never again.", "Remember: it was cold.", "my father asked: why?", "1950: the year.",
        "[Interruption: the telephone]", "https://example.org: a page", "We left at 10:30: early.", "Note: the tape ends.",
    ]  # fmt: skip
    text = "anna: Where?\nBo: There\n" + "\n".join(lines) + "\nanna: And?\nBo: So\n" + "\n".join(lines) + "\n"
    transcript = read(tmp_path, "t.txt", text)
    assert list(dict.fromkeys(speaker for speaker, _ in said(transcript))) == ["anna", "Bo"]
    assert said(transcript)[1][1] == "\n".join(["There", *lines])
    assert any("goes on with the turn before it (18" in note for note in transcript.notes)


def test_a_name_that_is_given_is_a_speaker(tmp_path: Path) -> None:
    text = "Anna: Where?\nBo: There,\none thing: more.\nAnna: When?\nBo: Then.\n"
    assert len(said(read(tmp_path, "t.txt", text))) == 4
    transcript = read(tmp_path, "t.txt", text, roles={"one thing": "elicitor"})
    assert ("one thing", "more.") in said(transcript)
    assert roles(transcript)["one thing"] == "elicitor"


def test_what_could_be_a_label_and_is_not_taken_is_shown(tmp_path: Path) -> None:
    text = "[0:01] Anna: Where?\n[0:02] Bo: There.\nKalmar: a town.\n[0:03] Anna: When?\n[0:04] Bo: Then.\n"
    transcript = read(tmp_path, "t.txt", text)
    assert said(transcript)[1] == ("Bo", "There.\nKalmar: a town.")
    assert any("'Kalmar:' was taken as text" in note for note in transcript.notes)


def test_a_label_in_the_middle_of_a_line_is_shown(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.txt", "Q: Where? A: There.\nA: As I said. Why?\nQ: So.\nA: Grade A: the best.\n")
    assert (
        sum("in the middle of a line, after 'A'; if so" in note and "(1: line 1)" in note for note in transcript.notes)
        == 1
    )


def test_a_heading_is_kept_apart_and_says_who_asks(tmp_path: Path) -> None:
    text = (
        "Interview 3\nDate: 5 March 2019\nInterviewer: Bo Ek\nInterviewee: Anna Lind\n\n"
        "LIND: Why do you ask?\nEK: I would like to know.\nLIND: And why?\nEK: So.\n"
    )
    transcript = read(tmp_path, "t.txt", text)
    assert kept(transcript)["headings"] == text.split("\n")[:4]
    assert roles(transcript) == {"LIND": "respondent", "EK": "elicitor"}
    assert {row.source for row in transcript.review} == {"the file says so"}
    short = "Interviewer: Where were you born?\n\nAnna: In Oslo.\nBo: No.\nAnna: Yes.\nBo: No.\n"
    assert said(read(tmp_path, "s.txt", short))[0] == ("Interviewer", "Where were you born?")


DEPOSITION = """                                          12
 1        Q.  Where did you work?
 2        A.  At the mill, and I would say
 3   this: never again.
 4   BY MS. RAY:
 5        Q   When?
 6        A   In 1950.
 7            MR. EK:  Objection; form.
 8            THE WITNESS:  Since
 9   10:30.
10        Q.  Why?
\x0c                                          13
 1        A.  Thank you.
 2        Q.  And?
 3        A.  Thank you.
"""


def test_depositions(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.txt", DEPOSITION)
    assert said(transcript) == [
        ("Q", "Where did you work?"), ("A", "At the mill, and I would say this: never again."), ("Q", "When?"),
        ("A", "In 1950."), ("MR. EK", "Objection; form."), ("THE WITNESS", "Since 10:30."), ("Q", "Why?"),
        ("A", "Thank you."), ("Q", "And?"), ("A", "Thank you."),
    ]  # fmt: skip
    assert left_out(transcript) == {"page numbers": 2, "line numbers": 13, "headings of examinations": 1}
    assert kept(transcript)["headings of examinations"] == ["BY MS. RAY:"]
    assert (roles(transcript)["Q"], roles(transcript)["A"]) == ("elicitor", "respondent")


ZOOM = """09:15:22 From Anna Lind to Everyone:
\tWhere did you work?
\tAnd when?
09:15:40 From  Bo Ek  to  Anna Lind (direct message):
\tAt the mill.
09:16:02\t From  Anna Lind : One thing: why?
"""


def test_zoom_chats(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.txt", ZOOM)
    assert said(transcript) == [
        ("Anna Lind", "Where did you work?\nAnd when?"), ("Bo Ek", "At the mill."), ("Anna Lind", "One thing: why?"),
    ]  # fmt: skip
    assert times(transcript) == ["09:15:22", "09:15:40", "09:16:02"]
    assert any("one person only" in note for note in transcript.notes)


CHA = """@UTF8
@Begin
@Languages:\teng, swe
@Participants:\tCHI Bo Target_Child, MOT Anna Investigator
*MOT:\twhere did you work ? \x15100_900\x15
%mor:\tadv|where
\tv|work
*CHI:\tat the [//] the mill
\t&-uh .
%com:\the laughs
@End
"""


@pytest.mark.parametrize("name", ["t.cha", "t.txt"])
def test_chat_files(tmp_path: Path, name: str) -> None:
    transcript = read(tmp_path, name, CHA)
    assert said(transcript) == [("MOT", "where did you work ?"), ("CHI", "at the [//] the mill &-uh .")]
    assert times(transcript) == ["100_900", ""]
    assert roles(transcript) == {"MOT": "elicitor", "CHI": "respondent"}
    assert transcript.dialogues[0].languages == ("eng", "swe")
    assert left_out(transcript) == {"headers": 5, "dependent tiers": 3}


HEARING = """    Mr. Lind. Thank you. Where did you work at
the time?
    Mr. Ek. At the mill. As I told
Mr. Stone. He knew.
    The Chairman. Time has expired.
    Mr. Lind. "And when?"
    Mr. Ek. Then.
"""


def test_printed_hearings(tmp_path: Path) -> None:
    assert said(read(tmp_path, "t.txt", HEARING)) == [
        ("Mr. Lind", "Thank you. Where did you work at the time?"), ("Mr. Ek", "At the mill. As I told Mr. Stone. He knew."),
        ("The Chairman", "Time has expired."), ("Mr. Lind", '"And when?"'), ("Mr. Ek", "Then."),
    ]  # fmt: skip


def test_initials_stand_for_the_names_that_explain_them(tmp_path: Path) -> None:
    text = "Anna Lind (AL): Where?\nBo Ek (BE): There.\nAL: When?\nBE: Then.\n"
    transcript = read(tmp_path, "t.txt", text)
    assert [speaker for speaker, _ in said(transcript)] == ["Anna Lind", "Bo Ek"] * 2
    assert any("one speaker: 'Anna Lind' and 'AL', as the label says" in note for note in transcript.notes)
    assert roles(read(tmp_path, "t.txt", text, roles={"be": "elicitor", "AL": "respondent"}))["Bo Ek"] == "elicitor"


def test_dashes_in_texts_are_two_who_take_turns(tmp_path: Path) -> None:
    text = "— Where?\n— There,\nat the mill.\n— When?\n"
    with pytest.raises(SettingError, match="twice for two who take turns at dashes"):
        read(tmp_path, "t.txt", text)
    transcript = read(tmp_path, "t.txt", text, speakers=["Anna", "Bo"])
    assert said(transcript) == [("Anna", "Where?"), ("Bo", "There,\nat the mill."), ("Anna", "When?")]


def test_numbered_questions_are_one_speakers(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.txt", "Date: 1999\n\nQ1: Where?\nA1: There.\nQ2. When?\nA2. Then.\n")
    assert said(transcript) == [("Q", "Where?"), ("A", "There."), ("Q", "When?"), ("A", "Then.")]


def test_a_heading_in_another_style_than_the_labels(tmp_path: Path) -> None:
    text = (
        "Moderator: Sarah; six people\n\nMODERATOR: Where?\nP1: Here.\nMODERATOR: When?\n(LAUGHS) P2: Now.\nP1?: No.\n"
    )
    transcript = read(tmp_path, "t.txt", text)
    assert [speaker for speaker, _ in said(transcript)] == ["MODERATOR", "P1", "MODERATOR", "P2", "P1"]
    assert kept(transcript) == {
        "remarks in labels": ["P2 (LAUGHS)", "P1 (?)"], "headings": ["Moderator: Sarah; six people"],
    }  # fmt: skip


def test_what_tools_write_is_kept_apart(tmp_path: Path) -> None:
    text = TIMED["otter"].format("Where?", "There.", "When?") + "\nTranscribed by https://otter.ai\n"
    transcript = read(tmp_path, "t.txt", text)
    assert said(transcript)[-1] == ("Anna Lind", "When?")
    assert kept(transcript) == {"what the tool wrote": ["Transcribed by https://otter.ai"]}
    stamped = read(tmp_path, "f.txt", "I: Where? #00:00:12-3#\nB: There. #00:00:40-1#\nI: When?\nB: Then.\n")
    assert said(stamped)[:2] == [("I", "Where?"), ("B", "There.")]
    assert left_out(stamped) == {"times at the ends of paragraphs": 2}
    sonix = read(tmp_path, "s.txt", "S1: [00:01] Where? [00:03]\nS2: [00:03] There. [00:05]\nS1: [00:05] When?\n")
    assert said(sonix)[:2] == [("S1", "Where?"), ("S2", "There.")]


def test_a_remark_in_a_label_is_no_other_speaker(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.txt", "Anna: Where?\nBo (laughing): There.\nAnna: When?\nBo: Then.\n")
    assert [speaker for speaker, _ in said(transcript)] == ["Anna", "Bo", "Anna", "Bo"]
    assert kept(transcript) == {"remarks in labels": ["Bo (laughing)"]}


@pytest.mark.parametrize(
    "text",
    [
        "just prose without anybody\n",
        "The mill closed. My father said: go home.\nRemember: nobody asked.\nNote: this is true.\n",
        "Kalmar: a town by the sea.\nIt was cold.\nOslo: another town.\nIt was colder.\n",
        "Where did you work?\n\nAt the mill.\n\nWhen?\n\nIn 1950.\n",
        "[00:00.000 --> 00:03.000]  Where did you work?\n[00:03.000 --> 00:05.000]  At the mill.\n",
        "Dinner 18:00\nLunch 12:00\n",
    ],
)
def test_what_is_not_recognised_is_refused_with_a_hint(tmp_path: Path, text: str) -> None:
    with pytest.raises(
        SettingError, match=r"expected somebody who speaks, in one of the layouts 'Name: text'.*--speaker"
    ):
        read(tmp_path, "t.txt", text)
    transcript = read(tmp_path, "t.txt", text, speakers=["Bo"])
    assert {speaker for speaker, _ in said(transcript)} == {"Bo"}
    assert any("as given: 'Bo' says whatever names nobody" in note for note in transcript.notes)


def test_a_text_file_may_hold_subtitles_or_json(tmp_path: Path) -> None:
    cues = "00:00:03.120 --> 00:00:05.000\nAnna: Where?\n\n00:00:05.120 --> 00:00:07.000\nBo: There.\n"
    assert times(read(tmp_path, "t.txt", cues)) == ["00:00:03.120", "00:00:05.120"]
    rows = '[{"speaker": "Anna", "text": "Where?"}, {"speaker": "Bo", "text": "There."}]'
    assert said(read(tmp_path, "j.txt", rows)) == [("Anna", "Where?"), ("Bo", "There.")]
