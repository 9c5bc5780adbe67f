"""Tables, chats, and what speech recognisers write."""

import json
from pathlib import Path
from typing import Any

import pytest

from elicit_gym.errors import SettingError
from tests.offline.importing.reading import kept, left_out, read, roles, said, times


def test_tables(tmp_path: Path) -> None:
    rows = [
        ("Speaker", "Time", "Text"),
        ("Anna", "0:01", "Where?"),
        ("Bo", "0:02", '"In Oslo",\nhe said; then\tleft|.'),
    ]
    for name, mark in (("a.csv", ","), ("b.csv", ";"), ("c.tsv", "\t"), ("d.csv", "\t"), ("e.csv", "|")):
        text = "".join(mark.join('"' + cell.replace('"', '""') + '"' for cell in row) + "\r\n" for row in rows)
        transcript = read(tmp_path, name, text)
        assert said(transcript) == [("Anna", "Where?"), ("Bo", '"In Oslo",\nhe said; then\tleft|.')]
        assert times(transcript) == ["0:01", "0:02"]


def test_rows_longer_than_the_header_lose_nothing(tmp_path: Path) -> None:
    text = 'speaker,text\nAnna,Where, exactly?\nBo,"There, I think"\nAnna,Well, yes, no?\n'
    transcript = read(tmp_path, "t.csv", text)
    assert [t for _, t in said(transcript)] == ["Where, exactly?", "There, I think", "Well, yes, no?"]
    assert any("put together again" in note and "(2: line 2, line 4)" in note for note in transcript.notes)
    with pytest.raises(SettingError, match=r"expected 2 fields, got 3 \(line 2\)\. Put quotation marks"):
        read(tmp_path, "u.csv", "text,speaker\nWhere, exactly?,Anna\n")


