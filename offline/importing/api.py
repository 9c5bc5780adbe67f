"""Transcripts of one's own as dialogues of the schema; nothing is lost, and every guess is told."""

import hashlib
import json
import os
import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.files import DEFAULT_LIMITS, FileLimits, write_text
from elicit_gym.offline.importing.characters import visible
from elicit_gym.offline.importing.check import left_over
from elicit_gym.offline.importing.formats import FORMATS, Opened, ReadOptions, read_file
from elicit_gym.offline.importing.names import merge_names, name_key
from elicit_gym.offline.importing.roles import SpeakerReview, choose_roles
from elicit_gym.offline.importing.source import UNKNOWN_SPEAKER, Conversation, Reading, left_out_by_kind
from elicit_gym.offline.schema import Dialogue, DialogueTurn, dialogue_to_row

__all__ = [
    "ImportedTranscript",
    "LeftOut",
    "import_transcript",
    "import_transcripts",
    "transcript_files",
    "write_transcripts",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class LeftOut:
    """Something of the source that is in no turn.

    Attributes:
        what: it is: "page numbers".
        count: of places.
        characters: white space not counted.
        examples: the first of them.
        kept: whether the text is in the dialogue's metadata.
    """

    what: str
    count: int
    characters: int
    examples: tuple[str, ...]
    kept: bool


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportedTranscript:
    """The dialogues of a file, and what was guessed and left out to get them.

    Attributes:
        path: of the file.
        dialogues: one for each conversation in it.
        layout: what the file was recognised as.
        encoding: of a text file, "" for others.
        review: a row for each speaker of each dialogue.
        notes: guesses and oddities, a sentence each.
        left_out: by what it is.
        characters: of the source, white space not counted: ``source``, and of these ``text``, ``labels`` (names and
            times), ``marks`` (their punctuation) and ``left out``; the four sum up to the first.
    """

    path: Path
    dialogues: tuple[Dialogue, ...]
    layout: str
    encoding: str
    review: tuple[SpeakerReview, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    characters: Mapping[str, int]


def transcript_files(paths: Iterable[Path]) -> tuple[list[Path], list[Path]]:
    """Return the transcripts among files and below folders, and the files in folders that are of another kind."""
    files: list[Path] = []
    others: list[Path] = []
    for path in paths:
        if not path.is_dir():
            files.append(path)
            continue
        inside = sorted(file for file in path.rglob("*") if file.is_file() and not file.name.startswith((".", "~$")))
        files += [file for file in inside if file.suffix.lower() in FORMATS]
        others += [file for file in inside if file.suffix.lower() not in FORMATS]
    return list(dict.fromkeys(files)), others


def import_transcript(
    path: str | Path,
    *,
    roles: Mapping[str, str] | None = None,
    speakers: Sequence[str] = (),
    domain: str = "imported",
    collection: str = "imported",
    licence: str | None = None,
    encoding: str | None = None,
    limits: FileLimits = DEFAULT_LIMITS,
) -> ImportedTranscript:
    """Read one transcript; see `import_transcripts`."""
    (imported,) = import_transcripts(
        [path], roles=roles, speakers=speakers, domain=domain, collection=collection, licence=licence,
        encoding=encoding, limits=limits,
    )  # fmt: skip
    return imported


def import_transcripts(
    paths: Sequence[str | Path],
    *,
    roles: Mapping[str, str] | None = None,
    speakers: Sequence[str] = (),
    domain: str = "imported",
    collection: str = "imported",
    licence: str | None = None,
    encoding: str | None = None,
    limits: FileLimits = DEFAULT_LIMITS,
) -> list[ImportedTranscript]:
    """Read transcripts, and check that every character of every file is in a turn or told.

    Args:
        paths: of files: ``.txt``, ``.md``, ``.docx`` and ``.pdf`` in the usual layouts, ``.vtt`` and ``.srt``, ``.csv``
            and ``.tsv``, ``.json`` and ``.jsonl`` of chats and of speech recognisers, ``.cha``.
        roles: ``elicitor`` or ``respondent`` by speaker; names count in any case. A name given here is a speaker
            wherever it stands as a label. The others are told by the file, by their names, or guessed: whoever asks
            the largest share of questions elicits.
        speakers: who speaks where a file does not say: one name, or two that take turns at dashes and ``>>``.
        domain: of the dialogues.
        collection: of the dialogues.
        licence: kept in the metadata.
        encoding: of text files; without it a mark, UTF-16's zeros or UTF-8.
        limits: how large files may be.

    Raises:
        SettingError: a file is of an unknown kind or layout, cannot be read or names nobody, a role or a name is none,
            two dialogues have one id, or something of a file would be lost.
        MissingExtraError: a format needs a library that is not installed.
    """
    given = _checked_roles(roles or {})
    options = ReadOptions(limits=limits, forced=frozenset(given), speaker=bool(speakers), encoding=encoding)
    imported: list[ImportedTranscript] = []
    for path in map(Path, paths):
        opened = read_file(path, options)
        _name_the_unnamed(opened.reading, speakers)
        imported.append(_imported(path, opened, given, (domain, collection, licence)))
    _check_names(roles or {}, imported)
    _check_ids(imported)
    return imported


def _checked_roles(roles: Mapping[str, str]) -> dict[str, str]:
    for speaker, role in roles.items():
        if role not in ("elicitor", "respondent"):
            raise SettingError(f"Importing: expected role 'elicitor' or 'respondent' for {speaker!r}, got {role!r}.")
    return {name_key(speaker): role for speaker, role in roles.items()}


def _check_names(roles: Mapping[str, str], imported: Sequence[ImportedTranscript]) -> None:
    there = dict.fromkeys(row.speaker for transcript in imported for row in transcript.review)
    keys = {name_key(name) for name in there}
    for name in roles:
        if name_key(name) not in keys:
            listed = ", ".join(repr(other) for other in list(there)[:20])
            more = f" and {len(there) - 20} more" if len(there) > 20 else ""
            raise SettingError(
                f"Importing: expected a role for somebody who speaks, got {name!r}. Speakers: {listed}{more}."
            )


def _check_ids(imported: Sequence[ImportedTranscript]) -> None:
    seen: dict[str, Path] = {}
    for transcript in imported:
        for dialogue in transcript.dialogues:
            other = seen.setdefault(dialogue.dialogue_id, transcript.path)
            if other is not transcript.path:
                raise SettingError(
                    f"Importing: expected an id of its own for every dialogue, got {dialogue.dialogue_id!r} from "
                    f"{other} and from {transcript.path}. Rename one file, or import them apart."
                )


def _name_the_unnamed(reading: Reading, speakers: Sequence[str]) -> None:
    unnamed = [s for conversation in reading.conversations for s in conversation.segments if s.speaker is None]
    if not unnamed or not speakers:
        return
    if len(speakers) == 1:
        reading.note(f"as given: {speakers[0]!r} says whatever names nobody ({len(unnamed)} turns)")
    else:
        reading.note(
            f"as given: {', '.join(map(repr, speakers))} take turns where nobody is named ({len(unnamed)} turns)"
        )
    turn = 0
    for i, segment in enumerate(unnamed):
        turn += i > 0 and segment.changes
        segment.speaker = speakers[turn % len(speakers)]


def _imported(
    path: Path, opened: Opened, given: Mapping[str, str], about: tuple[str, str, str | None]
) -> ImportedTranscript:
    reading = opened.reading
    conversations = [c for c in reading.conversations if c.segments]
    if not conversations:
        raise SettingError(f"Importing {path}: expected somebody who speaks, got nobody. Check the file.")
    names, merges = merge_names(
        s.speaker if s.speaker is not None else UNKNOWN_SPEAKER for c in conversations for s in c.segments
    )
    for sentence in merges:
        reading.note(sentence)
    stem = _id_of(_readable(path.stem))
    dialogues: list[Dialogue] = []
    review: list[SpeakerReview] = []
    for number, conversation in enumerate(conversations, 1):
        dialogue_id = stem if len(conversations) == 1 else f"{stem}-{number}"
        roles, rows = choose_roles(conversation, names, given, dialogue_id)
        if len({row.role for row in rows}) == 1:
            reading.count(f"everybody is {rows[0].role}", dialogue_id)
        review += rows
        turns = tuple(
            DialogueTurn(
                turn_id=i,
                speaker=names[key],
                role=roles[key],
                utterance=segment.text,
                timestamp=segment.time,
            )
            for i, segment in enumerate(conversation.segments)
            for key in [name_key(segment.speaker if segment.speaker is not None else UNKNOWN_SPEAKER)]
        )
        dialogues.append(_dialogue(path, dialogue_id, conversation, turns, opened, about))
    reading.finish()
    _check_nothing_is_lost(path, opened, dialogues)
    return ImportedTranscript(
        path=path,
        dialogues=tuple(dialogues),
        layout=reading.layout,
        encoding=opened.encoding,
        review=tuple(review),
        notes=tuple(reading.notes),
        left_out=_left_out(reading),
        characters=_characters(reading),
    )


def _dialogue(
    path: Path,
    dialogue_id: str,
    conversation: Conversation,
    turns: tuple[DialogueTurn, ...],
    opened: Opened,
    about: tuple[str, str, str | None],
) -> Dialogue:
    domain, collection, licence = about
    by_role = {
        role: tuple(dict.fromkeys(t.speaker for t in turns if t.role == role)) for role in ("elicitor", "respondent")
    }
    metadata = {
        "original_file_name": _readable(path.name),
        "layout": opened.reading.layout,
        "licence": licence,
        "left_out": conversation.kept,
        "fields": conversation.fields,
    }
    return Dialogue(
        dialogue_id=dialogue_id,
        domain=domain,
        collection=collection,
        broad_source="import",
        title=conversation.title or _readable(path.stem),
        elicitors=by_role["elicitor"],
        respondents=by_role["respondent"],
        languages=conversation.languages,
        metadata={name: value for name, value in metadata.items() if value},
        turns=turns,
    )


def _check_nothing_is_lost(path: Path, opened: Opened, dialogues: Sequence[Dialogue]) -> None:
    problems = left_over(opened.source, opened.reading, dialogues)
    if problems:
        more = f" ... and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise SettingError(
            f"Importing {path}: expected every character in a turn or left out by name, left over: {len(problems)}: "
            f"{'; '.join(problems[:5])}{more}. Please report the file; nothing was written."
        )


def _left_out(reading: Reading) -> tuple[LeftOut, ...]:
    kept = {what for conversation in reading.conversations for what in conversation.kept}
    return tuple(
        LeftOut(
            what=what,
            count=len(pieces),
            characters=sum(len(visible(piece.raw)) for piece in pieces),
            examples=tuple(" ".join(piece.raw.split())[:60] for piece in pieces[:3]),
            kept=what in kept,
        )
        for what, pieces in left_out_by_kind(reading.pieces).items()
    )


def _characters(reading: Reading) -> dict[str, int]:
    counts = {"source": 0, "text": 0, "labels": 0, "marks": 0, "left out": 0}
    for piece in reading.pieces:
        size = len(visible(piece.raw))
        counts["source"] += size
        use = {"text": "text", "speaker": "labels", "time": "labels", "mark": "marks"}.get(piece.use, "left out")
        counts[use] += size
    return counts


def _readable(name: str) -> str:
    """Return a file's name in one Unicode form; bytes that are no UTF-8 are shown as they are in Python."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "backslashreplace"))


def _id_of(name: str) -> str:
    """Make an id of a file's name: the name itself where it is plain, else a readable form and a hash of the name."""
    plain = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFKC", name).casefold()).strip("-.") or "dialogue"
    if plain == name:
        return plain
    return f"{plain[:80]}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def write_transcripts(imported: Sequence[ImportedTranscript], out: Path) -> int:
    """Write the dialogues as JSON lines, all or none, and return their number.

    Raises:
        SettingError: `out` is one of the transcripts, or cannot be written.
    """
    rows = [dialogue_to_row(dialogue) for transcript in imported for dialogue in transcript.dialogues]
    text = "".join(json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n" for row in rows)
    write_text(out, text, inputs=[transcript.path for transcript in imported])
    return len(rows)
