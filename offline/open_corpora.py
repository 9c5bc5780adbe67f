"""Two open corpora of interviews beside YIELD: Anthropic's Interviewer transcripts and ACI-Bench's medical visits.

Each is fetched in a pinned revision, or read from a folder with its released files, and becomes dialogues with their
licence and nothing left out.
"""

import csv
import io
import os
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.error import URLError
from urllib.request import urlopen

from elicit_gym.errors import MissingExtraError, StorageError
from elicit_gym.file_limits import decode_text, read_bytes
from elicit_gym.files import writing
from elicit_gym.offline.licences import BY
from elicit_gym.offline.schema import Dialogue, DialogueTurn

__all__ = ["OPEN_CORPORA", "OpenCorpus", "fetch_open_corpus", "read_open_corpus"]

Row = Mapping[str, str]


@dataclass(frozen=True, kw_only=True)
class OpenCorpus:
    """Where a corpus comes from, and how it is read.

    Attributes:
        repository: on the Hugging Face hub or on GitHub.
        revision: the commit that is fetched.
        folder: where the files lie in the repository.
        files: their names, and the split of each; None where the corpus has no splits.
        columns: those that a file has to have.
        read: from a row and its file's name to a dialogue's id, collection and turns.
        domain: of its dialogues.
        licence: of its dialogues.
        citation: how its authors want it cited.
    """

    name: str
    title: str
    on_hub: bool
    repository: str
    revision: str
    folder: str
    files: Mapping[str, str | None]
    columns: tuple[str, ...]
    read: Callable[[Row, str], tuple[str, str, tuple[DialogueTurn, ...]]]
    domain: str
    licence: str
    citation: str


def _turns(text: str, label: re.Pattern[str], elicitors: re.Pattern[str], where: str) -> tuple[DialogueTurn, ...]:
    """Cut a transcript at its labels; lines without one belong to the turn before them.

    Raises:
        StorageError: it does not begin with a label.
    """
    found = list(label.finditer(text))
    if not found or text[: found[0].start()].strip():
        start = text[: found[0].start()] if found else text
        raise StorageError(
            f"Reading {where}: expected a transcript that begins with a speaker's label, got {start.strip()[:60]!r}. "
            "Is it the released file?"
        )
    ends = [match.start() for match in found[1:]] + [len(text)]
    return tuple(
        DialogueTurn(
            turn_id=number, speaker=match["speaker"],
            role="elicitor" if elicitors.search(match["speaker"]) else "respondent",
            utterance=text[match.end() : end].strip(),
        )
        for number, (match, end) in enumerate(zip(found, ends, strict=True))
    )  # fmt: skip


_SAYS = re.compile(r"^[ \t]*(?P<speaker>Assistant|AI|User|Human):", re.MULTILINE)
_AI = re.compile(r"^(?:Assistant|AI)$")
_BRACKETS = re.compile(r"^[ \t]*\[(?P<speaker>[A-Za-z_ ]+)\]", re.MULTILINE)
_CLINICIAN = re.compile(r"doctor|clini|physician|nurse", re.IGNORECASE)


def _read_interview(row: Row, stem: str) -> tuple[str, str, tuple[DialogueTurn, ...]]:
    name = row["transcript_id"]
    return name, stem.removesuffix("_transcripts"), _turns(row["text"], _SAYS, _AI, f"{stem}.csv, {name}")


def _read_visit(row: Row, stem: str) -> tuple[str, str, tuple[DialogueTurn, ...]]:
    name = row["encounter_id"]
    return name, row["dataset"], _turns(row["dialogue"], _BRACKETS, _CLINICIAN, f"{stem}.csv, {name}")


OPEN_CORPORA: Mapping[str, OpenCorpus] = {
    "aci_bench": OpenCorpus(
        name="aci_bench",
        title="ACI-Bench",
        on_hub=False,
        repository="microsoft/clinical_visit_note_summarization_corpus",
        revision="293e454917c562361409232f65e9d870a45af026",
        folder="data/aci-bench/challenge_data",
        files={
            "train.csv": "train",
            "valid.csv": "dev",
            "clinicalnlp_taskB_test1.csv": "test",
            "clinicalnlp_taskC_test2.csv": "test",
            "clef_taskC_test3.csv": "test",
        },
        columns=("dataset", "encounter_id", "dialogue"),
        read=_read_visit,
        domain="medical_visits",
        licence=BY,
        citation="Yim, Fu, Ben Abacha, Snider, Lin and Yetisgen (2023). Aci-bench: a novel ambient clinical "
        "intelligence dataset for benchmarking automatic visit note generation. Scientific Data 10:586. "
        "https://doi.org/10.1038/s41597-023-02487-3",
    ),
    "anthropic_interviewer": OpenCorpus(
        name="anthropic_interviewer",
        title="Anthropic Interviewer",
        on_hub=True,
        repository="Anthropic/AnthropicInterviewer",
        revision="c9e1ec1e6b093712b9c42235c7303ece647490e9",
        folder="interview_transcripts",
        files={f"{who}_transcripts.csv": None for who in ("workforce", "creatives", "scientists")},
        columns=("transcript_id", "text"),
        read=_read_interview,
        domain="interviews_about_work",
        licence=BY,
        citation="Handa, Stern, Huang, Hong, Durmus, McCain, Yun, Alt, Millar, Tamkin, Leibrock, Ritchie and Ganguli "
        "(2025). Introducing Anthropic Interviewer: what 1,250 professionals told us about working with AI. "
        "https://anthropic.com/research/anthropic-interviewer",
    ),
}
"""By name. The card of Anthropic's says "CC-BY" of the data, without a version, and MIT of the code beside it."""