def test_tables_of_questions_and_answers(tmp_path: Path) -> None:
    transcript = read(tmp_path, "t.csv", 'id,question,answer\n1,Where?,There.\n2,When?,"Then, once."\n')
    assert said(transcript) == [
        ("question", "Where?"),
        ("answer", "There."),
        ("question", "When?"),
        ("answer", "Then, once."),
    ]
    assert roles(transcript) == {"question": "elicitor", "answer": "respondent"}
    assert left_out(transcript) == {"the header": 3, "field 'id'": 2}


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a,b\n1,2\n", "expected a field for the speaker and one for the text, got 'a', 'b'"),
        ("speaker,text\n", "expected rows below the header"),
        ("speaker,text\nAnna\n", r"expected 2 fields, got 1, none of them the text \(line 2\)"),
        ("text\nWhere?\n", "--speaker NAME"),
        ("speaker,text,text\nA,b,c\n", "each column's name once"),
        ('speaker,text\nA,"b\n', "expected a table"),
        ("speaker,text\n,\n", "expected rows below the header"),
    ],
)
def test_tables_that_are_none(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        read(tmp_path, "t.csv", text)


MESSAGES = [
    {"role": "system", "content": "Ask one question at a time."},
    {"role": "user", "content": "Hi. Can you help? Can you?"},
    {"role": "assistant", "content": [{"type": "text", "text": "What do"}, {"type": "output_text", "text": "you do?"}]},
    {
        "role": "user",
        "content": [{"type": "image_url", "image_url": {"url": "x"}}, {"type": "text", "text": "I bake."}],
    },
    {"role": "assistant", "content": None, "tool_calls": [{"id": "c"}]},
    {"role": "tool", "content": "42"},
]
CHAT = [("user", "Hi. Can you help? Can you?"), ("assistant", "What do\nyou do?"), ("user", "I bake.")]


def test_messages(tmp_path: Path) -> None:
    for name, text in {
        "a.json": json.dumps({"messages": MESSAGES}),
        "b.json": json.dumps(MESSAGES),
        "c.jsonl": "\n".join(map(json.dumps, MESSAGES)),
        "d.jsonl": json.dumps({"messages": MESSAGES}),
        "e.json": "\n".join(map(json.dumps, MESSAGES)),
    }.items():
        transcript = read(tmp_path, name, text)
        assert said(transcript) == CHAT
        assert roles(transcript) == {"user": "respondent", "assistant": "elicitor"}
        assert kept(transcript) == {"system messages": ["Ask one question at a time."], "tool messages": ["42"]}
        assert left_out(transcript)["parts that are not text (image_url)"] == 1
        assert any("a part that is not text" in note for note in transcript.notes)


def test_several_conversations_in_a_file(tmp_path: Path) -> None:
    rows = [{"from": "human", "value": "Hello? Who?"}, {"from": "gpt", "value": "Tell me more."}]
    many = [{"id": "a", "conversations": rows}, {"id": 2, "title": "T", "conversations": rows}]
    for name, text in {
        "m.json": json.dumps(many),
        "m.jsonl": "\n".join(map(json.dumps, many)),
        "l.json": json.dumps([rows, rows]),
    }.items():
        transcript = read(tmp_path, name, text)
        assert [d.dialogue_id for d in transcript.dialogues] == [f"{name[0]}-1", f"{name[0]}-2"]
        assert said(transcript, 1) == [("human", "Hello? Who?"), ("gpt", "Tell me more.")]
        assert roles(transcript) == {"human": "respondent", "gpt": "elicitor"}
    transcript = read(tmp_path, "m.json", json.dumps(many))
    assert [d.metadata["fields"] for d in transcript.dialogues] == [{"id": "a"}, {"id": 2, "title": "T"}]
    assert transcript.dialogues[1].title == "T"
    empty = read(tmp_path, "e.json", json.dumps([*many, {"conversations": []}]))
    assert len(empty.dialogues) == 2
    assert any("nobody speaks was left out" in note for note in empty.notes)


def node(name: str, parent: str | None, role: str, *parts: Any) -> dict[str, Any]:
    content = {"content_type": "text", "parts": list(parts)}
    return {"id": name, "parent": parent, "message": {"author": {"role": role, "name": None}, "content": content}}


def test_exports_of_chatgpt_and_claude(tmp_path: Path) -> None:
    nodes = [
        node("s", None, "system", ""), node("u", "s", "user", "I bake."), node("x", "u", "assistant", "Old."),
        node("a", "u", "assistant", "What?", {"content_type": "image"}), node("e", "a", "user", "Bread."),
    ]  # fmt: skip
    tree = {"title": "T", "mapping": {n["id"]: n for n in nodes}, "current_node": "e"}
    transcript = read(tmp_path, "c.json", json.dumps([tree]))
    assert said(transcript) == [("user", "I bake."), ("assistant", "What?"), ("user", "Bread.")]
    assert any("another branch was left out (1: [0].mapping.x" in note for note in transcript.notes)
    claude = [
        {
            "name": "T",
            "chat_messages": [{"sender": "human", "text": "I bake.", "content": [{"type": "text", "text": "I bake."}]}],
        }
    ]
    assert said(read(tmp_path, "d.json", json.dumps(claude))) == [("human", "I bake.")]


def test_exports_of_messengers(tmp_path: Path) -> None:
    facebook = {
        "messages": [
            {"sender_name": "Bo", "timestamp_ms": 2, "content": "There."},
            {"sender_name": "Anna", "timestamp_ms": 1, "content": "Where?"},
        ]
    }
    transcript = read(tmp_path, "f.json", json.dumps(facebook))
    assert said(transcript) == [("Anna", "Where?"), ("Bo", "There.")]
    assert any("newest row first" in note for note in transcript.notes)
    parts = ["Where did ", {"type": "bold", "text": "you"}, " work?"]
    telegram = {
        "messages": [{"type": "service", "text": ""}, {"from": "Anna", "text": parts}, {"from": "Bo", "text": "There."}]
    }
    assert said(read(tmp_path, "t.json", json.dumps(telegram))) == [("Anna", "Where did you work?"), ("Bo", "There.")]


def test_zero_is_a_speaker_and_a_time(tmp_path: Path) -> None:
    rows = [{"speaker": 0, "start": 0.0, "text": "Where?"}, {"speaker": 1, "start": 1.5, "text": "There."}]
    transcript = read(tmp_path, "t.json", json.dumps({"segments": rows}))
    assert said(transcript) == [("0", "Where?"), ("1", "There.")]
    assert times(transcript) == ["0.0", "1.5"]


@pytest.mark.parametrize("without", [{}, {"speaker": None}, {"speaker": ""}, {"speaker": float("nan")}])
def test_a_row_that_names_nobody_is_its_own_problem(tmp_path: Path, without: dict[str, Any]) -> None:
    rows = [
        {"text": "Hello.", **without},
        {"speaker": "SPEAKER_00", "text": "Where?"},
        {"speaker": "SPEAKER_01", "text": "There."},
    ]
    for at in (0, 1, 2):
        moved = rows[1 : at + 1] + rows[:1] + rows[at + 1 :]
        transcript = read(tmp_path, "t.json", json.dumps({"segments": moved, "language": "en"}))
        assert said(transcript)[at] == ("(unknown)", "Hello.")
        assert roles(transcript)["SPEAKER_00"] == "elicitor"
        assert any(
            f"nobody is named, so that the speaker is shown as unknown (1: segments[{at}])" in n
            for n in transcript.notes
        )
    named = read(tmp_path, "t.json", json.dumps(rows), speakers=["Eva"])
    assert said(named)[0] == ("Eva", "Hello.")
    given = read(tmp_path, "t.json", json.dumps(rows), roles={"(unknown)": "elicitor"})
    assert roles(given)["(unknown)"] == "elicitor"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{}", "expected messages .* got an object with nothing in it"),
        ("[]", "got an empty list"),
        ("3", "got 3"),
        ('"x"', "got 'x'"),
        ("[1, 2]", "expected messages"),
        ('{"messages":"hello"}', "expected a list of messages as 'messages', got 'hello'"),
        ('{"messages":null,"x":1}', "expected a list of messages as 'messages', got 'None'"),
        ('{"messages":[]}', "expected somebody who speaks"),
        ('{"messages":[1]}', "expected a list of messages"),
        ('{"messages":[{"role":["a"],"content":"b"}]}', "expected a name or a number as 'role'"),
        ('{"messages":[{"role":"a","content":true}]}', "expected a text as 'content'"),
        ('{"messages":[{"role":"a","content":[5]}]}', "expected a text as 'content'"),
        ('[{"instruction":"a","output":"b"}]', "expected a field for the speaker"),
        ('[{"text":"a"}]', "--speaker NAME"),
        ('{"a":1', "expected JSON, got"),
        ('{"role":"a","content":"b"}\n{"role":', ":2: expected one JSON value per line"),
        ('[{"speaker":"A","text":"one","text":"two"}]', "expected each name once in an object, got 'text' twice"),
        ("[" * 5000, "at most 100 levels"),
        ('{"a":' * 200 + "1" + "}" * 200, "at most 100 levels"),
        ('[{"speaker":"A","text":' + "9" * 5000 + "}]", "expected JSON"),
    ],
)  # fmt: skip
def test_json_that_is_no_chat(tmp_path: Path, text: str, problem: str) -> None:
    with pytest.raises(SettingError, match=problem):
        read(tmp_path, "t.json", text)


