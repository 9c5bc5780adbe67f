"""The inputs of ../shared/cases, which real tools could have made; skipped where the folder is absent."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from elicit_gym.offline.importing import import_transcript, import_transcripts
from elicit_gym.offline.importing.characters import visible
from elicit_gym.offline.importing.formats import FORMATS
from elicit_gym.offline.importing.names import name_key
from elicit_gym.offline.importing.source import Line
from elicit_gym.offline.importing.text_layouts import read_lines
from elicit_gym.offline.load_corpus import read_dialogues
from elicit_gym.offline.schema import Dialogue
from tests.conftest import ROOT
from tests.offline.importing.reading import kept, outcome, roles, said, times

CASES = ROOT.parent / "shared" / "cases"
pytestmark = pytest.mark.skipif(not CASES.is_dir(), reason="../shared/cases is not on this machine")


def files() -> list[Path]:
    found = sorted(path for path in CASES.rglob("*") if path.suffix.lower() in FORMATS) if CASES.is_dir() else []
    # A sidecar of a built file and the page about the cases are not transcripts.
    return [path for path in found if path.parent.name != "surrogates" and path.name != "README.md"]


@pytest.mark.parametrize("path", files(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_file_is_read_whole_or_refused_in_one_sentence(path: Path) -> None:
    found = outcome(path)
    if isinstance(found, str):
        assert found.startswith((f"Importing {path}", f"Reading {path}"))
        assert "Please report" not in found
    else:
        assert all(turn.utterance for dialogue in found.dialogues for turn in dialogue.turns)


REFUSED = (
    "subtitles-prose-with-colon/yt.srt", "subtitles-prose-with-colon/plain.srt", "captions-rolling/yt.vtt", "encodings/cp.txt",
    "malformed-files/arrow.srt", "malformed-files/d.json", "malformed-files/empty.csv", "malformed-files/empty.json",
    "malformed-files/empty.srt", "malformed-files/empty.txt", "malformed-files/empty.vtt", "malformed-files/emptycue.vtt",
    "malformed-files/h.csv", "malformed-files/l.json", "malformed-files/ms.json", "malformed-files/n.json", "malformed-files/nl.json",
)  # fmt: skip


def test_which_are_refused() -> None:
    refused = [str(path.relative_to(CASES)) for path in files() if isinstance(outcome(path), str)]
    assert sorted(refused) == sorted(REFUSED)


SPEAKERS = {
    "text-layouts/casing.txt": ["Anna", "Bo"] * 3,
    "text-layouts/depo.txt": ["Q", "A", "Q", "A", "MR. EK", "Q", "A", "MR. EK"],
    "text-layouts/he.txt": ["מראיין", "מרואיין"] * 2,
    "text-layouts/hesaid.txt": ["anna", "Bo"] * 2,
    "text-layouts/ms.txt": ["Anna", "Bo"] * 2,
    "text-layouts/otter.txt": ["Anna Lind", "Bo Ek", "Anna Lind"],
    "text-layouts/rev.txt": ["Speaker 1", "Speaker 2"] * 2,
    "text-layouts/tags.srt": ["ANNA", "BO"] * 2,
    "text-layouts/vtt-as.txt": ["Anna Lind", "Bo Ek"] * 2,
    "text-layouts/zh.txt": ["访谈者", "受访者"] * 2,
    "text-layouts/zoomchat.txt": ["Anna Lind", "Bo Ek"] * 2,
    "text-labels-that-stand-once/one.txt": ["Interviewer", "Respondent"],
    "text-labels-that-stand-once/headed.txt": ["Interviewer", "Respondent"],
    "text-labels-that-stand-once/once.txt": ["ANNA", "BO", "ANNA", "WIFE", "ANNA", "BO"],
    "chat-cha/talk.cha": ["INV", "PAR"] * 2,
    "chat-cha/talk.txt": ["INV", "PAR"] * 2,
    "chat-formats/parts.jsonl": ["user", "assistant", "user"],
    "chat-formats/many.jsonl": ["user", "assistant", "user"],
    "chat-formats/sharegpt.jsonl": ["human", "gpt", "human"],
    "chat-formats/sharegpt1.json": ["human", "gpt", "human"],
    "whisperx-segment-without-speaker/seg.json": ["SPEAKER_00", "SPEAKER_01", "(unknown)"],
    "whisperx-segment-without-speaker/list.json": ["SPEAKER_00", "SPEAKER_01", "(unknown)"],
    "whisperx-segment-without-speaker/list0.json": ["(unknown)", "SPEAKER_00", "SPEAKER_01"],
    "encodings/bom.txt": ["ANNA", "BÖRJE"] * 2,
    "encodings/u16.txt": ["ANNA", "BÖRJE"] * 2,
    "encodings/u16le.txt": ["ANNA", "BÖRJE"] * 2,
    "encodings/bomcorpus.json": ["Anna", "Bo"] * 3,
    "encodings/u16corpus.json": ["Anna", "Bo"] * 3,
    "malformed-files/blank.srt": ["Anna", "Bo", "Anna"],
    "malformed-files/head.srt": ["Anna", "Bo"],
    "malformed-files/noblank.vtt": ["Anna", "Bo"],
    "pdf-running-heads/t.pdf": ["ANNA", "BO"] * 2,
}


@pytest.mark.parametrize("name", list(SPEAKERS))
def test_who_speaks(name: str) -> None:
    assert [speaker for speaker, _ in said(import_transcript(CASES / name))] == SPEAKERS[name]


def test_what_is_said() -> None:
    def texts(name: str) -> list[str]:
        return [text for _, text in said(import_transcript(CASES / name))]

    assert texts("pdf-running-heads/t.pdf")[1] == "At the mill, with my brother and his wife. We lived there."
    assert texts("text-layouts/depo.txt")[1] == "At the mill, and I would say this: never again."
    assert texts("text-layouts/hesaid.txt")[3] == "later\nand he said: come back.\nI came."
    assert texts("text-layouts/tags.srt")[1] == "In <unintelligible> near <Kalmar>, price < 5 and > 3."
    assert texts("text-layouts/otter.txt")[1] == "At the mill, from 6:00 to 18:00."
    assert texts("malformed-files/blank.srt")[1] == "Here, and now."
    rolling = import_transcript(CASES / "captions-rolling" / "yt.vtt", speakers=["Anna"])
    assert [text for _, text in said(rolling)] == ["so where did you work", "at the mill"]
    headed = import_transcript(CASES / "text-labels-that-stand-once" / "headed.txt")
    assert kept(headed) == {"headings": ["Interview 12, Kalmar"]}
    parts = import_transcript(CASES / "chat-formats" / "parts.jsonl")
    assert list(kept(parts)) == ["system messages"]
    assert roles(import_transcript(CASES / "chat-formats" / "sharegpt.jsonl")) == {
        "human": "respondent",
        "gpt": "elicitor",
    }
    assert times(import_transcript(CASES / "text-layouts" / "ms.txt"))[0] == "00:00:03.12"


REAL = ROOT.parent / "shared" / "data" / "yield-v1-small1pct"
WRITTEN = {
    "colons": "{speaker}: {utterance}\n",
    "capitals": "{capitals}: {utterance}\n\n",
    "otter": "{speaker}  {time}  \n{utterance}\n\n",
    "letters": "{letter}: {utterance}\n",
    "brackets": "[{time}] {speaker}: {utterance}\n",
}


@pytest.mark.skipif(not REAL.is_dir(), reason="the real sample is not on this machine")
@pytest.mark.parametrize("layout", list(WRITTEN))
def test_real_interviews_come_back_turn_by_turn(tmp_path: Path, layout: str) -> None:
    right = total = 0
    for dialogue in read_dialogues(REAL):
        path = tmp_path / "t.txt"
        text = "".join(
            WRITTEN[layout].format(
                speaker=turn.speaker, capitals=turn.speaker.upper(), utterance=turn.utterance, time=f"{i // 60}:{i % 60:02}",
                letter="Q" if turn.role == "elicitor" else "A",
            )
            for i, turn in enumerate(dialogue.turns)
        )  # fmt: skip
        path.write_text(text, encoding="utf-8")
        turns = [turn for turn in dialogue.turns if visible(turn.utterance)]
        read = import_transcript(path).dialogues[0].turns
        assert [visible(turn.utterance) for turn in read] == [visible(turn.utterance) for turn in turns]
        if layout != "letters":
            assert [name_key(turn.speaker) for turn in read] == [name_key(turn.speaker) for turn in turns]
        right += sum(a.role == b.role for a, b in zip(read, turns, strict=True))
        total += len(turns)
    assert right >= (1.0 if layout == "letters" else 0.97) * total


def as_pages(dialogue: Dialogue) -> list[Line]:
    """Print a dialogue on pages of 45 short lines, with a head and a number."""
    lines = [
        line
        for turn in dialogue.turns
        for line in textwrap.wrap(f"{turn.speaker}: {' '.join(turn.utterance.split())}", 72, break_on_hyphens=False)
    ]
    pages = [["Oral History   1999", *lines[i : i + 45], f"- {i // 45 + 1} -"] for i in range(0, len(lines), 45)]
    return [Line((n, i), f"page {n + 1}", line, n) for n, page in enumerate(pages) for i, line in enumerate(page)]


def as_cues(dialogue: Dialogue) -> str:
    """Write a dialogue as subtitles of two short lines, the name where somebody begins to speak."""
    cues = []
    for turn in dialogue.turns:
        lines = textwrap.wrap(turn.utterance, 40) or [""]
        for i in range(0, len(lines), 2):
            cues.append((f"{turn.speaker}: " if i == 0 else "") + "\n".join(lines[i : i + 2]))
    times = [f"{i // 60:02}:{i % 60:02}:00.000 --> {i // 60:02}:{i % 60:02}:01.000" for i in range(len(cues))]
    return "WEBVTT\n\n" + "\n\n".join(f"{time}\n{cue}" for time, cue in zip(times, cues, strict=True)) + "\n"


@pytest.mark.skipif(not REAL.is_dir(), reason="the real sample is not on this machine")
def test_real_interviews_come_back_from_pages_and_subtitles(tmp_path: Path) -> None:
    for dialogue in read_dialogues(REAL):
        turns = [
            (name_key(turn.speaker), visible(turn.utterance)) for turn in dialogue.turns if visible(turn.utterance)
        ]
        pages = read_lines(as_pages(dialogue), "pages", wrapped=True)
        assert [(name_key(s.speaker or ""), visible(s.text)) for s in pages.segments] == turns
        path = tmp_path / "t.vtt"
        path.write_text(as_cues(dialogue), encoding="utf-8")
        read = import_transcript(path).dialogues[0].turns
        assert [(name_key(turn.speaker), visible(turn.utterance)) for turn in read] == turns


def test_ids() -> None:
    found = import_transcripts(sorted((CASES / "ids-from-non-latin-names").glob("*.txt")))
    assert len({dialogue.dialogue_id for transcript in found for dialogue in transcript.dialogues}) == 4


def test_transcripts_of_teams(tmp_path: Path) -> None:
    subprocess.run([sys.executable, str(CASES / "teams-docx" / "make.py")], cwd=tmp_path, check=True)
    transcript = import_transcript(tmp_path / "teams.docx")
    assert [speaker for speaker, _ in said(transcript)] == ["Anna Lind", "Bo Ek"] * 2
    assert times(transcript) == ["0:03", "0:07", "0:11", "0:15"]
    assert said(transcript)[3][1] == "In 1950. One thing: never again."
