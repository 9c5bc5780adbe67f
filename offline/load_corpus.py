"""Corpora by name: YIELD from the hub or a folder, the bundled sample, or files of your own."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from elicit_gym.errors import MissingExtraError, SettingError, StorageError
from elicit_gym.file_limits import FileLimits, check_archive, check_size, current_limits, decode_text, read_entry
from elicit_gym.offline.corpus import Corpus
from elicit_gym.offline.open_corpora import OPEN_CORPORA, fetch_open_corpus, read_open_corpus
from elicit_gym.offline.schema import Dialogue, dialogue_from_row, problems_of_dialogue
from elicit_gym.offline.splits import SPLITS
from elicit_gym.strict_json import UnfitJSONError, parse_json

__all__ = [
    "CorpusError",
    "load_corpus",
    "parsed_rows",
    "read_dialogues",
    "sources_below",
    "validate_dialogues",
    "yield_folder",
]

REPOSITORY = "infosense/yield"
REVISION = "ab79558015c643fe7b3091d72dd18b311dd067e7"
DATA_VARIABLE = "ELICIT_GYM_DATA"
SAMPLE = Path(__file__).parent / "data" / "sample.jsonl"


class CorpusError(StorageError, ValueError):
    """Dialogue files break a rule.

    Attributes:
        problems: one line for each broken rule, with file and position.
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = tuple(problems)
        more = f"\n... and {len(problems) - 5} more" if len(problems) > 5 else ""
        super().__init__("\n".join(problems[:5]) + more)


def load_corpus(name: str = "yield", split: str | None = None, *, path: str | Path | None = None) -> Corpus:
    """Load a corpus.

    Args:
        name: ``yield`` (the released corpus), ``sample`` (12 dialogues bundled with the package),
            ``anthropic_interviewer`` or ``aci_bench`` (see `elicit_gym.offline.open_corpora`, whose released files
            `path` may name).
        split: ``train``, ``dev`` or ``test``; None for all.
        path: a file, or a folder with files, in YIELD's schema (JSON lists or JSON lines, zipped or not). A file below
            a folder named ``train``, ``dev`` or ``test``, or named so itself, belongs to that split. Without it, YIELD
            comes from ``$ELICIT_GYM_DATA`` or from the Hugging Face hub.

    A split of dialogues that have none is made with the default shares, with a `MissingSplitsWarning`.

    Raises:
        CorpusError: a file breaks a rule; the error names file, dialogue, field, what was expected and what was found.
        SettingError: there is no such corpus or split.
        MissingExtraError: huggingface_hub is needed but not installed.
    """
    if split is not None and split not in SPLITS:
        raise SettingError(f"Loading the corpus {name!r}: expected split 'train', 'dev' or 'test', got {split!r}.")
    if name in OPEN_CORPORA:
        corpus = _open_corpus(name, path)
    elif path is not None:
        corpus = Corpus(read_dialogues(Path(path)), Path(path).name)
    elif name == "sample":
        corpus = Corpus(read_dialogues(SAMPLE), "sample").with_splits()
    elif name == "yield":
        corpus = Corpus(read_dialogues(yield_folder()), "yield")
    else:
        raise SettingError(
            f"Loading a corpus: expected 'yield' or 'sample', {' or '.join(map(repr, OPEN_CORPORA))}, or a path, got "
            f"{name!r}. Choose one, or name where your own dialogues are (--path)."
        )
    return corpus if split is None else corpus.with_some_splits().filter(split=split)


def _open_corpus(name: str, path: str | Path | None) -> Corpus:
    local = os.environ.get(DATA_VARIABLE)
    try:
        folder = Path(path) if path is not None else fetch_open_corpus(name, Path(local) if local else None)
        corpus = Corpus(read_open_corpus(name, folder), name)
    except StorageError as error:
        raise CorpusError([str(error)]) from error
    return corpus if any(dialogue.split for dialogue in corpus) else corpus.with_splits()


def yield_folder(patterns: Sequence[str] = ("*.json", "*.zip")) -> Path:
    """Return where YIELD's files are: below ``$ELICIT_GYM_DATA``, or fetched from the hub.

    Args:
        patterns: of the files to fetch.

    Raises:
        CorpusError: the hub cannot be reached.
        MissingExtraError: huggingface_hub is needed but not installed.
    """
    local = os.environ.get(DATA_VARIABLE)
    if local:
        for folder in (Path(local) / "yield", Path(local)):
            if any(any(folder.glob(f"**/*.{kind}")) for kind in ("json", "jsonl", "zip")):
                return folder
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError("Downloading YIELD", "yield") from error
    try:
        return Path(
            snapshot_download(REPOSITORY, repo_type="dataset", revision=REVISION, allow_patterns=list(patterns))
        )
    except Exception as error:  # the hub's client raises the errors of half a dozen libraries
        raise CorpusError(
            [
                f"Downloading {REPOSITORY} from the Hugging Face hub: expected its files, got {type(error).__name__}. "
                f"Check the network, or give path=, or put the files into a folder and set ${DATA_VARIABLE} to it."
            ]
        ) from error


