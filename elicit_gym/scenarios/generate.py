"""Make new scenarios with any chat model: the paper's three stages, resumable, in the published file format.

Stages for each opening message: (1) the message, from persona A and B but not C; (2) three writing traits for A and for
B; (3) a setting for A and for B, as strict JSON; then a review of each. What breaks a rule is answered with what is
wrong, then rejected with the reason. `elicit_gym.scenarios.generate_deep` goes on from (2) to scenarios of full depth.

References:
    InfoQuest, Section 3.1 and Appendix A.1 to A.3. Differences: our words; near-duplicates of opening messages are
    dropped; personas are drawn without replacement as long as there are enough; parts that contradict and checklists
    that give themselves away are looked for.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from elicit_gym.errors import BudgetExceeded, EpisodeFailure, FatalModelError
from elicit_gym.files import write_text
from elicit_gym.folder_lock import locked_folder
from elicit_gym.json_files import append_lines, resume_records
from elicit_gym.llm.prompts import load_prompt
from elicit_gym.llm.types import ChatModel
from elicit_gym.scenarios.coherence import coherence_problems
from elicit_gym.scenarios.personas import draw_triples
from elicit_gym.scenarios.replies import read_list, read_object, read_sentence, texts_of
from elicit_gym.scenarios.schema import problems_of_row
from elicit_gym.scenarios.stages import PACKAGE, Asker, Rejected, Stage, refuse
from elicit_gym.strict_json import json_text, typed
from elicit_gym.text import content_stems

__all__ = ["FirstStages", "GenerationResult", "append_row", "generate_scenarios", "read_setting"]

_FILES = ("seed_messages.jsonl", "settings.jsonl", "traits.jsonl")
NEAR_DUPLICATE = 0.7
NUM_TRAITS = 3
SETTING_FIELDS = ("description", "goal", "obstacle", "constraints", "solution", "checklist")


@dataclass(frozen=True, kw_only=True)
class GenerationResult:
    """What a run of the pipeline brought.

    Attributes:
        path: to be loaded as ``scenarios=path``: the folder with the published files, or a file in our own format.
        num_made: opening messages in it, earlier runs included.
        num_scenarios: scenarios in it.
        num_rejected: rejected in this run; the reasons are in ``rejected.jsonl`` in the folder.
        failure: the first failure of the model in this run; another run tries again what it cost.
    """

    path: Path
    num_made: int
    num_scenarios: int
    num_rejected: int
    failure: EpisodeFailure | None = None


def generate_scenarios(
    model: ChatModel,
    personas: Sequence[str],
    out: str | Path,
    *,
    count: int,
    seed: int = 0,
    prompts: str | None = None,
    on_done: Callable[[], None] = lambda: None,
) -> GenerationResult:
    """Make `count` opening messages with two scenarios each.

    Args:
        model: any chat model.
        personas: at least three.
        out: the folder; a run that was killed goes on where it was.
        count: opening messages to try for. Rejected ones are not made up for, so that a run ends.
        seed: of the draws of personas and of the model's sampling.
        prompts: a folder with prompt files of your own.
        on_done: called after each.

    Raises:
        FatalModelError: the model cannot be called.
        BudgetExceeded: the budget is spent; what was made is saved.
        SettingError: the prompts are off, or another run writes to the folder.
    """
    maker = _Maker(FirstStages(Asker(model, seed, prompts), prompts), personas, prompts)
    with locked_folder(Path(out)):
        return _generate(maker, draw_triples(personas, count, seed), Path(out), on_done)


def _generate(
    maker: "_Maker", triples: Sequence[tuple[int, int, int]], folder: Path, on_done: Callable[[], None]
) -> GenerationResult:
    done, openings = _read_done(folder)
    num_rejected = 0
    failure: EpisodeFailure | None = None
    for row_id, triple in enumerate(triples):
        if row_id in done:
            on_done()
            continue
        try:
            rows = maker.make(row_id, triple, openings)
        except Rejected as reason:
            num_rejected += 1
            append_row(folder / "rejected.jsonl", {"id": row_id, "reason": str(reason)})
        except (FatalModelError, BudgetExceeded):
            raise
        except EpisodeFailure as error:
            failure = failure or error
        else:
            openings.append(content_stems(rows[0]["seed_message"]))
            # settings.jsonl last: a row counts as made only when it stands in all three files.
            for name, row in zip(("seed_messages.jsonl", "traits.jsonl", "settings.jsonl"), rows, strict=True):
                append_row(folder / name, row)
            done.add(row_id)
        on_done()
    made = len(_read_done(folder)[1])
    return GenerationResult(
        path=folder, num_made=made, num_scenarios=2 * made, num_rejected=num_rejected, failure=failure
    )


def append_row(path: Path, row: Mapping[str, Any]) -> None:
    """Add a row to a file of JSON lines."""
    append_lines(path, _line(row))


def _line(row: Mapping[str, Any]) -> str:
    return json_text(row, ascii_only=False) + "\n"


def _read_done(folder: Path) -> tuple[set[int], list[frozenset[str]]]:
    """Return what stands in all three files; drop half-written lines and rows that a kill left in some files only."""
    tables = {name: _read_rows(folder / name) for name in _FILES}
    whole = set.intersection(*(set(table) for table in tables.values()))
    for name, table in tables.items():
        if set(table) != whole:
            write_text(folder / name, "".join(_line(table[row_id]) for row_id in sorted(whole)))
    messages = [tables["seed_messages.jsonl"][row_id].get("seed_message", "") for row_id in sorted(whole)]
    return whole | set(_read_rows(folder / "rejected.jsonl")), [content_stems(message) for message in messages]


def _read_rows(path: Path) -> dict[int, dict[str, Any]]:
    advice = "Remove the line; its row will be made again."
    return dict(resume_records(path, _checked_row, what="a generated row", advice=advice))


def _checked_row(row: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    typed(str, row.get("seed_message", ""), "seed_message")
    return typed(int, row["id"], "id"), row


class FirstStages:
    """The stages that every scenario begins with: the opening message, and how its writer writes.

    Args:
        asker: puts stages to the model.
        prompts: a folder with prompt files of the user's own.
    """

    def __init__(self, asker: Asker, prompts: str | None) -> None:
        self.asker = asker
        self._opening = load_prompt(PACKAGE, "generate_opening", ("persona_a", "persona_b", "persona_c"), prompts)
        self._traits = load_prompt(PACKAGE, "generate_traits", ("persona",), prompts)

    def opening(self, row_id: int, people: Sequence[str], earlier: Sequence[frozenset[str]]) -> tuple[str, str]:
        """Return a new opening message for the first two of three people, and the prompt that brought it."""
        prompt = self._opening.fill(persona_a=people[0], persona_b=people[1], persona_c=people[2])
        stage = Stage("opening message", prompt, lambda text: _read_opening(text, earlier))
        return self.asker.ask(row_id, stage), prompt

    def traits(self, row_id: int, people: Sequence[str], *, commas: bool) -> list[list[str]]:
        """Return three traits of each person's writing; `commas` says whether they may have commas in them."""
        return self.asker.ask_all(
            row_id,
            [
                Stage(f"traits {k}", self._traits.fill(persona=person), lambda text: _read_traits(text, commas))
                for k, person in enumerate(people, 1)
            ],
        )