def fetch_open_corpus(name: str, local: Path | None = None) -> Path:
    """Return a folder with a corpus' files, in the pinned revision.

    Args:
        name: a key of `OPEN_CORPORA`.
        local: a folder in which copies are looked for first, below the corpus' name.

    Raises:
        StorageError: they cannot be fetched.
        MissingExtraError: huggingface_hub is needed but not installed.
    """
    corpus = OPEN_CORPORA[name]
    if local is not None and any((local / name).rglob("*.csv")):
        return local / name
    try:
        return _from_hub(corpus) if corpus.on_hub else _from_github(corpus)
    except (MissingExtraError, StorageError):
        raise
    except Exception as error:  # the hub's client raises the errors of half a dozen libraries
        raise StorageError(
            f"Downloading {corpus.repository}: expected its files, got {type(error).__name__}. Check the network, or "
            f"give path=, or put the files into a folder {name!r} and set $ELICIT_GYM_DATA to the one above it."
        ) from error


def _from_hub(corpus: OpenCorpus) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        raise MissingExtraError(f"Downloading {corpus.title}", "yield") from error
    patterns = [f"{corpus.folder}/{file}" for file in corpus.files]
    root = snapshot_download(corpus.repository, repo_type="dataset", revision=corpus.revision, allow_patterns=patterns)
    return Path(root) / corpus.folder


def _from_github(corpus: OpenCorpus) -> Path:
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    folder = cache / "elicit-gym" / corpus.name / corpus.revision
    for file in corpus.files:
        if (folder / file).is_file():
            continue
        url = f"https://raw.githubusercontent.com/{corpus.repository}/{corpus.revision}/{corpus.folder}/{file}"
        try:
            with urlopen(url, timeout=60) as answer:
                data = answer.read()
        except URLError as error:
            raise OSError(f"{url}: {error.reason}") from error
        folder.mkdir(parents=True, exist_ok=True)
        with writing(folder / file, binary=True) as out:
            out.write(data)
    return folder


def read_open_corpus(name: str, path: Path) -> list[Dialogue]:
    """Read a corpus' released files.

    Args:
        name: a key of `OPEN_CORPORA`.
        path: a folder with them, at any depth, or one of them.

    Raises:
        StorageError: there is none, or one is not as it was released; the error names file and row.
    """
    corpus = OPEN_CORPORA[name]
    found = sorted(path.rglob("*.csv")) if path.is_dir() else [path]
    files = [file for file in found if file.name in corpus.files]
    if not files:
        raise StorageError(
            f"Reading {corpus.title} from {path}: expected {', '.join(corpus.files)}, got none of them. Check the path."
        )
    return [dialogue for file in files for dialogue in _dialogues(corpus, file)]


def _dialogues(corpus: OpenCorpus, file: Path) -> Iterator[Dialogue]:
    for number, row in enumerate(_rows(file), 1):
        missing = [column for column in corpus.columns if not isinstance(row.get(column), str)]
        if missing or None in row:
            raise StorageError(
                f"Reading {file}, row {number}: expected the columns {', '.join(corpus.columns)}, got "
                f"{', '.join(str(key) for key in row)}. Get the file again."
            )
        dialogue_id, collection, turns = corpus.read(row, file.stem)
        speakers = {role: tuple(dict.fromkeys(t.speaker for t in turns if t.role == role)) for role in _ROLES}
        others = {key: value for key, value in row.items() if key not in corpus.columns}
        yield Dialogue(
            dialogue_id=dialogue_id, domain=corpus.domain, collection=collection, broad_source=corpus.title,
            title=dialogue_id, elicitors=speakers["elicitor"], respondents=speakers["respondent"], languages=("en",),
            turns=turns, metadata={**others, "licence": corpus.licence, "citation": corpus.citation},
            split=corpus.files[file.name],
        )  # fmt: skip


_ROLES = ("elicitor", "respondent")


def _rows(file: Path) -> Iterator[dict[Any, Any]]:
    try:
        text, _ = decode_text(read_bytes(file), str(file))
        yield from csv.DictReader(io.StringIO(text, newline=""), strict=True)
    except csv.Error as error:
        raise StorageError(f"Reading {file}: expected a CSV file, got {error}. Get the file again.") from error
    except OSError as error:
        raise StorageError(f"Reading {file}: expected a file, got {error.strerror}. Check the path.") from error