Source = tuple[str, str | None, bytes | str]
"""The name, split and bytes of a file, or the sentence that says why there are none."""


def sources_below(path: Path, wanted: Callable[[str], bool]) -> Iterator[Source]:
    """Yield the JSON files below a folder, those in zip archives included, whose names from there on are wanted.

    A file that is itself the path is always wanted.
    """
    if not path.is_dir():
        yield from _contents(path, "", wanted)
        return
    for file in sorted([*path.rglob("*.json"), *path.rglob("*.jsonl"), *path.rglob("*.zip")]):
        yield from _contents(file, str(file.relative_to(path)), wanted)


def _contents(file: Path, inside: str, wanted: Callable[[str], bool]) -> Iterator[Source]:
    parents, limits = file.parts[:-1], _limits()
    try:
        if file.suffix == ".zip":
            with ZipFile(file) as archive:
                check_archive(archive, str(file), limits)
                for name in sorted(archive.namelist()):
                    if name.endswith((".json", ".jsonl")) and wanted(f"{inside}/{name}") and "__MACOSX" not in name:
                        folders = (*parents, file.stem, *Path(name).with_suffix("").parts)
                        yield f"{file}/{name}", _split_of(folders), read_entry(archive, name, str(file), limits)
        elif not inside or wanted(inside):
            with file.open("rb") as opened:
                check_size(file, opened, limits.text)
                yield str(file), _split_of((*parents, file.stem)), opened.read()
    except OSError as error:
        yield str(file), None, f"Reading {file}: expected a file, got {error.strerror or error}. Check the path."
    except (SettingError, StorageError) as error:
        yield str(file), None, str(error)
    except (BadZipFile, NotImplementedError, ValueError) as error:
        yield str(file), None, f"Reading {file}: expected a zip archive, got {error}. Download it again."


def _limits() -> FileLimits:
    """Return the limits of a corpus, which is large: a file of it, packed or not, may be as large as a built one."""
    limits = current_limits()
    return replace(limits, total=limits.records, entry=limits.records // 4, text=limits.records // 4)


def _has_dialogues(name: str) -> bool:
    """Say whether a file is none of the windowed releases, which lie beside the dialogues; their rows have messages."""
    return "finetun" not in name.lower() and "experiment" not in name.lower()


def _split_of(parents: Sequence[str]) -> str | None:
    return next((part for part in reversed(parents) if part in SPLITS), None)


def parsed_rows(name: str, data: bytes) -> tuple[list[tuple[str, Any]], list[str]]:
    """Return the rows of a JSON list or of JSON lines, each with its position, and what is wrong with them."""
    try:
        text, _ = decode_text(data, name)
    except SettingError as error:
        return [], [str(error)]
    try:
        value = parse_json(text)
    except ValueError as whole:
        rows: list[tuple[str, Any]] = []
        problems = []
        for number, line in enumerate(text.split("\n"), 1):
            if line.strip():
                try:
                    rows.append((f"{name}:{number}", parse_json(line)))
                except ValueError as error:
                    problems.append(
                        f"{name}:{number}: expected a JSON list or JSON lines, got text that does not parse ({error}). "
                        "Fix the line."
                    )
        if not rows and isinstance(whole, UnfitJSONError):  # a list over many lines, none of which is a dialogue
            return [], [f"Reading {name}: expected a JSON list or JSON lines, got {whole}. Fix the file."]
        return rows, problems[:1] if not rows else problems
    values = value if isinstance(value, list) else [value]
    return [(f"{name}: dialogue {i}", row) for i, row in enumerate(values)], []


def _read(path: Path) -> tuple[list[Dialogue], list[str]]:
    dialogues: list[Dialogue] = []
    problems: list[str] = []
    found_any = False
    first_at: dict[str, str] = {}
    for name, split, data in sources_below(path, _has_dialogues):
        found_any = True
        rows, unreadable = ([], [data]) if isinstance(data, str) else parsed_rows(name, data)
        problems += unreadable
        for where, row in rows:
            found = [f"{where}: {problem}" for problem in problems_of_dialogue(row)]
            problems += found
            if found:
                continue
            dialogue = dialogue_from_row(row, split)
            dialogues.append(dialogue)
            first = first_at.setdefault(dialogue.dialogue_id, where)
            if first != where:
                problems.append(
                    f"{where}: 'dialogue_id' must be unique, got {dialogue.dialogue_id!r} again (first in {first}). "
                    "Rename one, or remove the copy."
                )
    if not found_any:
        return [], [f"Reading {path}: expected JSON files below it, got none. Check the path."]
    if not problems and not dialogues:
        problems.append(f"Reading {path}: expected at least one dialogue, got none. Check the files.")
    return dialogues, problems


def read_dialogues(path: Path) -> list[Dialogue]:
    """Read every dialogue of a file or folder.

    Raises:
        CorpusError: a rule is broken; the error lists all problems.
    """
    dialogues, problems = _read(path)
    if problems:
        raise CorpusError(problems)
    return dialogues


def validate_dialogues(path: Path) -> tuple[str, ...]:
    """Return everything that is wrong with a file or folder, one line each."""
    return tuple(_read(path)[1])
