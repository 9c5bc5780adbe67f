"""Dialogues made of what a reader found: names, roles, ids, the check, and the account of every character."""

import hashlib
import os
import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing.characters import visible
from elicit_gym.offline.importing.check import check
from elicit_gym.offline.importing.formats import Opened
from elicit_gym.offline.importing.names import merge_names, name_key
from elicit_gym.offline.importing.roles import SpeakerReview, choose_roles
from elicit_gym.offline.importing.source import UNKNOWN_SPEAKER, Conversation, Reading, left_out_by_kind
from elicit_gym.offline.schema import Dialogue, DialogueTurn

__all__ = ["ImportedTranscript", "LeftOut", "build_transcript"]


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
        aliases: full name by short one, where the source says so.
    """

    path: Path
    dialogues: tuple[Dialogue, ...]
    layout: str
    encoding: str
    review: tuple[SpeakerReview, ...]
    notes: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    characters: Mapping[str, int]
    aliases: Mapping[str, str]


def _use_full_names(reading: Reading, given: Mapping[str, str]) -> dict[str, str]:
    """Put full names where the source says what a short one means, and return the user's roles for them."""
    used: dict[str, str] = {}
    for conversation in reading.conversations:
        for segment in conversation.segments:
            name = reading.aliases.get(name_key(segment.speaker)) if segment.speaker is not None else None
            if name is not None and segment.speaker is not None:
                used[segment.speaker] = name
                segment.speaker = name
    for short, name in used.items():
        reading.note(f"one speaker: {name!r} and {short!r}, as the label says")
    return {**given, **{name_key(reading.aliases[key]): role for key, role in given.items() if key in reading.aliases}}


def _name_the_unnamed(reading: Reading, speakers: Sequence[str]) -> None:
    unnamed = [s for conversation in reading.conversations for s in conversation.segments if s.speaker is None]
    if not speakers:
        for segment in unnamed:
            reading.count("nobody is named, so that the speaker is shown as unknown", segment.where)
        return
    if not unnamed:
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


def build_transcript(
    path: Path, opened: Opened, given: Mapping[str, str], speakers: Sequence[str], about: tuple[str, str, str | None]
) -> ImportedTranscript:
    """Make the dialogues of a file, and check that they hold all of it.

    Args:
        path: of the file.
        opened: what was read.
        given: roles by key of the name, from the user.
        speakers: who speaks where nobody is named.
        about: domain, collection and licence.

    Raises:
        SettingError: nobody speaks, or something would be lost.
    """
    reading = opened.reading
    _name_the_unnamed(reading, speakers)
    conversations = [c for c in reading.conversations if c.segments]
    if not conversations:
        raise SettingError(f"Importing {path}: expected somebody who speaks, got nobody. Check the file.")
    given = _use_full_names(reading, given)
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
    characters = _check_nothing_is_lost(path, opened, dialogues)
    return ImportedTranscript(
        path=path,
        dialogues=tuple(dialogues),
        layout=reading.layout,
        encoding=opened.encoding,
        review=tuple(review),
        notes=tuple(reading.notes),
        left_out=_left_out(reading),
        characters=_characters(reading, characters),
        aliases=dict(reading.aliases),
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


def _check_nothing_is_lost(path: Path, opened: Opened, dialogues: Sequence[Dialogue]) -> int:
    checked = check(opened.source(), opened.reading, dialogues)
    problems = checked.left_over
    if problems:
        more = f" ... and {len(problems) - 5} more" if len(problems) > 5 else ""
        raise SettingError(
            f"Importing {path}: expected every character in a turn or left out by name, left over: {len(problems)}: "
            f"{'; '.join(problems[:5])}{more}. Please report the file; nothing was written."
        )
    return checked.characters


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


def _characters(reading: Reading, source: int) -> dict[str, int]:
    counts = {"source": source, "text": 0, "labels": 0, "marks": 0, "left out": 0}
    for piece in reading.pieces:
        use = {"text": "text", "speaker": "labels", "time": "labels", "mark": "marks"}.get(piece.use, "left out")
        counts[use] += len(visible(piece.raw))
    return counts


def _readable(name: str) -> str:
    """Return a file's name in one Unicode form; bytes that are not UTF-8 are shown as they are in Python."""
    return unicodedata.normalize("NFC", os.fsencode(name).decode("utf-8", "backslashreplace"))


def _id_of(name: str) -> str:
    """Make an id of a file's name: the name itself where it is plain, else a readable form and a hash of the name."""
    plain = re.sub(r"[^\w.]+", "-", unicodedata.normalize("NFKC", name).casefold()).strip("-.") or "dialogue"
    if plain == name:
        return plain
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{plain[:80]}-{digest[:6]}"
