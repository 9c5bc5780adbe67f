"""A run's folder: ``manifest.json`` and ``episodes.jsonl``, one line per episode, flushed when it finishes."""

import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import IO

from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import SettingError, StorageError
from elicit_gym.files import appending, write_text
from elicit_gym.folder_lock import LOCK, lock_folder
from elicit_gym.json_files import read_records, resume_records, write_json
from elicit_gym.llm.spending import EpisodeCost, SpentRow
from elicit_gym.redaction import public_addresses, redact
from elicit_gym.rollout.manifest import RunManifest
from elicit_gym.strict_json import json_text

__all__ = ["RETRIED_SOURCES", "Books", "RunStore", "load_run"]

RETRIED_SOURCES = frozenset({"model", "worker", "budget"})
"""Failures with a cause outside the conversation: a resumed run tries these units again."""

Books = tuple[tuple[SpentRow, ...], tuple[EpisodeCost, ...]]
"""What a run has spent, and what its episodes cost."""

CONFIG = "run.yaml"
NOTED_EVERY = 2.0
"""Seconds between two notes of what was spent."""


class RunStore:
    """Append records to a run's folder.

    Args:
        folder: made if need be.
        manifest: of this run. Where one is resumed, the policies that it had before stay in the folder's manifest.
        resume: go on with what is there.
        check: called before anything is made, but after an old run has been found to be the same; it may raise. A run
            that cannot start leaves no folder.
        config: the options that the run was asked for, kept as ``run.yaml``.

    Attributes:
        manifest: of the whole run, what was there before included.

    Raises:
        SettingError: the folder holds a run already and `resume` is off, or another process writes to it.
        ManifestMismatchError: `resume` is on and the settings differ.
        StorageError: a line in the middle of the file cannot be read.

    Nobody else writes to the folder until the store is closed.
    """

    def __init__(
        self,
        folder: Path,
        manifest: RunManifest,
        *,
        resume: bool,
        check: Callable[[], None] = lambda: None,
        config: str | None = None,
    ) -> None:
        self.folder = folder
        self.manifest = manifest
        self._made = _missing(folder)
        self._kept = 0
        self._noted = time.monotonic()
        self._records: dict[tuple[str, str, int], EpisodeRecord] = {}
        self._lock = Lock()
        self._file: IO[str] | None = None
        self._in_use = lock_folder(folder)
        try:
            self._open(resume, check, config)
        except BaseException:
            self._in_use.release()
            self._remove()
            raise

    def _open(self, resume: bool, check: Callable[[], None], config: str | None) -> None:
        folder, manifest = self.folder, self.manifest
        path = folder / "episodes.jsonl"
        manifest_path = folder / "manifest.json"
        if path.exists() or manifest_path.exists():
            if not resume:
                raise SettingError(
                    f"Starting a run in {folder}: expected a folder without a run, got one with a run. "
                    "Resume it (--resume), or choose another folder."
                )
            there = RunManifest.read(manifest_path)
            manifest.check_same(
                f"Resuming the run in {folder}", there, "Use the same settings, or choose another folder."
            )
            self._made = []
            self.manifest = replace(there.with_policies_of(manifest), made=manifest.made, stopped=None)
            advice = "Remove the line; its episode will be made again."
            records = resume_records(path, EpisodeRecord.from_row, what="an episode", advice=advice)
            self._records = {r.unit: r for r in records if not (r.failure and r.failure.source in RETRIED_SOURCES)}
        check()
        write_json(manifest_path, self.manifest.to_json())
        if config is not None:
            write_text(folder / CONFIG, redact(public_addresses(config)))
        self._file = appending(path)

    def note(self, books: Callable[[], Books], *, now: bool = False) -> None:
        """Write what was spent to the manifest, every few seconds: a killed run has been paid for, too."""
        if now or time.monotonic() - self._noted > NOTED_EVERY:
            spent, costs = books()
            self._noted = time.monotonic()
            self.manifest = replace(self.manifest, spent=spent, episode_costs=costs)
            write_json(self.folder / "manifest.json", self.manifest.to_json())

    def take_records(self) -> dict[tuple[str, str, int], EpisodeRecord]:
        """Return the records that were there and count, by unit; the store then forgets them."""
        taken, self._records = self._records, {}
        return taken

    def append(self, record: EpisodeRecord) -> None:
        """Write one record and flush it; safe from several threads."""
        line = json_text(record.to_row()) + "\n"
        with self._lock:
            assert self._file is not None
            self._file.write(line)
            self._file.flush()
        self._kept += bool(record.failure is None or record.episode.turns or record.failure.source != "model")

    def close(self, books: Callable[[], Books] | None = None, *, stopped: str | None = None) -> None:
        """Close the file, and let others write to the folder.

        Args:
            books: returns what was spent in the run.
            stopped: why it ended early; None where it did not.
        """
        if self._file is None:
            return
        self._file.close()
        self._file = None
        self.manifest = replace(self.manifest, stopped=stopped)
        self.note(books or (lambda: (self.manifest.spent, self.manifest.episode_costs)), now=True)
        self._in_use.release()

    def fail(self, books: Callable[[], Books]) -> None:
        """Close the file after an error: a new run that has made nothing and spent nothing leaves no folder behind."""
        self.close(books)
        if not self._kept and not any(row.calls for row in self.manifest.spent):
            self._remove()

    def _remove(self) -> None:
        if self._made:
            for name in ("episodes.jsonl", "manifest.json", CONFIG, LOCK):
                (self.folder / name).unlink(missing_ok=True)
            with suppress(OSError):  # somebody has put something there
                for folder in self._made:
                    folder.rmdir()


def _missing(folder: Path) -> list[Path]:
    """Return the folders that have to be made for a folder, itself first."""
    return [path for path in (folder, *folder.parents) if not path.exists()]


def load_run(folder: Path) -> tuple[list[EpisodeRecord], RunManifest]:
    """Read a saved run: its records (the latest for each unit) and its manifest. Nothing that they name is looked up.

    Raises:
        StorageError: there is no run, or it cannot be read.
    """
    manifest = RunManifest.read(folder / "manifest.json")
    path = folder / "episodes.jsonl"
    if not path.exists():
        raise StorageError(f"Reading the run in {folder}: expected episodes.jsonl, got no such file. Check the path.")
    # The last line may be cut off: by a kill, or because the run is still under way.
    records = read_records(path, EpisodeRecord.from_row, what="an episode", advice="Remove the line.", own=True)
    return list(_latest(records)), manifest


def _latest(records: Iterable[EpisodeRecord]) -> Iterable[EpisodeRecord]:
    return {record.unit: record for record in records}.values()
