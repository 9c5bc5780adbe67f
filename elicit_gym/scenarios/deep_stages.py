"""The stages of a scenario of full depth: setting, facts, items, review, then questions, hints and suggestions.

(1) The setting; (2) 13 facts with two disclosures each; (3) five items that hang on them, one of which depends on
another fact; (4) a review; (5) the questions that ask for each fact, the hints at each item, good and contrary
suggestions. Each stage is held to its rules of `elicit_gym.scenarios.depth`, is told what is wrong with its reply, and
rejects the scenario with the reason when it stays wrong. The whole is checked once more at the end.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from elicit_gym.llm.prompts import load_prompt
from elicit_gym.llm.types import ChatModel
from elicit_gym.scenarios import depth
from elicit_gym.scenarios.coherence import coherence_problems
from elicit_gym.scenarios.generate import FirstStages, read_setting
from elicit_gym.scenarios.replies import read_list, read_object, read_rows, texts_of
from elicit_gym.scenarios.schema import (
    CORE_FACTS,
    facts_from,
    items_from,
    problems_of_facts,
    problems_of_items,
    problems_of_row,
    scenario_from_row,
)
from elicit_gym.scenarios.stages import PACKAGE, Asker, Rejected, Stage, refuse
from elicit_gym.text import FUNCTION_WORDS, content_stems, stem, words
from elicit_gym.types import ChecklistItem, Fact, Scenario

__all__ = ["NUM_FACTS", "DeepMaker"]

NUM_FACTS = len(CORE_FACTS) + 6
NUM_ASKS = 4
SETTING_FIELDS = ("description", "goal", "obstacle", "constraints", "solution")

_PLACEHOLDERS = {
    "deep_setting": ("persona", "opening_message"),
    "deep_facts": ("persona", "traits", "opening_message", "setting", "core_ids", "num_facts"),
    "deep_items": ("persona", "opening_message", "goal", "obstacle", "facts"),
    "deep_questions": ("opening_message", "statement", "disclosure", "others"),
    "deep_hints": ("persona", "traits", "topic", "told", "forbidden"),
    "deep_suggestions": ("opening_message", "topic", "told", "question"),
}


class DeepMaker:
    """Makes one scenario after the other, and remembers what was said in those before."""

    def __init__(
        self, model: ChatModel, seed: int, prompts: str | None, check: Callable[[Scenario], Iterable[str]]
    ) -> None:
        self._check = check
        self._asker = Asker(model, seed, prompts)
        self.first = FirstStages(self._asker, prompts)
        self.openings: list[frozenset[str]] = []
        self._prompts = {name: load_prompt(PACKAGE, name, fields, prompts) for name, fields in _PLACEHOLDERS.items()}
        self._said: set[str] = set()

    def remember(self, scenario: Scenario) -> None:
        """Take what a scenario says, so that no other says it."""
        stems = content_stems(scenario.opening_message)
        if stems not in self.openings:
            self.openings.append(stems)
        for fact in scenario.facts:
            self._said.update(map(depth.key_of, (*fact.questions, *fact.disclosures)))
        for item in scenario.checklist:
            self._said.update(map(depth.key_of, (*item.hints, *item.suggestions, *item.contrary)))

    def make(self, row_id: int, name: str, opening: str, person: str, traits: Sequence[str]) -> dict[str, Any]:
        """Return the row of one scenario.

        Raises:
            Rejected: a stage broke a rule to the end, or the review found fault.
        """
        half = name.rpartition("-")[2]
        about = {"persona": person, "opening_message": opening, "traits": ", ".join(traits)}
        setting = self._put(row_id, f"{half}: setting", "deep_setting", _read_core, **about)
        row = {"id": name, "split": None, **about, "traits": list(traits), **setting}
        facts = self._facts(row_id, half, about, setting)
        questions, items = self._items(row_id, half, row, facts)
        row["checklist"] = questions
        told = [f"{fact.id}: {fact.statement} ({fact.disclosures[0]})" for fact in facts]
        parts = {**setting, "facts": told, "checklist": questions}
        self._asker.review(row_id, f"{half}: review", opening, person, parts)
        facts = self._with_questions(row_id, half, opening, facts, items)
        items = self._with_hints(row_id, half, about, facts, items)
        items = self._with_suggestions(row_id, half, opening, facts, items)
        row["facts"] = [_fact_row(fact) for fact in facts]
        row["items"] = [_item_row(item) for item in items]
        scenario = scenario_from_row(row)
        problems = [*problems_of_row(row), *depth.depth_problems(scenario)] or list(self._check(scenario))
        if problems:
            raise Rejected(f"{half}: whole: {'; '.join(problems)}")
        self.remember(scenario)
        return row

    def _put(self, row_id: int, name: str, prompt: str, read: Callable[[str], Any], **values: str) -> Any:
        return self._asker.ask(row_id, Stage(name, self._prompts[prompt].fill(**values), read))

    def _facts(self, row_id: int, half: str, about: Mapping[str, str], setting: Mapping[str, Any]) -> tuple[Fact, ...]:
        core = dict(zip(CORE_FACTS, (setting["goal"], setting["obstacle"], *setting["constraints"]), strict=True))
        listed = "\n".join([f"Description: {setting['description']}", *(f"{i}: {text}" for i, text in core.items())])

        def read(text: str) -> tuple[Fact, ...]:
            rows = [_read_fact(row, core) for row in read_rows(text, "facts")]
            refuse(problems_of_facts(rows))
            facts = facts_from(rows)
            refuse([*depth.fact_problems(facts), *self._said_before(s for fact in facts for s in fact.disclosures)])
            return facts

        ids = ", ".join(("request", *CORE_FACTS, "tried"))
        made: tuple[Fact, ...] = self._put(
            row_id,
            f"{half}: facts",
            "deep_facts",
            read,
            **about,
            setting=listed,
            core_ids=ids,
            num_facts=str(NUM_FACTS),
        )
        return made

    def _items(
        self, row_id: int, half: str, row: Mapping[str, Any], facts: Sequence[Fact]
    ) -> tuple[list[str], tuple[ChecklistItem, ...]]:
        def read(text: str) -> tuple[list[str], tuple[ChecklistItem, ...]]:
            rows = [_read_item(entry) for entry in read_rows(text, "items")]
            refuse(problems_of_items(rows, {fact.id for fact in facts}, examples=False))
            questions = [entry["question"] for entry in rows]
            refuse(coherence_problems({**row, "checklist": questions}))
            items = items_from(questions, rows)
            refuse([*depth.hanging_problems(items), *_problems_of_kinds(items)])
            return questions, items

        listed = "\n".join(f"- {fact.id}: {fact.statement}" for fact in facts)
        made: tuple[list[str], tuple[ChecklistItem, ...]] = self._put(
            row_id, f"{half}: items", "deep_items", read, persona=row["persona"], goal=row["goal"],
            opening_message=row["opening_message"], obstacle=row["obstacle"], facts=listed,
        )  # fmt: skip
        return made

    def _with_questions(
        self, row_id: int, half: str, opening: str, facts: Sequence[Fact], items: Sequence[ChecklistItem]
    ) -> tuple[Fact, ...]:
        """Ask for the questions of all facts at once; what is taken already by an earlier fact does not count."""
        hanging = {fact_id for item in items for fact_id in item.facts}
        taken = set(self._said)

        def stage(fact: Fact) -> Stage[Fact]:
            def read(text: str) -> Fact:
                listed = {depth.key_of(question): question for question in read_list(text)}
                kept = replace(fact, questions=tuple([q for key, q in listed.items() if key not in taken]))
                refuse(depth.question_problems([kept], hanging))
                taken.update(map(depth.key_of, kept.questions))
                return kept

            others = "\n".join(f"- {other.statement}" for other in facts if other.id != fact.id)
            values = {"statement": fact.statement, "disclosure": fact.disclosures[0], "others": others}
            prompt = self._prompts["deep_questions"].fill(opening_message=opening, **values)
            return Stage(f"{half}: questions for {fact.id}", prompt, read)

        return tuple(self._asker.ask_all(row_id, [stage(fact) for fact in facts]))

    def _with_hints(
        self,
        row_id: int,
        half: str,
        about: Mapping[str, str],
        facts: Sequence[Fact],
        items: Sequence[ChecklistItem],
    ) -> tuple[ChecklistItem, ...]:
        taken = set(self._said)

        def stage(number: int, item: ChecklistItem) -> Stage[ChecklistItem]:
            telling = depth.telling_words(facts, item)

            def read(text: str) -> ChecklistItem:
                listed = {depth.key_of(hint): hint for hint in read_list(text)}
                hints = [hint for key, hint in listed.items() if key not in taken]
                # Three are asked for and two needed: what a rule forbids is left out, as long as enough remain.
                fit = [hint for hint in hints if not any(depth.faults_of_hint(hint, telling))]
                made = replace(item, hints=tuple(fit if len(fit) >= depth.MIN_HINTS else hints))
                refuse(depth.hint_problems(facts, number, made))
                taken.update(map(depth.key_of, made.hints))
                return made

            told = " ".join(fact.disclosures[0] for fact in facts if fact.id in item.facts)
            values = {"topic": item.topic, "told": told, "forbidden": ", ".join(_forbidden(facts, item))}
            return Stage(f"{half}: hints {number}", self._prompts["deep_hints"].fill(**about, **values), read)

        return tuple(self._asker.ask_all(row_id, [stage(i, item) for i, item in enumerate(items, 1)]))

    def _with_suggestions(
        self, row_id: int, half: str, opening: str, facts: Sequence[Fact], items: Sequence[ChecklistItem]
    ) -> tuple[ChecklistItem, ...]:
        def stage(number: int, item: ChecklistItem) -> Stage[ChecklistItem]:
            def read(text: str) -> ChecklistItem:
                found = read_object(text, ("good", "contrary"))
                good, contrary = texts_of(found["good"]), texts_of(found["contrary"])
                made = replace(item, suggestions=tuple(good), contrary=tuple(contrary))
                refuse([*depth.suggestion_problems(number, made), *self._said_before([*good, *contrary])])
                return made

            told = " ".join(fact.disclosures[0] for fact in facts if fact.id in item.facts)
            values = {"topic": item.topic, "told": told, "question": item.question}
            prompt = self._prompts["deep_suggestions"].fill(opening_message=opening, **values)
            return Stage(f"{half}: suggestions {number}", prompt, read)

        advice = [(i, item) for i, item in enumerate(items, 1) if item.kind == "advice"]
        made = dict(zip([i for i, _ in advice], self._asker.ask_all(row_id, [stage(*a) for a in advice]), strict=True))
        return tuple([made.get(i, item) for i, item in enumerate(items, 1)])

    def _said_before(self, texts: Any) -> Iterator[str]:
        for text in texts:
            if depth.key_of(text) in self._said:
                yield f"{text!r} stands in an earlier scenario. Word it differently."


def _read_core(text: str) -> dict[str, Any]:
    setting = read_setting(text, SETTING_FIELDS)
    blank = {"id": "x", "opening_message": "x", "persona": "x", "traits": ["x"] * 3, "checklist": ["x"] * 5}
    refuse(problems_of_row({**blank, **setting}))
    refuse(coherence_problems({"opening_message": "", "checklist": [], **setting}))
    return setting


def _read_fact(row: Mapping[str, Any], core: Mapping[str, str]) -> dict[str, Any]:
    fact_id = "_".join(str(row.get("id")).strip().lower().replace("-", " ").split())
    said = row.get("disclosures")
    if not isinstance(said, list):
        said = [row.get(key) for key in ("short", "fuller")]
    said = [f"{text.strip()}." if isinstance(text, str) and text.strip()[-1:].isalnum() else text for text in said]
    # What stands in the setting stays as it stands there, however the model repeats it.
    statement = core.get(fact_id) or row.get("statement")
    return {"id": fact_id, "statement": statement, "disclosures": said, "questions": ["-"]}


def _read_item(row: Mapping[str, Any]) -> dict[str, Any]:
    facts, after, question = row.get("facts"), row.get("after"), row.get("question")
    nothing = isinstance(after, str) and after.strip().lower() in ("", "null", "none")
    return {
        "kind": str(row.get("kind")).strip().lower(),
        "facts": [facts] if isinstance(facts, str) else facts,
        "topic": row.get("topic"),
        "after": None if nothing else after,
        "question": question.strip() if isinstance(question, str) else "",
    }


def _problems_of_kinds(items: Sequence[ChecklistItem]) -> Iterator[str]:
    asks = sum(item.kind == "ask" for item in items)
    if asks != NUM_ASKS:
        yield f"'items' must be {NUM_ASKS} of the kind 'ask' and one 'advice', got {asks} of 'ask'. Change one."
    dependent = sum(item.after is not None for item in items)
    if dependent != 1:
        yield f"'items' must have exactly one 'after', got {dependent}. Let one 'ask' depend on another fact."


def _forbidden(facts: Sequence[Fact], item: ChecklistItem) -> list[str]:
    """Return the words that a hint may not have, as they stand in the texts."""
    stems = depth.telling_words(facts, item)
    told = [text for fact in facts if fact.id in item.facts for text in (fact.statement, fact.disclosures[0])]
    spoken = dict.fromkeys(words(" ".join([item.topic, item.question, *told])))
    return [word for word in spoken if word not in FUNCTION_WORDS and stem(word) in stems]


def _fact_row(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "statement": fact.statement,
        "disclosures": list(fact.disclosures),
        "questions": list(fact.questions),
    }


def _item_row(item: ChecklistItem) -> dict[str, Any]:
    row: dict[str, Any] = {"kind": item.kind, "facts": list(item.facts), "topic": item.topic, "after": item.after}
    row["hints"] = list(item.hints)
    if item.kind == "advice":
        row |= {"suggestions": list(item.suggestions), "contrary": list(item.contrary)}
    return row
