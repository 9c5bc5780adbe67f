"""Dialogues between elicitors and respondents: YIELD's schema as types, and its rules.

References:
    YIELD, Table 3.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

__all__ = [
    "DOMAINS",
    "Dialogue",
    "DialogueRole",
    "DialogueTurn",
    "dialogue_from_row",
    "dialogue_to_row",
    "problems_of_dialogue",
]

DialogueRole: TypeAlias = Literal["elicitor", "respondent"]
ROLES = ("elicitor", "respondent")
DOMAINS = ("academic_interviews", "journalistic_investigations", "judicial_proceedings", "oral_history")
"""The four domains of YIELD; your own corpus may have others."""

_TEXTS = ("dialogue_id", "domain", "collection")
_OPTIONAL_TEXTS = ("broad_source", "title")
_LISTS = ("elicitors", "respondents", "languages")


@dataclass(frozen=True, kw_only=True, slots=True)
class DialogueTurn:
    """One utterance.

    Attributes:
        turn_id: the raw turn's id, from which block ids are made.
        timestamp: the source's timestamp; "" if it has none.
        utterance: the text, which may be empty; the published data hold one such turn.
    """

    turn_id: int
    speaker: str
    role: DialogueRole
    utterance: str
    timestamp: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Dialogue:
    """One conversation.

    Attributes:
        metadata: the source's metadata, whose keys differ from source to source.
        split: ``train``, ``dev`` or ``test``; None if the corpus has no splits.
    """

    dialogue_id: str
    domain: str
    collection: str
    broad_source: str
    title: str
    elicitors: tuple[str, ...]
    respondents: tuple[str, ...]
    languages: tuple[str, ...]
    turns: tuple[DialogueTurn, ...]
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)
    split: str | None = None


def _found(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def problems_of_dialogue(row: object) -> Iterator[str]:
    """Yield what is wrong with a row, one line each, without file and position.

    Unusual metadata keys, empty utterances, neighbours of the same role and one-sided dialogues are not problems.
    """
    if not isinstance(row, Mapping):
        yield f"the dialogue must be a JSON object, got {_found(row)}. Fix it."
        return
    for name in _TEXTS:
        if not isinstance(row.get(name), str) or not row[name].strip():
            yield f"{name!r} must be a non-empty string, got {_found(row.get(name))}. Fix it."
    for name in _OPTIONAL_TEXTS:
        if not isinstance(row.get(name, ""), str):
            yield f"{name!r} must be a string, got {_found(row[name])}. Fix it."
    for name in _LISTS:
        value = row.get(name, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            yield f"{name!r} must be a list of strings, got {_found(value)}. Fix it."
    if not isinstance(row.get("split") or "", str):
        yield f"'split' must be a string, got {_found(row['split'])}. Fix it."
    if not isinstance(row.get("metadata", {}), Mapping):
        yield f"'metadata' must be an object, got {_found(row['metadata'])}. Fix it."
    turns = row.get("turns")
    if not isinstance(turns, list) or not turns:
        yield f"'turns' must be a non-empty list, got {_found(turns)}. Fix it."
        return
    seen: set[int] = set()
    for i, turn in enumerate(turns):
        yield from _problems_of_turn(i, turn, seen)


def _problems_of_turn(i: int, turn: object, seen: set[int]) -> Iterator[str]:
    if not isinstance(turn, Mapping):
        yield f"turn {i} must be an object, got {_found(turn)}. Fix it."
        return
    turn_id = turn.get("turn_id")
    if type(turn_id) is not int or abs(turn_id) >= 2**63:
        yield f"turn {i}: 'turn_id' must be an integer of 64 bits, got {_found(turn_id)}. Fix it."
    elif turn_id in seen:
        yield f"turn {i}: 'turn_id' must be unique, got {turn_id} again. Renumber the turns."
    else:
        seen.add(turn_id)
    if turn.get("role") not in ROLES:
        yield f"turn {i}: 'role' must be 'elicitor' or 'respondent', got {_found(turn.get('role'))}. Fix it."
    if not isinstance(turn.get("utterance"), str):
        yield f"turn {i}: 'utterance' must be a string, got {_found(turn.get('utterance'))}. Fix it."
    for name in ("speaker", "timestamp"):
        if not isinstance(turn.get(name) or "", str):
            yield f"turn {i}: {name!r} must be a string, got {_found(turn[name])}. Fix it."


def dialogue_from_row(row: Mapping[str, Any], split: str | None = None) -> Dialogue:
    """Build a dialogue from a checked row."""
    return Dialogue(
        dialogue_id=row["dialogue_id"],
        domain=row["domain"],
        collection=row["collection"],
        broad_source=row.get("broad_source", ""),
        title=row.get("title", ""),
        elicitors=tuple(row.get("elicitors", ())),
        respondents=tuple(row.get("respondents", ())),
        languages=tuple(row.get("languages", ())),
        metadata=dict(row.get("metadata", {})),
        split=split or row.get("split"),
        turns=tuple(
            DialogueTurn(
                turn_id=turn["turn_id"],
                timestamp=turn.get("timestamp") or "",
                speaker=turn.get("speaker") or "",
                role=cast(DialogueRole, turn["role"]),
                utterance=turn["utterance"],
            )
            for turn in row["turns"]
        ),
    )


def dialogue_to_row(dialogue: Dialogue) -> dict[str, Any]:
    """Convert to JSON types, in the published order of fields; the split belongs to the file and is not included."""
    return {
        "dialogue_id": dialogue.dialogue_id,
        "metadata": dict(dialogue.metadata),
        "broad_source": dialogue.broad_source,
        "collection": dialogue.collection,
        "domain": dialogue.domain,
        "title": dialogue.title,
        "elicitors": list(dialogue.elicitors),
        "respondents": list(dialogue.respondents),
        "languages": list(dialogue.languages),
        "turns": [
            {
                "turn_id": turn.turn_id,
                "timestamp": turn.timestamp,
                "speaker": turn.speaker,
                "role": turn.role,
                "utterance": turn.utterance,
            }
            for turn in dialogue.turns
        ],
    }
