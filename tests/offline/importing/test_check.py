"""The check that nothing is lost fires: readers that lose or falsify text are caught, in every kind of file."""

import dataclasses
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing import build, chat_cha, formats, rows, subtitles, turns
from elicit_gym.offline.importing.source import Line, Piece, Reading
from tests.offline.importing.reading import read, said, small_pdf
from tests.offline.importing.test_word_and_pdf import paragraphs, saved

TALK = [("Anna", "Where did you work?"), ("Bo", "At the mill."), ("Anna", "When was that?"), ("Bo", "Long ago.")]
LABELLED = [f"{name}: {text}" for name, text in TALK]
CUES = "".join(f"00:0{i}.000 --> 00:0{i + 1}.000\n{line}\n\n" for i, line in enumerate(LABELLED))
FILES: dict[str, str | bytes] = {
    "t.txt": "\n".join(LABELLED),
    "t.vtt": "WEBVTT\n\n" + CUES,
    "t.csv": "speaker,text\n" + "\n".join(",".join(turn) for turn in TALK),
    "t.json": json.dumps([{"speaker": name, "text": text} for name, text in TALK]),
    "t.cha": "@Begin\n" + "\n".join(f"*{name}:\t{text}" for name, text in TALK),
    "t.docx": saved(paragraphs(*LABELLED)),
    "t.pdf": small_pdf([LABELLED]),
}


@pytest.fixture(params=list(FILES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_as_they_are_nothing_is_lost(tmp_path: Path, name: str) -> None:
    transcript = read(tmp_path, name, FILES[name])
    assert said(transcript) == TALK
    c = transcript.characters
    assert c["source"] == c["text"] + c["labels"] + c["marks"] + c["left out"]
    assert c["text"] == sum(len(text.replace(" ", "")) for _, text in TALK)


def lossy(change: Callable[[str], str | None]) -> Callable[..., None]:
    """Return a `Reading.say` that drops or changes what is said, and claims nothing for what it drops."""
    honest = Reading.say

    def say(self: Reading, unit: Any, raw: str, **settings: Any) -> None:
        changed = change(raw)
        if changed is not None:
            honest(self, unit, changed, **settings)

    return say


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (lambda raw: None if "mill" in raw else raw, "At the mill."),
        (lambda raw: raw.replace("Where", ""), "Where"),
        (lambda raw: raw.replace("?", ""), "?"),
        (lambda raw: raw + " indeed", "not in the file"),
        (lambda raw: raw[: len(raw) // 2], "left over"),
    ],
)
def test_a_reader_that_drops_text_is_caught(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, change: Callable[[str], str | None], told: str
) -> None:
    monkeypatch.setattr(Reading, "say", lossy(change))
    with pytest.raises(
        SettingError, match="expected every character in a turn or left out by name, left over"
    ) as caught:
        read(tmp_path, name, FILES[name])
    assert told in str(caught.value) or told == "At the mill."


def test_a_reader_that_claims_text_and_does_not_say_it_is_caught(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def say(self: Reading, unit: Any, raw: str, **settings: Any) -> None:
        self.pieces.append(Piece(unit, "text", raw, raw))
        if "mill" not in raw:
            self.segments[-1].parts.append(raw.strip())
        else:
            self.segments[-1].parts.append("...")

    monkeypatch.setattr(Reading, "say", say)
    with pytest.raises(SettingError, match="left over: .*At the mill"):
        read(tmp_path, name, FILES[name])


def test_a_reader_that_takes_words_for_punctuation_is_caught(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = Reading.say

    def say(self: Reading, unit: Any, raw: str, **settings: Any) -> None:
        if "mill" in raw:
            self.mark(unit, raw)
        else:
            honest(self, unit, raw, **settings)

    monkeypatch.setattr(Reading, "say", say)
    with pytest.raises(SettingError, match="taken for punctuation"):
        read(tmp_path, name, FILES[name])


def test_a_reader_that_folds_a_speaker_into_another_is_caught(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = build.choose_roles

    def fold(conversation: Any, *arguments: Any) -> Any:
        for segment in conversation.segments:
            segment.speaker = "Anna"
        return honest(conversation, *arguments)

    monkeypatch.setattr(build, "choose_roles", fold)
    with pytest.raises(SettingError, match="left over: .*the speaker 'Bo'"):
        read(tmp_path, name, FILES[name])


def test_a_turn_that_is_lost_or_changed_on_the_way_is_caught(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    honest = build._dialogue

    def without_one(*arguments: Any) -> Any:
        dialogue = honest(*arguments)
        return dataclasses.replace(dialogue, turns=dialogue.turns[:1] + dialogue.turns[2:])

    monkeypatch.setattr(build, "_dialogue", without_one)
    with pytest.raises(SettingError, match="left over: .*(in no turn)"):
        read(tmp_path, name, FILES[name])


def test_readers_that_pass_lines_over_are_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing(*arguments: Any, **settings: Any) -> None:
        return None

    text = "\n".join([LABELLED[0], LABELLED[1], "for years", LABELLED[2], LABELLED[3]])
    monkeypatch.setattr(turns.Turns, "go_on", nothing)
    with pytest.raises(SettingError, match="left over: 1: line 3: 'for years'"):
        read(tmp_path, "t.txt", text)
    monkeypatch.setattr(chat_cha, "_header", nothing)
    with pytest.raises(SettingError, match="left over: 1: line 1: '@Begin'"):
        read(tmp_path, "t.cha", FILES["t.cha"])
    monkeypatch.setattr(rows, "_leave_out", nothing)
    with pytest.raises(SettingError, match=r"left over: 1: \[0\]\.note: 'important'"):
        read(tmp_path, "t.json", json.dumps([{"speaker": "A", "text": "x?", "note": "important"}]))
    monkeypatch.setattr(subtitles, "repeated_lines", lambda cues, texts: [99] * len(cues))
    monkeypatch.setattr(Reading, "leave_out", nothing)
    with pytest.raises(SettingError):
        read(tmp_path, "t.vtt", FILES["t.vtt"])


def test_the_raw_file_is_not_what_the_reader_says_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = formats.read_lines

    def half(lines: list[Line], *arguments: Any, **settings: Any) -> Reading:
        return honest(lines[:2], *arguments, **settings)

    monkeypatch.setattr(formats, "read_lines", half)
    for name in ("t.txt", "t.pdf"):
        with pytest.raises(SettingError, match="left over: 2: .*When was that"):
            read(tmp_path, name, FILES[name])
