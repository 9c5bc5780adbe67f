"""The structure of a scenario file: what a row must have to be loaded, all problems of a row at once.

A row of our own format has the published fields (description, goal, obstacle, constraints, solution, checklist,
persona) plus id, opening_message, traits, and what the scripted user and judge understand messages by: `facts` and
`items`. A row without these two is understood by what can be derived from its own texts. What makes a scenario of full
depth is checked by `elicit_gym.scenarios.depth`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from elicit_gym.types import NUM_CONSTRAINTS, NUM_ITEMS, ChecklistItem, Fact, ItemKind, Scenario

__all__ = [
    "CORE_FACTS", "Row", "facts_from", "is_written_out", "items_from", "plain_fields", "problems_of_facts",
    "problems_of_items", "problems_of_row", "scenario_from_row",
]  # fmt: skip

CORE_FACTS = ("goal", "obstacle", *(f"constraint_{i}" for i in range(1, NUM_CONSTRAINTS + 1)))
"""Facts that repeat a field of the row; every scenario has them."""

Row = Mapping[str, Any]

_TEXTS = ("id", "opening_message", "persona", "description", "goal", "obstacle", "solution")
_LISTS = (("traits", 3), ("constraints", NUM_CONSTRAINTS), ("checklist", NUM_ITEMS))
_SLUG = re.compile(r"[a-z][a-z0-9_]*")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(_is_text(entry) for entry in value)


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


def is_written_out(row: Row) -> bool:
    """Say whether a row brings facts and items of its own."""
    return row.get("facts") is not None or row.get("items") is not None


def problems_of_row(row: object) -> Iterator[str]:
    """Yield what is wrong with a row, one line each, without file and line number.

    Args:
        row: as parsed from JSON.
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
    if is_written_out(row):
        yield from problems_of_facts(row.get("facts"))
        facts = row.get("facts")
        known: set[object] | None = None
        if isinstance(facts, list) and facts:
            known = {f["id"] for f in facts if isinstance(f, Mapping) and isinstance(f.get("id"), str)}
        yield from problems_of_items(row.get("items"), known)


def problems_of_facts(value: object) -> Iterator[str]:
    """Yield what is wrong with the facts of a row, as parsed from JSON."""
    if not isinstance(value, list) or not value:
        yield f"'facts' must be a list of objects, got {_found(value)}. Give at least {', '.join(CORE_FACTS)}."
        return
    seen: set[object] = set()
    for i, fact in enumerate(value, 1):
        if not isinstance(fact, Mapping):
            yield f"'facts' {i} must be an object, got {_found(fact)}. Fix the line."
            continue
        fact_id = fact.get("id")
        if not isinstance(fact_id, str) or not _SLUG.fullmatch(fact_id):
            yield f"'facts' {i}: 'id' must be a short word in lower case, got {_found(fact_id)}. Fix the line."
            continue
        if fact_id in seen:
            yield f"'facts' {i}: 'id' must be unique in the scenario, got {fact_id!r} again. Rename it."
        seen.add(fact_id)
        if not _is_text(fact.get("statement")):
            found = _found(fact.get("statement"))
            yield f"'facts.{fact_id}.statement' must be a non-empty string, got {found}. Fix the line."
        problem = _list_problem(f"facts.{fact_id}.disclosures", fact.get("disclosures"), 2)
        if problem:
            yield problem
        if not _is_texts(fact.get("questions")) or not fact.get("questions"):
            found = _found(fact.get("questions"))
            yield f"'facts.{fact_id}.questions' must be non-empty strings, got {found}. Give questions that ask for it."
    for fact_id in CORE_FACTS:
        if fact_id not in seen:
            yield f"'facts' must have {fact_id!r}, got none. Add it."


def problems_of_items(value: object, known: set[object] | None, *, examples: bool = True) -> Iterator[str]:
    """Yield what is wrong with the items of a row, as parsed from JSON.

    Args:
        value: the items.
        known: ids of the row's facts; None where they are not known.
        examples: whether hints and suggestions have to be there.
    """
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
        facts = item.get("facts")
        if not _is_texts(facts) or not facts or (known is not None and not set(facts) <= known):
            yield f"'items' {i}: 'facts' must be ids of this scenario's facts, got {_found(facts)}. Fix the line."
        if not _is_text(item.get("topic")):
            yield f"'items' {i}: 'topic' must be a non-empty string, got {_found(item.get('topic'))}. Fix the line."
        after = item.get("after")
        if after is not None and not (isinstance(after, str) and _is_another(after, facts, known)):
            yield f"'items' {i}: 'after' must be another fact of this scenario, got {_found(after)}. Fix the line."
        needed = ("hints", "suggestions", "contrary") if item.get("kind") == "advice" else ("hints",)
        for field in needed if examples else ():
            if not _is_texts(item.get(field)) or not item.get(field):
                yield f"'items' {i}: {field!r} must be non-empty strings, got {_found(item.get(field))}. Fix the line."
        for field in ("suggestions", "contrary"):
            if field not in needed and not _is_texts(item.get(field) or []):
                yield f"'items' {i}: {field!r} must be strings, got {_found(item.get(field))}. Fix the line."


def _is_another(after: str, facts: object, known: set[object] | None) -> bool:
    return known is None or (after in known and not (isinstance(facts, list) and after in facts))


def scenario_from_row(row: Row) -> Scenario:
    """Build a scenario from a checked row that is written out."""
    return Scenario(
        **plain_fields(row), checklist=items_from(row["checklist"], row["items"]), facts=facts_from(row["facts"])
    )


def facts_from(rows: Sequence[Row]) -> tuple[Fact, ...]:
    """Build facts from checked rows."""
    return tuple(
        Fact(
            id=fact["id"],
            statement=fact["statement"],
            disclosures=tuple(fact["disclosures"]),
            questions=tuple(fact["questions"]),
        )
        for fact in rows
    )


def items_from(questions: Sequence[str], rows: Sequence[Row]) -> tuple[ChecklistItem, ...]:
    """Build items from checked rows and the checklist's questions."""
    return tuple(
        ChecklistItem(
            question=question,
            kind=cast(ItemKind, item["kind"]),
            facts=tuple(item["facts"]),
            topic=item["topic"],
            after=item.get("after"),
            hints=tuple(item.get("hints") or ()),
            suggestions=tuple(item.get("suggestions") or ()),
            contrary=tuple(item.get("contrary") or ()),
        )
        for question, item in zip(questions, rows, strict=True)
    )


def plain_fields(row: Row) -> dict[str, Any]:
    """Return the fields of a scenario that a row of any format has."""
    return {
        "id": row["id"],
        "opening_message": row["opening_message"],
        "persona": row["persona"],
        "traits": tuple(row["traits"]),
        "description": row["description"],
        "goal": row["goal"],
        "obstacle": row["obstacle"],
        "constraints": tuple(row["constraints"]),
        "solution": row["solution"],
        "split": row.get("split"),
    }
