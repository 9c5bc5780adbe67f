"""What speech recognisers write as JSON: WhisperX, Deepgram, AssemblyAI, Amazon Transcribe, Rev.ai, Speechmatics, ...

Most of them write the same words several times, as words, sentences and a whole. One of these becomes the turns; each
of the others is left out by its name, and where it holds words that the turns have not, that is told.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing.characters import is_visible
from elicit_gym.offline.importing.json_source import Path, all_text, leaf_text, leaves, shown
from elicit_gym.offline.importing.rows import Row, find_fields, read_rows
from elicit_gym.offline.importing.source import Reading

__all__ = ["note_copy", "read_asr"]

_COPIES = ("text", "transcript", "word", "punctuated_word", "content", "display")
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")


def read_asr(value: Any, path: str) -> Reading | None:
    """Read what a known speech recogniser wrote; None where the value is none of theirs.

    Raises:
        SettingError: it is theirs, but says of nothing who speaks.
    """
    if not isinstance(value, dict):
        return None
    for recognise in (_deepgram, _amazon, _assemblyai, _revai, _speechmatics, _azure, _google, _elevenlabs):
        try:
            reading = recognise(value, path)
        except (KeyError, IndexError, TypeError, AttributeError) as error:
            raise SettingError(
                f"Importing {path}: expected the output of {recognise.__name__[1:].capitalize()}, as its other fields "
                f"suggest, got one that lacks {error}. Get the file again."
            ) from error
        if reading is not None:
            _leave_out_the_rest(reading, value)
            return reading
    return None


def _at(value: Any, *path: str | int) -> Any:
    for part in path:
        if isinstance(part, int):
            value = value[part] if isinstance(value, list) and len(value) > part else None
        else:
            value = value.get(part) if isinstance(value, dict) else None
    return value


def _rows_at(value: Any, path: Path) -> list[Row]:
    items = _at(value, *path)
    if not isinstance(items, list):
        return []
    return [
        Row(item, {name: (*path, i, name) for name in item}, shown((*path, i)))
        for i, item in enumerate(items)
        if isinstance(item, dict)
    ]


def _read_utterances(layout: str, value: Any, at: Path, path: str) -> Reading | None:
    rows = _rows_at(value, at)
    fields = find_fields([row.values for row in rows])
    if fields is None or fields.speaker is None or fields.text is None:
        return None
    reading = Reading(layout)
    read_rows(reading, rows, fields, path)
    return reading


def _deepgram(value: Mapping[str, Any], path: str) -> Reading | None:
    if not isinstance(_at(value, "results", "channels"), list):
        return None
    reading = _read_utterances("Deepgram, utterances", value, ("results", "utterances"), path)
    if reading is not None:
        return reading
    reading = Reading("Deepgram")
    channels = value["results"]["channels"]
    for c in range(len(channels)):
        at: Path = ("results", "channels", c, "alternatives", 0)
        many = len(channels) > 1
        paragraphs = _rows_at(value, (*at, "paragraphs", "paragraphs"))
        words = _rows_at(value, (*at, "words"))
        if paragraphs and (many or any("speaker" in row.values for row in paragraphs)):
            for row in paragraphs:
                _begin(reading, row, "speaker", "start", channel=c if many else None)
                for sentence in _rows_at(value, row.unit["sentences"]):
                    reading.say(sentence.unit["text"], sentence.values["text"], join=" ", where=sentence.where)
        elif words and (many or any("speaker" in row.values for row in words)):
            field = "punctuated_word" if all("punctuated_word" in row.values for row in words) else "word"
            _read_words(reading, words, field, "speaker", "start", channel=c if many else None)
    return _if_somebody_speaks(reading, path, "diarize=true")


def _if_somebody_speaks(reading: Reading, path: str, option: str) -> Reading:
    if not reading.segments:
        raise SettingError(
            f"Importing {path}: expected words with their speakers, got none. Let the recogniser tell speakers apart "
            f"({option})."
        )
    return reading


def _begin(
    reading: Reading, row: Row, speaker: str, time: str, *, channel: int | None = None, name: str | None = None
) -> None:
    """Begin a turn; its speaker is the row's, or the channel, or `name`, which the caller found elsewhere."""
    value = row.values.get(speaker)
    known = value is not None and is_visible(leaf_text(value)) and not isinstance(value, list | dict)
    if known:
        segment = reading.begin(row.unit[speaker], leaf_text(value), where=row.where)
        if channel is not None:
            reading.pieces.remove(segment.labels.pop())
            segment.speaker = f"channel {channel}, {leaf_text(value)}"
    else:
        segment = reading.begin((), None, where=row.where)
        segment.speaker = name if channel is None else f"channel {channel}"
    if time in row.values and is_visible(leaf_text(row.values[time])):
        segment.time = leaf_text(row.values[time])
        segment.labels.append(reading.add_time(row.unit[time], segment.time, where=row.where))


