"""Transcripts of one's own as dialogues of the schema; nothing is lost, and every guess is told."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.file_limits import DEFAULT_LIMITS, FileLimits
from elicit_gym.files import write_text
from elicit_gym.offline.importing.build import ImportedTranscript, build_transcript
from elicit_gym.offline.importing.formats import FORMATS, ReadOptions, read_file
from elicit_gym.offline.importing.names import name_key
from elicit_gym.offline.schema import dialogue_to_row
from elicit_gym.strict_json import json_text

__all__ = ["import_transcript", "import_transcripts", "transcript_files", "write_transcripts"]


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
        imported.append(build_transcript(path, opened, given, speakers, (domain, collection, licence)))
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
    keys = {name_key(name) for name in there} | {key for transcript in imported for key in transcript.aliases}
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


def write_transcripts(imported: Sequence[ImportedTranscript], out: Path) -> int:
    """Write the dialogues as JSON lines, all or none, and return their number.

    Raises:
        SettingError: `out` is one of the transcripts, or cannot be written.
    """
    rows = [dialogue_to_row(dialogue) for transcript in imported for dialogue in transcript.dialogues]
    text = "".join(json_text(row, ascii_only=False) + "\n" for row in rows)
    write_text(out, text, inputs=[transcript.path for transcript in imported])
    return len(rows)
