"""What makes a scenario deep enough for a user who understands: the rules beyond structure, one problem a line.

`elicit-gym scenarios validate` checks them; loading does not, so that a scenario can be tried while it is written. Each
group of rules needs no more than its own part, so that a generated scenario is held to them part by part.
"""

import re
from collections.abc import Collection, Iterator, Sequence

from elicit_gym.scenarios.coherence import coherence_problems, in_the_same_words
from elicit_gym.scenarios.schema import CORE_FACTS
from elicit_gym.text import content_stems
from elicit_gym.types import ChecklistItem, Fact, Scenario

__all__ = [
    "MAX_FACTS", "MIN_CONTRARY", "MIN_FACTS", "MIN_HINTS", "MIN_QUESTIONS_OF_ITEM", "MIN_SUGGESTIONS", "depth_problems",
    "fact_problems", "faults_of_hint", "hanging_problems", "hint_problems", "key_of", "question_problems",
    "set_problems", "shared_examples", "suggestion_problems", "telling_words",
]  # fmt: skip

MIN_FACTS, MAX_FACTS = 12, 16
MIN_QUESTIONS = 6
MIN_QUESTIONS_OF_ITEM = 8
MIN_HINTS = 2
MIN_SUGGESTIONS = 4
MIN_CONTRARY = 3
MIN_DEPENDENT = 0.5
"""Least share of the scenarios of a set that have an item which only makes sense once another fact is known."""

_SENTENCE_END = re.compile(r"[.!?]\s")


def depth_problems(scenario: Scenario) -> Iterator[str]:
    """Yield which rules of depth a scenario breaks, without file and line number."""
    if scenario.derived:
        yield "'facts' and 'items' are missing: what a message means is derived and not written. Write them."
        return
    row = {
        "opening_message": scenario.opening_message,
        "goal": scenario.goal,
        "obstacle": scenario.obstacle,
        "constraints": scenario.constraints,
        "checklist": [item.question for item in scenario.checklist],
    }
    yield from coherence_problems(row)
    core = dict(zip(CORE_FACTS, (scenario.goal, scenario.obstacle, *scenario.constraints), strict=True))
    for fact in scenario.facts:
        if core.get(fact.id, fact.statement) != fact.statement:
            own = core[fact.id]
            yield f"'facts.{fact.id}.statement' must be {own!r} as in its field, got {fact.statement!r}. Mend one."
    yield from fact_problems(scenario.facts)
    hanging = {fact for item in scenario.checklist for fact in item.facts}
    yield from question_problems(scenario.facts, hanging)
    yield from hanging_problems(scenario.checklist)
    hints: dict[str, int] = {}
    for number, item in enumerate(scenario.checklist, 1):
        yield from hint_problems(scenario.facts, number, item)
        for hint in item.hints:
            if hints.setdefault(key_of(hint), number) != number:
                yield f"'items' {number}: the hint {hint!r} is a hint at item {hints[key_of(hint)]} too. Drop one."
        yield from suggestion_problems(number, item)


def fact_problems(facts: Sequence[Fact]) -> Iterator[str]:
    """Yield what is wrong with facts and their disclosures; their questions are not looked at."""
    if not MIN_FACTS <= len(facts) <= MAX_FACTS:
        yield f"'facts' must be {MIN_FACTS} to {MAX_FACTS}, got {len(facts)}. Add or merge some."
    known = {fact.id for fact in facts}
    for fact_id in ("request", "tried"):
        if fact_id not in known:
            yield f"'facts' must have {fact_id!r}, got none. Add it."
    for fact in facts:
        short, fuller = fact.disclosures
        if not content_stems(fuller) - content_stems(short):
            yield f"'facts.{fact.id}.disclosures': the second adds nothing to the first. Add a detail."
        if len(fuller.split()) <= len(short.split()):
            yield f"'facts.{fact.id}.disclosures': the second must be the fuller one, got {fuller!r}. Make it longer."
        for sentence in fact.disclosures:
            if not _is_one_sentence(sentence):
                yield f"'facts.{fact.id}.disclosures' must be one sentence each, got {sentence!r}. Mend it."
    spoken = [(fact.id, content_stems(fact.disclosures[0])) for fact in facts]
    for i, (first, stems) in enumerate(spoken):
        for second, others in spoken[:i]:
            if in_the_same_words(stems, others):
                yield f"'facts': the short disclosures of {second!r} and {first!r} are in the same words. Reword one."


def question_problems(facts: Sequence[Fact], hanging: Collection[str]) -> Iterator[str]:
    """Yield what is wrong with the questions of facts.

    Args:
        facts: of one scenario.
        hanging: ids of the facts that items hang on.
    """
    seen: dict[str, str] = {}
    for fact in facts:
        needed = MIN_QUESTIONS_OF_ITEM if fact.id in hanging else MIN_QUESTIONS
        if len(fact.questions) < needed:
            yield f"'facts.{fact.id}.questions' must be {needed} or more, got {len(fact.questions)}. Add some."
        elif (different := len({content_stems(question) for question in fact.questions})) < needed:
            yield (
                f"'facts.{fact.id}.questions' must be {needed} or more in different words, got {different}. "
                "Reword some."
            )
        for question in dict.fromkeys(fact.questions):
            other = seen.setdefault(key_of(question), fact.id)
            if other != fact.id:
                yield f"'facts.{fact.id}.questions': {question!r} asks for {other!r} too. Drop one of them."
        if len({key_of(question) for question in fact.questions}) < len(fact.questions):
            yield f"'facts.{fact.id}.questions' must be different, got one twice. Drop it."