def _read_words(
    reading: Reading, words: Sequence[Row], text: str, speaker: str, time: str, *, channel: int | None = None
) -> None:
    """Make a turn of each run of words by one speaker; punctuation joins the word before it."""
    missing = object()
    before: Any = missing
    for row in words:
        value = leaf_text(row.values.get(text))
        is_mark = row.values.get("type") in ("punctuation", "punct") or not any(c.isalnum() for c in value)
        name = row.values.get(speaker)
        if before is missing or (name != before and not (is_mark and name is None)):
            _begin(reading, row, speaker, time, channel=channel)
            before = name
        if text in row.unit:
            reading.say(row.unit[text], value, join="" if is_mark else " ", where=row.where)


def _assemblyai(value: Mapping[str, Any], path: str) -> Reading | None:
    if not ("audio_url" in value or "language_model" in value or "utterances" in value) or "words" not in value:
        return None
    reading = _read_utterances("AssemblyAI, utterances", value, ("utterances",), path)
    if reading is not None:
        return reading
    words = _rows_at(value, ("words",))
    reading = Reading("AssemblyAI, words")
    if any(row.values.get("speaker") is not None for row in words):
        _read_words(reading, words, "text", "speaker", "start")
    return _if_somebody_speaks(reading, path, "speaker_labels=true")


def _amazon(value: Mapping[str, Any], path: str) -> Reading | None:
    results = value.get("results")
    if isinstance(value.get("Transcript"), list):
        return _read_utterances("Amazon Transcribe, call analytics", value, ("Transcript",), path)
    if not isinstance(results, dict) or "transcripts" not in results:
        return None
    reading = _read_utterances("Amazon Transcribe, audio segments", value, ("results", "audio_segments"), path)
    if reading is not None:
        return reading
    speakers = {}
    segments = _at(results, "speaker_labels", "segments")
    for segment in segments if isinstance(segments, list) else ():
        for item in segment.get("items") or ():
            speakers[item.get("start_time")] = item.get("speaker_label")
    reading = Reading("Amazon Transcribe, words")
    before: str | None = None
    for row in _rows_at(value, ("results", "items")):
        content = row.values["alternatives"][0]["content"]
        unit = (*row.unit["alternatives"], 0, "content")
        is_mark = row.values.get("type") == "punctuation"
        name = row.values.get("speaker_label", speakers.get(row.values.get("start_time")))
        if not reading.segments or (name is not None and name != before and not is_mark):
            _begin(reading, row, "speaker_label", "start_time", name=name)
            before = name
        reading.say(unit, content, join="" if is_mark else " ", where=row.where)
    if not any(segment.speaker for segment in reading.segments):
        reading.conversation.segments = []
    return _if_somebody_speaks(reading, path, "ShowSpeakerLabels")


def _revai(value: Mapping[str, Any], path: str) -> Reading | None:
    if not isinstance(value.get("monologues"), list):
        return None
    reading = Reading("Rev.ai")
    for row in _rows_at(value, ("monologues",)):
        elements = _rows_at(value, row.unit["elements"])
        _begin(reading, row, "speaker", "")
        timed = next((e for e in elements if is_visible(leaf_text(e.values.get("ts")))), None)
        if timed is not None:
            segment = reading.segments[-1]
            segment.time = leaf_text(timed.values["ts"])
            segment.labels.append(reading.add_time(timed.unit["ts"], segment.time, where=row.where))
        gap = ""
        for element in elements:
            text = leaf_text(element.values.get("value"))
            if not is_visible(text):
                gap = " "
                continue
            reading.say(element.unit["value"], text, join=gap, where=row.where)
            gap = " " if text[-1:].isspace() else ""
    return _if_somebody_speaks(reading, path, "skip_diarization=false")