def test_characters_that_are_none_are_replaced_and_told(tmp_path: Path) -> None:
    rows = r'[{"role":"us\u0000er","content":"Look \ud83d"},{"role":"b","content":"What?\ud83d\ude00","t":"\udc00"}]'
    transcript = read(tmp_path, "t.json", rows)
    assert said(transcript) == [("us\ufffder", "Look \ufffd"), ("b", "What?\U0001f600")]
    assert any("not a character, was written as U+FFFD" in note for note in transcript.notes)


def word(text: str, speaker: Any, start: float, **more: Any) -> dict[str, Any]:
    return {"word": text.lower().strip("?."), "punctuated_word": text, "speaker": speaker, "start": start, **more}


WORDS = [word("Where", 0, 0.0), word("then?", 0, 0.4), word("There.", 1, 1.0)]
AMAZON_ITEMS = [
    {"type": "pronunciation", "start_time": f"{i}.0", "alternatives": [{"content": text, "confidence": "1"}]}
    if text not in "?." else {"type": "punctuation", "alternatives": [{"content": text}]}
    for i, text in enumerate(["Where", "then", "?", "There", "."])
]  # fmt: skip
AMAZON_LABELS = [
    {
        "speaker_label": "spk_0",
        "items": [{"start_time": "0.0", "speaker_label": "spk_0"}, {"start_time": "1.0", "speaker_label": "spk_0"}],
    },
    {"speaker_label": "spk_1", "items": [{"start_time": "3.0", "speaker_label": "spk_1"}]},
]
RECOGNISERS: dict[str, tuple[Any, list[str]]] = {
    "WhisperX": ({"segments": [{"start": 0.0, "text": " Where then?", "speaker": "S0", "words": [{"word": "Where", "start": 0.0, "score": 0.9}]}, {"start": 1.0, "text": " There.", "speaker": "S1"}], "word_segments": [], "text": " Where then? There."}, ["S0", "S1"]),
    "Deepgram, words": ({"results": {"channels": [{"alternatives": [{"transcript": "Where then? There.", "words": WORDS}]}]}}, ["0", "1"]),
    "Deepgram, utterances": ({"results": {"channels": [{"alternatives": [{"transcript": "Where then? There.", "words": WORDS}]}], "utterances": [{"start": 0, "speaker": 0, "transcript": "Where then?"}, {"start": 1, "speaker": 1, "transcript": "There."}]}}, ["0", "1"]),
    "Deepgram, paragraphs": ({"results": {"channels": [{"alternatives": [{"paragraphs": {"transcript": "Speaker 0: Where then? Speaker 1: There.", "paragraphs": [{"speaker": 0, "sentences": [{"text": "Where"}, {"text": "then?"}]}, {"speaker": 1, "sentences": [{"text": "There."}]}]}}]}]}}, ["0", "1"]),
    "Deepgram, channels": ({"results": {"channels": [{"alternatives": [{"words": [word("Where", None, 0), word("then?", None, 1)]}]}, {"alternatives": [{"words": [word("There.", None, 2)]}]}]}}, ["channel 0", "channel 1"]),
    "AssemblyAI": ({"audio_url": "u", "text": "Where then? There.", "words": [], "utterances": [{"speaker": "A", "text": "Where then?", "start": 0, "words": [{"text": "Where", "start": 1}, {"text": "then?"}]}, {"speaker": "B", "text": "There.", "start": 5}]}, ["A", "B"]),
    "AssemblyAI, words": ({"audio_url": "u", "words": [{"text": "Where", "speaker": "A"}, {"text": "then?", "speaker": "A"}, {"text": "There.", "speaker": "B"}]}, ["A", "B"]),
    "Amazon": ({"results": {"transcripts": [{"transcript": "Where then? There."}], "speaker_labels": {"segments": AMAZON_LABELS}, "items": AMAZON_ITEMS}}, ["spk_0", "spk_1"]),
    "Amazon, segments": ({"results": {"transcripts": [], "audio_segments": [{"speaker_label": "spk_0", "transcript": "Where then?", "items": [0, 1]}, {"speaker_label": "spk_1", "transcript": "There."}]}}, ["spk_0", "spk_1"]),
    "Amazon, calls": ({"Transcript": [{"ParticipantRole": "AGENT", "Content": "Where then?", "BeginOffsetMillis": 0}, {"ParticipantRole": "CUSTOMER", "Content": "There."}]}, ["AGENT", "CUSTOMER"]),
    "Rev.ai": ({"monologues": [{"speaker": 0, "elements": [{"type": "text", "value": "Where", "ts": 0.5}, {"type": "punct", "value": " "}, {"type": "text", "value": "then"}, {"type": "punct", "value": "?"}]}, {"speaker": 1, "elements": [{"type": "text", "value": "There"}, {"type": "punct", "value": "."}]}]}, ["0", "1"]),
    "Speechmatics": ({"format": "2.9", "results": [{"type": "word", "alternatives": [{"content": "Where", "speaker": "S1"}]}, {"type": "word", "alternatives": [{"content": "then", "speaker": "S1"}]}, {"type": "punctuation", "alternatives": [{"content": "?", "speaker": "S1"}]}, {"type": "word", "alternatives": [{"content": "There.", "speaker": "S2"}]}]}, ["S1", "S2"]),
    "Azure": ({"recognizedPhrases": [{"speaker": 1, "offset": "PT0S", "nBest": [{"display": "Where then?"}]}, {"speaker": 2, "nBest": [{"display": "There."}]}]}, ["1", "2"]),
    "Google": ({"results": [{"alternatives": [{"transcript": "Where then?", "words": [{"word": "Where"}]}]}, {"alternatives": [{"words": [{"word": "Where", "speakerTag": 1}, {"word": "then?", "speakerTag": 1}, {"word": "There.", "speakerTag": 2}]}]}]}, ["1", "2"]),
    "ElevenLabs": ({"text": "Where then? There.", "words": [{"text": "Where", "speaker_id": "a"}, {"text": " ", "type": "spacing", "speaker_id": "a"}, {"text": "then?", "speaker_id": "a"}, {"text": "There.", "speaker_id": "b"}]}, ["a", "b"]),
}  # fmt: skip


