"""The released experimental rows: windows with the rewards of the paper's own entity model."""

from pathlib import Path
from typing import Final

from elicit_gym.errors import SettingError
from elicit_gym.offline.load_corpus import CorpusError, parsed_rows, sources_below, yield_folder
from elicit_gym.offline.windows import Window, window_from_row

__all__ = ["EXPERIMENTAL", "read_experimental"]

EXPERIMENTAL: Final = "yield/experimental-v1"
"""The id of the released rows. They are windows and no dialogues, so that `load_windows` takes it alone."""


def read_experimental(split: str | None = None, *, path: Path | None = None) -> list[Window]:
    """Read the released experimental rows.

    Args:
        split: ``train``, ``dev`` or ``test``, by the files' folders or names; None for all.
        path: a local copy. Without it they come from ``$ELICIT_GYM_DATA`` or from the hub at the pinned revision.

    Raises:
        CorpusError: there are none, or a row cannot be read; the error names it.
        MissingExtraError: huggingface_hub is needed but not installed.

    References:
        YIELD, Section 6.2: entities of ``en_core_web_trf``, whose scores these rows hold.
    """
    folder = path or yield_folder(["*experiment*"])
    windows = []
    problems: list[str] = []
    found = 0
    for name, own_split, data in sources_below(folder, lambda name: path is not None or "experiment" in name.lower()):
        if split is not None and own_split != split:
            continue
        rows, unreadable = ([], [data]) if isinstance(data, str) else parsed_rows(name, data)
        problems += unreadable
        found += 1
        for where, row in rows:
            try:
                row["factual_novelty_score"], row["return_to_go"]
                windows.append(window_from_row(row))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                problems.append(
                    f"{where}: expected an experimental row with block_id, domain, factual_novelty_score, return_to_go "
                    f"and messages, got {type(error).__name__}: {error}. Fix the row, or name another path."
                )
    if problems:
        raise CorpusError(problems)
    if not found:
        raise SettingError(
            f"Reading {EXPERIMENTAL} from {folder}: expected JSON lines of experimental rows"
            f"{'' if split is None else f' in split {split!r}'}, got no file. Name where they are (--path)."
        )
    return windows