def _speechmatics(value: Mapping[str, Any], path: str) -> Reading | None:
    rows = _rows_at(value, ("results",))
    if not rows or "format" not in value or "alternatives" not in rows[0].values:
        return None
    reading = Reading("Speechmatics")
    words = []
    for row in rows:
        best = row.values["alternatives"][0]
        unit = (*row.unit["alternatives"], 0)
        values = {"text": best.get("content"), "speaker": best.get("speaker"), "type": row.values.get("type")}
        units = {"text": (*unit, "content"), "speaker": (*unit, "speaker"), "start": (*unit[:-2], "start_time")}
        words.append(Row({**values, "start": row.values.get("start_time")}, units, row.where))
    if any(row.values["speaker"] is not None for row in words):
        _read_words(reading, words, "text", "speaker", "start")
    return _if_somebody_speaks(reading, path, "diarization: speaker")


def _azure(value: Mapping[str, Any], path: str) -> Reading | None:
    rows = _rows_at(value, ("recognizedPhrases",))
    if not rows:
        return None
    reading = Reading("Azure Speech")
    for row in rows:
        speaker = "speaker" if "speaker" in row.values else "channel"
        _begin(reading, row, speaker, "offset")
        best = row.values["nBest"][0]
        unit = (*row.unit["nBest"], 0, "display")
        reading.say(unit, best["display"], join=" ", where=row.where)
    return reading


def _google(value: Mapping[str, Any], path: str) -> Reading | None:
    results = _rows_at(value, ("results",))
    found = [
        (*row.unit["alternatives"], 0, "words")
        for row in results
        if "alternatives" in row.values and isinstance(_at(row.values, "alternatives", 0, "words"), list)
    ]
    if not found:
        return None
    # In the first version of the service the last result repeats all words, with their speakers.
    every = [row for at in found for row in _rows_at(value, at)]
    name = next((n for n in ("speakerLabel", "speakerTag", "speaker_tag") if any(n in w.values for w in every)), "")
    words = [row for row in every if row.values.get(name)]
    start = next((n for n in ("startTime", "startOffset", "start_time") if any(n in w.values for w in words)), "")
    reading = Reading("Google Speech-to-Text")
    if name:
        _read_words(reading, words, "word", name, start)
    return _if_somebody_speaks(reading, path, "diarization_config")


def _elevenlabs(value: Mapping[str, Any], path: str) -> Reading | None:
    words = _rows_at(value, ("words",))
    if not words or not any("speaker_id" in row.values for row in words):
        return None
    reading = Reading("ElevenLabs")
    spoken = [row for row in words if row.values.get("type") != "spacing"]
    _read_words(reading, spoken, "text", "speaker_id", "start")
    return reading


def _leave_out_the_rest(reading: Reading, value: Any) -> None:
    """Account for all other values by the name of their field, and compare copies of the text with the turns."""
    units = {piece.unit for piece in reading.pieces if isinstance(piece.unit, tuple)}
    above = {unit[:i] for unit in units for i in range(len(unit))}
    copies: dict[str, list[str]] = {}
    for unit, item in _unused(value, (), units, above):
        name = ".".join([str(part) for part in unit if not isinstance(part, int)][-3:])[-60:]
        reading.leave_out(unit, f"field {name!r}", all_text(item))
        for at, _, text in leaves(item, unit):
            names = [part for part in at if not isinstance(part, int)]
            # Deepgram's paragraphs are written with "Speaker 0:" before them.
            if names[-1:] and names[-1] in _COPIES and names[-2:] != ["paragraphs", "transcript"]:
                copies.setdefault(".".join(map(str, names))[-60:], []).append(text)
    for name, texts in copies.items():
        if len(texts) == 1 or "alternatives" not in name:
            note_copy(reading, name, texts)


def _unused(value: Any, at: Path, units: Collection[Path], above: Collection[Path]) -> Iterator[tuple[Path, Any]]:
    """Yield the largest parts of a value of which nothing is used, in `units` or below."""
    if at in units:
        return
    if at not in above:
        yield at, value
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _unused(item, (*at, name), units, above)
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from _unused(item, (*at, i), units, above)


def note_copy(reading: Reading, name: str, texts: Sequence[str]) -> None:
    """Tell what a field that repeats the text holds beyond the turns."""
    said = Counter(_WORD.findall(" ".join(s.text for s in reading.segments).casefold()))
    more = Counter(_WORD.findall(" ".join(texts).casefold())) - said
    if more:
        first = ", ".join(repr(word) for word in list(more)[:5])
        reading.note(f"left over: the field {name!r} has {more.total()} words that the turns have not, such as {first}")