@pytest.mark.parametrize("name", list(RECOGNISERS))
def test_speech_recognisers(tmp_path: Path, name: str) -> None:
    value, speakers = RECOGNISERS[name]
    transcript = read(tmp_path, "t.json", json.dumps(value))
    assert said(transcript) == list(zip(speakers, ["Where then?", "There."], strict=True))
    assert not any("left over" in note for note in transcript.notes)
    assert transcript.layout.split(",")[0] in (
        name.split(",", maxsplit=1)[0],
        "chat",
        "Amazon Transcribe",
        "Azure Speech",
        "Google Speech-to-Text",
    )


def test_words_that_only_a_copy_of_the_text_has_are_told(tmp_path: Path) -> None:
    value = json.loads(json.dumps(RECOGNISERS["AssemblyAI"][0]))
    value["text"] += " Goodbye now."
    transcript = read(tmp_path, "t.json", json.dumps(value))
    assert any(
        "left over: the field 'text' has 2 words that the turns have not, such as 'goodbye'" in n
        for n in transcript.notes
    )


def test_recognisers_that_tell_nobody_apart_are_refused(tmp_path: Path) -> None:
    for value, hint in (
        ({"results": {"channels": [{"alternatives": [{"words": [{"word": "a"}]}]}]}}, "diarize=true"),
        ({"audio_url": "u", "text": "a", "words": [{"text": "a", "speaker": None}]}, "speaker_labels=true"),
        ({"results": {"transcripts": [], "items": AMAZON_ITEMS}}, "ShowSpeakerLabels"),
        ({"results": {"transcripts": [], "items": [{"type": "pronunciation"}]}}, "Get the file again"),
        ({"segments": [{"text": "a"}], "text": "a"}, "--speaker NAME"),
    ):
        with pytest.raises(SettingError, match=hint):
            read(tmp_path, "t.json", json.dumps(value))