def hanging_problems(items: Sequence[ChecklistItem]) -> Iterator[str]:
    """Yield what is wrong with what the items hang on."""
    if not any({"goal", "obstacle"} & set(item.facts) for item in items):
        yield "'items': one item at least must hang on goal or obstacle, got none. Change one."
    asked = [fact for item in items if item.kind == "ask" for fact in item.facts]
    if len(set(asked)) < len(asked):
        twice = sorted({fact for fact in asked if asked.count(fact) > 1})
        yield f"'items': each 'ask' item must hang on facts of its own, got {', '.join(twice)} twice. Split the fact."
    for number, item in enumerate(items, 1):
        if item.after and item.kind != "ask":
            yield f"'items' {number}: 'after' is for 'ask' items, got it on an {item.kind!r}. Drop it."


def telling_words(facts: Sequence[Fact], item: ChecklistItem) -> frozenset[str]:
    """Return the stems that a hint at an item may not have: those of its topic, its question and its facts."""
    told = [text for fact in facts if fact.id in item.facts for text in (fact.statement, fact.disclosures[0])]
    return content_stems(" ".join([item.topic, item.question, *told]))


def hint_problems(facts: Sequence[Fact], number: int, item: ChecklistItem) -> Iterator[str]:
    """Yield what is wrong with the hints at one item."""
    if len({key_of(hint) for hint in item.hints}) < MIN_HINTS:
        yield f"'items' {number}: 'hints' must be {MIN_HINTS} or more, got {len(item.hints)}. Add some."
    forbidden = telling_words(facts, item)
    for hint in item.hints:
        yield from (f"'items' {number}: {fault}" for fault in faults_of_hint(hint, forbidden))


def faults_of_hint(hint: str, forbidden: frozenset[str]) -> Iterator[str]:
    """Yield what is wrong with one hint that may not have these stems."""
    shared = content_stems(hint) & forbidden
    if shared:
        yield (
            f"a hint must share no word with topic, question and fact, got {sorted(shared)} in {hint!r}. Say a "
            "consequence or a feeling."
        )
    if not _is_one_sentence(hint):
        yield f"a hint must be one sentence, got {hint!r}. Mend it."


def suggestion_problems(number: int, item: ChecklistItem) -> Iterator[str]:
    """Yield what is wrong with the example suggestions of one item."""
    if item.kind != "advice":
        return
    for field, entries, least in (
        ("suggestions", item.suggestions, MIN_SUGGESTIONS), ("contrary", item.contrary, MIN_CONTRARY),
    ):  # fmt: skip
        if len({key_of(entry) for entry in entries}) < least:
            yield f"'items' {number}: {field!r} must be {least} or more, got {len(entries)}. Add some."
    both = {key_of(entry) for entry in item.suggestions} & {key_of(entry) for entry in item.contrary}
    for entry in item.contrary:
        if key_of(entry) in both:
            yield f"'items' {number}: {entry!r} stands among 'suggestions' and 'contrary'. Drop one of them."


def _is_one_sentence(text: str) -> bool:
    body = text.strip().replace("a.m.", "am").replace("p.m.", "pm")
    return body.endswith(".") and not _SENTENCE_END.search(body[:-1])


def key_of(sentence: str) -> str:
    """Return what two sentences share that differ in case and punctuation only."""
    return re.sub(r"\W+", " ", sentence.lower()).strip()


def set_problems(scenarios: Sequence[Scenario]) -> Iterator[str]:
    """Yield which rules a set of scenarios of full depth breaks as a whole."""
    dependent = sum(any(item.after for item in scenario.checklist) for scenario in scenarios)
    if dependent < MIN_DEPENDENT * len(scenarios):
        yield (
            f"half of the scenarios at least must have an item with 'after', got {dependent} of {len(scenarios)}. "
            "Let more items depend on what the user has told before."
        )
    split_of: dict[str, Scenario] = {}
    for scenario in scenarios:
        first = split_of.setdefault(scenario.opening_message, scenario)
        if first.split != scenario.split:
            yield (
                f"{scenario.id}: scenarios with one opening message must be in one split, got {scenario.split!r} here "
                f"and {first.split!r} in {first.id!r}. Move one."
            )
    yield from (f"{scenario.id}: {problem}" for scenario, problem in shared_examples(scenarios))


def shared_examples(scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, str]]:
    """Yield what an earlier scenario says too (questions, suggestions, disclosures, hints), with one line on each."""
    seen: dict[str, Scenario] = {}
    for scenario in scenarios:
        examples = [text for fact in scenario.facts for text in (*fact.questions, *fact.disclosures)]
        examples += [text for item in scenario.checklist for text in (*item.suggestions, *item.contrary, *item.hints)]
        for example in examples:
            other = seen.setdefault(key_of(example), scenario)
            if other is not scenario:
                yield scenario, f"{example!r} is an example of {other.id!r} too. Word it differently."
