"""What makes a scenario deep enough for a user who understands: the rules beyond structure, one problem a line.

`elicit-gym scenarios validate` checks them; loading does not, so that a scenario can be tried while it is written.
"""

import re
from collections.abc import Iterator, Sequence

from elicit_gym.text import content_stems
from elicit_gym.types import ChecklistItem, Fact, Scenario

__all__ = ["depth_problems", "shared_examples"]

MIN_FACTS, MAX_FACTS = 12, 16
MIN_QUESTIONS = 6
MIN_QUESTIONS_OF_ITEM = 8
MIN_HINTS = 2
MIN_SUGGESTIONS = 4
MIN_CONTRARY = 3
MAX_SHARED = 0.6
"""Largest share of the content of one fact's short disclosure that another's may have."""

_SENTENCE_END = re.compile(r"[.!?]\s")


def depth_problems(scenario: Scenario) -> Iterator[str]:
    """Yield which rules of depth a scenario breaks, without file and line number."""
    if scenario.derived:
        yield "'facts' and 'items' are missing: what a message means is derived and not written. Write them."
        return
    yield from _problems_of_facts(scenario)
    for number, item in enumerate(scenario.checklist, 1):
        yield from _problems_of_item(scenario, number, item)
    if not any({"goal", "obstacle"} & set(item.facts) for item in scenario.checklist):
        yield "'items': one item at least must hang on goal or obstacle, got none. Change one."
    asked = [fact for item in scenario.checklist if item.kind == "ask" for fact in item.facts]
    if len(set(asked)) < len(asked):
        twice = sorted({fact for fact in asked if asked.count(fact) > 1})
        yield f"'items': each 'ask' item must hang on facts of its own, got {', '.join(twice)} twice. Split the fact."


def _problems_of_facts(scenario: Scenario) -> Iterator[str]:
    facts = scenario.facts
    if not MIN_FACTS <= len(facts) <= MAX_FACTS:
        yield f"'facts' must be {MIN_FACTS} to {MAX_FACTS}, got {len(facts)}. Add or merge some."
    known = {fact.id for fact in facts}
    for fact_id in ("request", "tried"):
        if fact_id not in known:
            yield f"'facts' must have {fact_id!r}, got none. Add it."
    hanging = {fact for item in scenario.checklist for fact in item.facts}
    seen: dict[str, str] = {}
    for fact in facts:
        needed = MIN_QUESTIONS_OF_ITEM if fact.id in hanging else MIN_QUESTIONS
        if len(fact.questions) < needed:
            yield f"'facts.{fact.id}.questions' must be {needed} or more, got {len(fact.questions)}. Add some."
        for question in fact.questions:
            other = seen.setdefault(_key(question), fact.id)
            if other != fact.id:
                yield f"'facts.{fact.id}.questions': {question!r} asks for {other!r} too. Drop one of them."
        if not content_stems(fact.disclosures[1]) - content_stems(fact.disclosures[0]):
            yield f"'facts.{fact.id}.disclosures': the second adds nothing to the first. Add a detail."
        for sentence in fact.disclosures:
            if not _is_one_sentence(sentence):
                yield f"'facts.{fact.id}.disclosures' must be one sentence each, got {sentence!r}. Mend it."
    yield from _same_words(facts)


def _same_words(facts: Sequence[Fact]) -> Iterator[str]:
    spoken = [(fact.id, content_stems(fact.disclosures[0])) for fact in facts]
    for i, (first, stems) in enumerate(spoken):
        for second, others in spoken[:i]:
            shorter = min(len(stems), len(others))
            if shorter and len(stems & others) >= MAX_SHARED * shorter:
                yield f"'facts': the short disclosures of {second!r} and {first!r} are in the same words. Reword one."


def _problems_of_item(scenario: Scenario, number: int, item: ChecklistItem) -> Iterator[str]:
    if len(item.hints) < MIN_HINTS:
        yield f"'items' {number}: 'hints' must be {MIN_HINTS} or more, got {len(item.hints)}. Add some."
    facts = [scenario.fact(fact_id) for fact_id in item.facts]
    told = " ".join(f"{fact.statement} {fact.disclosures[0]}" for fact in facts)
    forbidden = content_stems(f"{item.topic} {item.question} {told}")
    for hint in item.hints:
        shared = content_stems(hint) & forbidden
        if shared:
            yield (
                f"'items' {number}: a hint must share no word with topic, question and fact, got {sorted(shared)} in "
                f"{hint!r}. Say a consequence or a feeling."
            )
        if not _is_one_sentence(hint):
            yield f"'items' {number}: a hint must be one sentence, got {hint!r}. Mend it."
    if item.after and item.kind != "ask":
        yield f"'items' {number}: 'after' is for 'ask' items, got it on an {item.kind!r}. Drop it."
    if item.kind == "advice":
        for field, entries, least in (
            ("suggestions", item.suggestions, MIN_SUGGESTIONS), ("contrary", item.contrary, MIN_CONTRARY),
        ):  # fmt: skip
            if len(entries) < least:
                yield f"'items' {number}: {field!r} must be {least} or more, got {len(entries)}. Add some."


def _is_one_sentence(text: str) -> bool:
    body = text.strip().replace("a.m.", "am").replace("p.m.", "pm")
    return body.endswith(".") and not _SENTENCE_END.search(body[:-1])


def _key(question: str) -> str:
    return re.sub(r"\W+", " ", question.lower()).strip()


def shared_examples(scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, str]]:
    """Yield the examples (questions, suggestions) that an earlier scenario has too, each with one line on it."""
    seen: dict[str, Scenario] = {}
    for scenario in scenarios:
        examples = [question for fact in scenario.facts for question in fact.questions]
        examples += [s for item in scenario.checklist for s in (*item.suggestions, *item.contrary)]
        for example in examples:
            other = seen.setdefault(_key(example), scenario)
            if other is not scenario:
                yield scenario, f"{example!r} is an example of {other.id!r} too. Word it differently."
