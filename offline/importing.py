"""Transcripts of one's own, in the usual formats, as dialogues of the schema; no line is lost."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from elicit_gym.errors import MissingExtraError, SettingError, StorageError
from elicit_gym.json_files import read_lines
from elicit_gym.offline.schema import Dialogue, DialogueRole, DialogueTurn
from elicit_gym.understanding.clauses import questions_in

__all__ = ["ImportedTranscript", "import_transcript"]

FORMATS = (".csv", ".docx", ".json", ".jsonl", ".pdf", ".srt", ".txt", ".vtt")
_LABEL = re.compile(
    r"^\s*(?:\[?(?P<time>\d{1,2}:\d{2}(?::\d{2})?)\]?\s+)?(?P<speaker>[^:\n]{1,60}?)\s*:(?=\s|$)\s*(?P<text>.*)$"
)
_ROLE_NAMES: Mapping[str, DialogueRole] = {
    "elicitor": "elicitor", "interviewer": "elicitor", "q": "elicitor", "question": "elicitor", "assistant": "elicitor",
    "agent": "elicitor", "moderator": "elicitor", "respondent": "respondent", "interviewee": "respondent",
    "a": "respondent", "answer": "respondent", "user": "respondent", "participant": "respondent",
}  # fmt: skip

Line = tuple[str, str, str]
"""Speaker, text, timestamp."""


@dataclass(frozen=True, kw_only=True)
class ImportedTranscript:
    """A dialogue and what was guessed to get it.

    Attributes:
        review: one row for each speaker: turns, words, questions, the role, and where the role comes from.
        characters_in: of text in the source, white space not counted.
        characters_out: of utterances, speakers and timestamps in the dialogue, likewise; the marks of the format
            itself (labels' colons, cue numbers, arrows, column names) are in neither.
    """

    dialogue: Dialogue
    review: tuple[Mapping[str, Any], ...]
    characters_in: int
    characters_out: int


def import_transcript(
    path: str | Path,
    *,
    roles: Mapping[str, str] | None = None,
    domain: str = "imported",
    collection: str = "imported",
    licence: str | None = None,
) -> ImportedTranscript:
    """Read a transcript.

    Args:
        path: ``.txt`` with ``SPEAKER: ...`` lines, ``.vtt`` or ``.srt`` with speakers, ``.csv`` with a column for the
            speaker and one for the text, ``.json`` or ``.jsonl`` chats, ``.docx`` or ``.pdf`` with such lines.
        roles: role by speaker, ``elicitor`` or ``respondent``. Speakers that are not in it, or all without it, are
            guessed: by their name where it says so, else whoever asks the largest share of questions elicits.
        domain: of the dialogue.
        collection: of the dialogue.
        licence: kept in the metadata.

    Raises:
        SettingError: the format is unknown, the file cannot be read, nobody speaks, or a role is none.
        MissingExtraError: the format needs a library that is not installed.
    """
    path = Path(path)
    for speaker, role in (roles or {}).items():
        if role not in ("elicitor", "respondent"):
            raise SettingError(
                f"Importing {path}: expected role 'elicitor' or 'respondent' for {speaker!r}, got {role!r}."
            )
    lines, characters_in = _read(path)
    if not lines:
        raise SettingError(
            f"Importing {path}: expected somebody who speaks, got no line with a speaker. Check the format."
        )
    chosen, review = _guess_roles(lines, roles or {})
    turns = tuple(
        DialogueTurn(turn_id=i, speaker=speaker, role=chosen[speaker], utterance=text, timestamp=time)
        for i, (speaker, text, time) in enumerate(lines)
    )
    by_role = {
        role: tuple(dict.fromkeys(t.speaker for t in turns if t.role == role)) for role in ("elicitor", "respondent")
    }
    dialogue = Dialogue(
        dialogue_id=re.sub(r"[^a-z0-9]+", "-", path.stem.lower()).strip("-") or "dialogue",
        domain=domain,
        collection=collection,
        broad_source="import",
        title=path.stem,
        elicitors=by_role["elicitor"],
        respondents=by_role["respondent"],
        languages=(),
        metadata={"original_file_name": path.name, **({"licence": licence} if licence else {})},
        turns=turns,
    )
    return ImportedTranscript(
        dialogue=dialogue,
        review=tuple(review),
        characters_in=characters_in,
        characters_out=sum(_visible(text) for _, text, _ in lines),
    )


def _visible(text: str) -> int:
    return sum(not c.isspace() for c in text)


def _read(path: Path) -> tuple[list[Line], int]:
    """Return the lines and the number of visible characters that speakers say in the source."""
    kind = path.suffix.lower()
    if kind not in FORMATS:
        raise SettingError(f"Importing {path}: expected one of {', '.join(FORMATS)}, got {kind or 'no ending'!r}.")
    if not path.is_file():
        raise SettingError(f"Importing {path}: expected a file, got none. Check the path.")
    if kind in (".docx", ".pdf"):
        return _labelled(_document_text(path, kind))
    try:
        if kind in (".json", ".jsonl"):
            rows = _json_rows(path, lines=kind == ".jsonl")
        else:
            text = path.read_text(encoding="utf-8-sig")
            if kind == ".txt":
                return _labelled(text)
            if kind == ".vtt":
                return _webvtt(text)
            if kind == ".srt":
                return _subrip(text)
            rows = _table(text)
    except ImportError as error:
        raise MissingExtraError(f"Importing {kind} transcripts", "import") from error
    except UnicodeDecodeError as error:
        raise SettingError(f"Importing {path}: expected UTF-8 text, got {error.reason}. Convert the file.") from error
    except StorageError as error:
        raise SettingError(f"Importing {error}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SettingError(
            f"Importing {path}: expected a readable {kind} transcript, got {error}. Fix the file."
        ) from error
    return _rows(path, rows)


def _labelled(text: str) -> tuple[list[Line], int]:
    """Read ``SPEAKER: ...`` lines; a line without a label goes on with the one before it.

    A label counts when it stands at least twice, or when it is the first line's: prose with a colon is no speaker.
    """
    matches = [(line, _LABEL.match(line)) for line in text.splitlines() if line.strip()]
    often = Counter(found["speaker"].strip() for _, found in matches if found)
    first = next((found["speaker"].strip() for _, found in matches[:1] if found), None)
    lines: list[Line] = []
    said = 0
    for line, found in matches:
        speaker = found["speaker"].strip() if found else ""
        if found and (often[speaker] >= 2 or speaker == first):
            lines.append((speaker, found["text"].strip(), found["time"] or ""))
            said += _visible(found["text"])
        elif lines:
            before = lines[-1]
            lines[-1] = (before[0], f"{before[1]}\n{line.strip()}".strip(), before[2])
            said += _visible(line)
        else:  # a heading before anybody speaks: kept as what an unnamed narrator says
            lines.append(("(heading)", line.strip(), ""))
            said += _visible(line)
    if all(speaker == "(heading)" for speaker, *_ in lines):
        return [], said
    return lines, said


def _cues(cues: Sequence[tuple[str, str, str | None]]) -> tuple[list[Line], int]:
    """Turn subtitle cues (time, text, voice) into lines; a cue without a speaker goes on with the one before it."""
    lines: list[Line] = []
    said = 0
    for time, text, voice in cues:
        found = None if voice else _LABEL.match(text.replace("\n", " "))
        speaker = voice or (found["speaker"].strip() if found else None)
        body = (found["text"] if found else text.replace("\n", " ")).strip()
        said += _visible(body)
        if speaker is None and lines:
            before = lines[-1]
            lines[-1] = (before[0], f"{before[1]} {body}".strip(), before[2])
        else:
            lines.append((speaker or "(unknown)", body, time))
    return lines, said


def _webvtt(text: str) -> tuple[list[Line], int]:
    import webvtt

    captions = webvtt.from_buffer(io.StringIO(text))
    return _cues([(c.start, c.text, c.voice) for c in captions.captions])


def _subrip(text: str) -> tuple[list[Line], int]:
    import srt

    voice = re.compile(r"^<v\s+([^>]+)>")
    cues = []
    for cue in srt.parse(text):
        found = voice.match(cue.content)
        body = re.sub(r"</?[a-z][^>]*>", "", cue.content)
        cues.append((str(cue.start).split(".")[0], body, found[1].strip() if found else None))
    return _cues(cues)


def _table(text: str) -> list[Mapping[str, Any]]:
    return list(csv.DictReader(io.StringIO(text)))


def _json_rows(path: Path, *, lines: bool) -> list[Mapping[str, Any]]:
    value: Any = [row for _, row in read_lines(path)] if lines else json.loads(path.read_bytes())
    if isinstance(value, dict):
        value = value.get("messages") or value.get("turns") or [value]
    if len(value) == 1 and isinstance(value[0], dict) and ("messages" in value[0] or "turns" in value[0]):
        value = value[0].get("messages") or value[0].get("turns")
    return cast(list[Mapping[str, Any]], value)


def _rows(path: Path, rows: Sequence[Mapping[str, Any]]) -> tuple[list[Line], int]:
    names = {key.strip().lower(): key for row in rows[:1] for key in row if isinstance(key, str)}
    speaker = next((names[n] for n in ("speaker", "name", "role", "from", "author", "who") if n in names), None)
    text = next((names[n] for n in ("utterance", "text", "content", "message", "value", "said") if n in names), None)
    time = next((names[n] for n in ("timestamp", "time", "start") if n in names), None)
    if rows and (speaker is None or text is None):
        raise SettingError(
            f"Importing {path}: expected a field for the speaker and one for the text, got {', '.join(names)}. "
            "Name them speaker and text."
        )
    assert speaker is not None or not rows
    lines = [
        (
            str(row[speaker or ""] or "").strip() or "(unknown)",
            str(row[text or ""] or ""),
            str(row[time] or "") if time else "",
        )
        for row in rows
    ]
    return lines, sum(_visible(said) for _, said, _ in lines)


def _document_text(path: Path, kind: str) -> str:
    try:
        if kind == ".docx":
            import docx

            return "\n".join(paragraph.text for paragraph in docx.Document(str(path)).paragraphs)
        import pypdf

        return "\n".join(page.extract_text() for page in pypdf.PdfReader(str(path)).pages)
    except ImportError as error:
        raise MissingExtraError(f"Importing {kind} transcripts", "import") from error
    except Exception as error:  # the libraries raise errors of many kinds for broken files
        raise SettingError(
            f"Importing {path}: expected a readable {kind} file, got {type(error).__name__}: {error}."
        ) from error


def _guess_roles(
    lines: Sequence[Line], given: Mapping[str, str]
) -> tuple[dict[str, DialogueRole], list[Mapping[str, Any]]]:
    said: dict[str, list[str]] = {}
    for speaker, text, _ in lines:
        said.setdefault(speaker, []).append(text)
    share = {speaker: sum(bool(questions_in(t)) for t in texts) / len(texts) for speaker, texts in said.items()}
    roles: dict[str, DialogueRole] = {}
    source: dict[str, str] = {}
    for speaker in said:
        named = _ROLE_NAMES.get(speaker.strip().lower().rstrip("0123456789 "))
        if speaker in given:
            roles[speaker], source[speaker] = cast(DialogueRole, given[speaker]), "given"
        elif named:
            roles[speaker], source[speaker] = named, "guessed by name"
    rest = [speaker for speaker in said if speaker not in roles]
    asks_most = max(rest, key=lambda s: share[s], default=None) if "elicitor" not in roles.values() else None
    for speaker in rest:
        roles[speaker] = "elicitor" if speaker == asks_most else "respondent"
        source[speaker] = (
            "guessed: asks the largest share of questions" if speaker == asks_most else "guessed: asks less"
        )
    review: list[Mapping[str, Any]] = [
        {
            "speaker": speaker,
            "turns": len(texts),
            "words": sum(len(text.split()) for text in texts),
            "turns_with_questions": f"{share[speaker]:.0%}",
            "role": roles[speaker],
            "from": source[speaker],
        }
        for speaker, texts in said.items()
    ]
    return roles, review
