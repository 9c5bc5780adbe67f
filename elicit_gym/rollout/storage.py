"""A run's folder: ``manifest.json`` and ``episodes.jsonl``, one line per episode, flushed when it finishes."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from threading import Lock
from typing import IO

from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import SettingError, StorageError
from elicit_gym.files import appending
from elicit_gym.folder_lock import lock_folder
from elicit_gym.json_files import read_records, resume_records, write_json
from elicit_gym.rollout.manifest import RunManifest
from elicit_gym.strict_json import json_text

__all__ = ["RETRIED_SOURCES", "RunStore", "load_run"]

RETRIED_SOURCES = frozenset({"model", "worker", "budget"})
"""Failures with a cause outside the conversation: a resumed run tries these units again."""


class RunStore:
    """Append records to a run's folder.

    Args:
        folder: made if need be.
        manifest: of this run. Where one is resumed, the policies that it had before stay in the folder's manifest.
        resume: go on with what is there.

    Raises:
        SettingError: the folder holds a run already and `resume` is off, or another process writes to it.
        ManifestMismatchError: `resume` is on and the settings differ.
        StorageError: a line in the middle of the file cannot be read.

    Nobody else writes to the folder until the store is closed.
    """

    def __init__(self, folder: Path, manifest: RunManifest, *, resume: bool) -> None:
        self.folder = folder
        self._manifest = manifest
        self._records: dict[tuple[str, str, int], EpisodeRecord] = {}
        self._lock = Lock()
        self._file: IO[str] | None = None
        self._in_use = lock_folder(folder)
        try:
            self._open(resume)
        except BaseException:
            self._in_use.release()
            raise

    def _open(self, resume: bool) -> None:
        folder, manifest = self.folder, self._manifest
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
            self._manifest = replace(there.with_policies_of(manifest), made=manifest.made, stopped=None)
            advice = "Remove the line; its episode will be made again."
            records = resume_records(path, EpisodeRecord.from_row, what="an episode", advice=advice)
            self._records = {r.unit: r for r in records if not (r.failure and r.failure.source in RETRIED_SOURCES)}
        write_json(manifest_path, self._manifest.to_json())
        self._file = appending(path)

    def stopped(self, reason: str | None) -> None:
        """Note in the manifest why the run ended early; None where it did not."""
        self._manifest = replace(self._manifest, stopped=reason)
        write_json(self.folder / "manifest.json", self._manifest.to_json())

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

    def close(self) -> None:
        """Close the file, and let others write to the folder."""
        if self._file is not None:
            self._file.close()
            self._file = None
        self._in_use.release()


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
