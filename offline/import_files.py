"""Several transcripts at once, and dialogues as JSON lines."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from elicit_gym.errors import SettingError
from elicit_gym.offline.importing import ImportedTranscript, import_transcript
from elicit_gym.offline.schema import Dialogue, dialogue_to_row

__all__ = ["import_transcripts", "write_dialogues"]


def import_transcripts(
    files: Sequence[Path], *, roles: Mapping[str, str], domain: str, licence: str | None
) -> list[ImportedTranscript]:
    """Read transcripts, one dialogue each.

    Args:
        files: the transcripts; see `elicit_gym.offline.importing.import_transcript`, also for what follows.
        roles: the role by speaker.
        domain: the domain of all dialogues.
        licence: the licence of all dialogues.

    Raises:
        SettingError: a file cannot be read, or two dialogues would have the same id.
    """
    imported = [import_transcript(file, roles=roles, domain=domain, licence=licence) for file in files]
    ids = Counter(transcript.dialogue.dialogue_id for transcript in imported)
    if max(ids.values()) > 1:
        raise SettingError(f"Importing: expected files of different names, got {ids.most_common(1)[0][0]!r} twice.")
    return imported


def write_dialogues(dialogues: Iterable[Dialogue], out: Path) -> None:
    """Write dialogues in the schema as JSON lines."""
    out.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.dumps(dialogue_to_row(dialogue), ensure_ascii=False) for dialogue in dialogues]
    out.write_text("\n".join(rows) + "\n", encoding="utf-8")
