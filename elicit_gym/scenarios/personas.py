"""The people that scenarios are made of: read from a file, and drawn in threes."""

from collections.abc import Sequence
from pathlib import Path
from random import Random

from elicit_gym.errors import SettingError
from elicit_gym.json_files import parse_line, read_text

__all__ = ["draw_triples", "read_personas"]


def read_personas(path: str | Path) -> list[str]:
    """Read personas: PersonaHub's JSON lines (``persona``, ``input persona`` or ``description``), or one per line.

    Raises:
        SettingError: fewer than three different ones.
        StorageError: the file cannot be read.
    """
    path = Path(path)
    personas: dict[str, None] = {}
    for number, line in enumerate(read_text(path).splitlines(), 1):
        text = line.strip()
        if text.startswith("{"):
            row = parse_line(text, f"{path}:{number}")
            text = next((str(row[k]).strip() for k in ("persona", "input persona", "description") if row.get(k)), "")
        if text:
            personas[text.rstrip(".")] = None
    if len(personas) < 3:
        raise SettingError(
            f"Reading personas from {path}: expected at least 3 different ones, got {len(personas)}. Add more."
        )
    return list(personas)


def draw_triples(personas: Sequence[str], count: int, seed: int) -> list[tuple[int, int, int]]:
    """Draw `count` triples of different personas; nobody comes twice before everybody has come once."""
    rng = Random(seed)
    triples: list[tuple[int, int, int]] = []
    deck: list[int] = []
    while len(triples) < count:
        if len(deck) < 3:
            fresh = [i for i in range(len(personas)) if i not in deck]
            rng.shuffle(fresh)
            deck += fresh
        triples.append((deck.pop(0), deck.pop(0), deck.pop(0)))
    return triples
