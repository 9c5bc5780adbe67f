"""The rules of a scenario file, each row checked for all of them at once.

A row of our own format has the published fields (description, goal, obstacle, constraints, solution, checklist,
persona) plus id, opening_message, traits, and what the scripted user and judge need: disclosures and items.
"""

from collections.abc import Iterator, Mapping
from typing import Any, cast

from elicit_gym.scenarios.cues import Rarity, derive_cues
from elicit_gym.types import NUM_CONSTRAINTS, NUM_ITEMS, ChecklistItem, Fact, ItemKind, Scenario

__all__ = ["FACT_IDS", "pool_rarity", "problems_of_row", "scenario_from_row"]

FACT_IDS = ("goal", "obstacle", *(f"constraint_{i}" for i in range(1, NUM_CONSTRAINTS + 1)))

Row = Mapping[str, Any]

_TEXTS = ("id", "opening_message", "persona", "description", "goal", "obstacle", "solution")
_LISTS = (("traits", 3), ("constraints", NUM_CONSTRAINTS), ("checklist", NUM_ITEMS))


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _found(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _list_problem(field: str, value: object, length: int) -> str | None:
    if isinstance(value, list) and len(value) == length and all(_is_text(entry) for entry in value):
        return None
    if isinstance(value, list):
        bad = next((i for i, entry in enumerate(value) if not _is_text(entry)), None)
        found = f"{len(value)}" if bad is None else f"{_found(value[bad])} at position {bad + 1}"
    else:
        found = _found(value)
    return f"{field!r} must be {length} non-empty strings, got {found}. Fix the line."


def problems_of_row(row: object, *, cues: bool = True) -> Iterator[str]:
    """Yield what is wrong with a row, one line each, without file and line number.

    Args:
        row: as parsed from JSON.
        cues: whether disclosures and items are required (the published format has none).
    """
    if not isinstance(row, Mapping):
        yield f"the row must be a JSON object, got {_found(row)}. Fix the line."
        return
    for field in _TEXTS:
        if not _is_text(row.get(field)):
            yield f"{field!r} must be a non-empty string, got {_found(row.get(field))}. Fix the line."
    for field, length in _LISTS:
        problem = _list_problem(field, row.get(field), length)
        if problem:
            yield problem
    if row.get("split") not in (None, "train", "test"):
        yield f"'split' must be 'train', 'test' or null, got {_found(row.get('split'))}. Fix the line."
    if cues:
        yield from _problems_of_disclosures(row.get("disclosures"))
        yield from _problems_of_items(row.get("items"))


def _problems_of_disclosures(value: object) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield f"'disclosures' must be an object, got {_found(value)}. Give goal, obstacle and constraints."
        return
    for field in ("goal", "obstacle"):
        if not _is_text(value.get(field)):
            yield f"'disclosures.{field}' must be a non-empty string, got {_found(value.get(field))}. Fix the line."
    problem = _list_problem("disclosures.constraints", value.get("constraints"), NUM_CONSTRAINTS)
    if problem:
        yield problem


def _problems_of_items(value: object) -> Iterator[str]:
    if not isinstance(value, list) or len(value) != NUM_ITEMS:
        found = len(value) if isinstance(value, list) else _found(value)
        yield f"'items' must be {NUM_ITEMS} objects, one for each checklist question, got {found}. Fix the line."
        return
    for i, item in enumerate(value, 1):
        if not isinstance(item, Mapping):
            yield f"'items' {i} must be an object, got {_found(item)}. Fix the line."
            continue
        if item.get("kind") not in ("ask", "advice"):
            yield f"'items' {i}: 'kind' must be 'ask' or 'advice', got {_found(item.get('kind'))}. Fix the line."
        if item.get("fact") not in FACT_IDS:
            known = ", ".join(FACT_IDS)
            yield f"'items' {i}: 'fact' must be one of {known}, got {_found(item.get('fact'))}. Fix the line."
        if not _is_text(item.get("topic")):
            yield f"'items' {i}: 'topic' must be a non-empty string, got {_found(item.get('topic'))}. Fix the line."
        entries = item.get("cues")
        if not isinstance(entries, list) or not entries or not all(_is_text(cue) for cue in entries):
            yield f"'items' {i}: 'cues' must be non-empty strings, got {_found(entries)}. Fix the line."


def pool_rarity(rows: list[Row]) -> Rarity:
    """Measure how rare stems are over the constraints and checklist questions of a pool of rows."""
    return Rarity([text for row in rows for text in (*row["constraints"], *row["checklist"])])


def scenario_from_row(row: Row, rarity: Rarity) -> Scenario:
    """Build a scenario from a checked row with disclosures and items.

    Facts that no *ask* item hangs on get derived cues, so that the user answers a question for them too.
    """
    statements = [row["goal"], row["obstacle"], *row["constraints"]]
    spoken = row["disclosures"]
    disclosures = [spoken["goal"], spoken["obstacle"], *spoken["constraints"]]
    covered = {item["fact"] for item in row["items"] if item["kind"] == "ask"}
    facts = tuple(
        Fact(
            id=fact_id,
            statement=statement,
            disclosure=disclosure,
            cues=()
            if fact_id in covered or not fact_id.startswith("constraint")
            else derive_cues("", statement, rarity, row["persona"]),
        )
        for fact_id, statement, disclosure in zip(FACT_IDS, statements, disclosures, strict=True)
    )
    checklist = tuple(
        ChecklistItem(
            question=question,
            kind=cast(ItemKind, item["kind"]),
            fact=item["fact"],
            topic=item["topic"],
            cues=tuple(item["cues"]),
        )
        for question, item in zip(row["checklist"], row["items"], strict=True)
    )
    return Scenario(
        id=row["id"],
        opening_message=row["opening_message"],
        persona=row["persona"],
        traits=tuple(row["traits"]),
        description=row["description"],
        goal=row["goal"],
        obstacle=row["obstacle"],
        constraints=tuple(row["constraints"]),
        solution=row["solution"],
        checklist=checklist,
        facts=facts,
        split=row.get("split"),
    )