class _Maker:
    """Makes the rows of one opening message."""

    def __init__(self, first: FirstStages, personas: Sequence[str], prompts: str | None) -> None:
        self._first = first
        self._asker = first.asker
        self._personas = personas
        self._setting = load_prompt(PACKAGE, "generate_setting", ("persona", "opening_message"), prompts)

    def make(
        self, row_id: int, triple: tuple[int, int, int], openings: Sequence[frozenset[str]]
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return the rows of seed_messages, traits and settings.

        Raises:
            Rejected: a stage gave nothing usable.
        """
        people = [self._personas[i] for i in triple]
        opening, prompt = self._first.opening(row_id, people, openings)
        traits = self._first.traits(row_id, people[:2], commas=False)
        settings = self._asker.ask_all(
            row_id,
            [
                Stage(
                    f"setting {k}",
                    self._setting.fill(persona=person, opening_message=opening),
                    lambda text: _read_whole_setting(text, opening),
                )
                for k, person in enumerate(people[:2], 1)
            ],
        )
        for k, (setting, person) in enumerate(zip(settings, people[:2], strict=True), 1):
            self._asker.review(row_id, f"review {k}", opening, person, setting)
        drawn = {f"persona{k}": {"id": i, "persona": self._personas[i]} for k, i in enumerate(triple, 1)}
        return (
            {
                "id": row_id, **drawn, "prompt": prompt, "prompt_tokens": 0, "seed_message": opening,
                "seed_message_tokens": 0,
            },
            {
                "id": row_id,
                **{f"traits{k}": ", ".join(three) for k, three in enumerate(traits, 1)},
                "traits1_tokens": 0,
                "traits2_tokens": 0,
            },
            {
                "id": row_id,
                "seed_message": opening,
                **{
                    f"setting{k}": {**setting, "persona": persona, "setting_tokens": 0, "prompt_tokens": 0}
                    for k, (setting, persona) in enumerate(zip(settings, people[:2], strict=True), 1)
                },
            },
        )  # fmt: skip


def _read_opening(text: str, earlier: Sequence[frozenset[str]]) -> str:
    message = read_sentence(text)
    if len(message.split()) > 40 or len(re.findall(r"[.!?](?=\s+\S)", message)) > 0:
        raise ValueError(f"expected one sentence, got {message[:80]!r}")
    stems = content_stems(message)
    for other in earlier:
        if stems and len(stems & other) / max(1, len(stems | other)) >= NEAR_DUPLICATE:
            raise ValueError(f"a near-duplicate of an earlier message: {message!r}")
    return message


def _read_traits(text: str, commas: bool) -> list[str]:
    traits = [trait.rstrip(".") for trait in read_list(text)]
    if len(traits) != NUM_TRAITS or any(len(trait.split()) > 8 for trait in traits):
        raise ValueError(f"expected {NUM_TRAITS} short traits separated by commas, got {text[:80]!r}")
    if not commas and any("," in re.sub(r'"[^"]*"', "", trait) for trait in traits):
        raise ValueError(f"expected no comma within a trait, got {traits}")
    return traits


def read_setting(text: str, fields: Sequence[str]) -> dict[str, Any]:
    """Read the parts of a setting: texts, and lists of texts.

    Raises:
        ValueError: the reply has no such object.
    """
    value = read_object(text, fields)
    for field in fields:
        if field in ("constraints", "checklist"):
            value[field] = texts_of(value[field])
        elif isinstance(value[field], list) and all(isinstance(part, str) for part in value[field]):
            value[field] = " ".join(value[field])
    return value


def _read_whole_setting(text: str, opening: str) -> dict[str, Any]:
    setting = read_setting(text, SETTING_FIELDS)
    row = {**setting, "id": "x", "opening_message": opening, "persona": "x", "traits": ["x"] * NUM_TRAITS}
    refuse(problems_of_row(row))
    refuse(coherence_problems(row))
    return setting
