"""Make new scenarios with any chat model: the paper's three stages, resumable, in the published file format.

Stages for each opening message: (1) the message, from persona A and B but not C; (2) three writing traits for A and for
B; (3) a setting for A and for B, as strict JSON. What breaks a rule is asked for again, then rejected with the reason.

References:
    InfoQuest, Section 3.1 and Appendix A.1 to A.3. Differences: our words; near-duplicates of opening messages are
    dropped; personas are drawn without replacement as long as there are enough.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any, TypeVar

from elicit_gym.errors import EpisodeFailure, FatalModelError, SettingError
from elicit_gym.json_files import parse_line, read_text, resume_records
from elicit_gym.llm.prompts import load_prompt
from elicit_gym.llm.types import ChatModel, ChatRequest
from elicit_gym.scenarios.schema import problems_of_row
from elicit_gym.seeding import unit_seed
from elicit_gym.strict_json import json_text, parse_json, typed
from elicit_gym.text import content_stems
from elicit_gym.types import Message

__all__ = ["GenerationResult", "generate_scenarios", "read_personas"]

T = TypeVar("T")
_PACKAGE = "elicit_gym.scenarios"
_FILES = ("seed_messages.jsonl", "settings.jsonl", "traits.jsonl")
_FENCED = re.compile(r"```(?:json)?\s*(.*?)```", re.DOTALL | re.IGNORECASE)
MAX_ATTEMPTS = 3
NEAR_DUPLICATE = 0.7
SETTING_FIELDS = ("description", "goal", "obstacle", "constraints", "solution", "checklist")


class _Rejected(Exception):
    """A stage gave nothing usable."""


@dataclass(frozen=True, kw_only=True)
class GenerationResult:
    """What a run of the pipeline brought.

    Attributes:
        folder: with the published files, to be loaded as ``scenarios=folder``.
        num_made: opening messages in it, earlier runs included; two scenarios each.
        num_rejected: rejected in this run; the reasons are in ``rejected.jsonl``.
    """

    folder: Path
    num_made: int
    num_rejected: int


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
        SettingError: the prompts are off.
    """
    folder = Path(out)
    maker = _Maker(model, personas, seed, prompts)
    folder.mkdir(parents=True, exist_ok=True)
    done, openings = _read_done(folder)
    num_rejected = 0
    for row_id, triple in enumerate(draw_triples(personas, count, seed)):
        if row_id in done:
            on_done()
            continue
        try:
            rows = maker.make(row_id, triple, openings)
        except _Rejected as reason:
            num_rejected += 1
            _append(folder / "rejected.jsonl", {"id": row_id, "reason": str(reason)})
        else:
            openings.append(content_stems(rows[0]["seed_message"]))
            # settings.jsonl last: a row counts as made only when it stands in all three files.
            for name, row in zip(("seed_messages.jsonl", "traits.jsonl", "settings.jsonl"), rows, strict=True):
                _append(folder / name, row)
            done.add(row_id)
        on_done()
    return GenerationResult(folder=folder, num_made=len(_read_done(folder)[1]), num_rejected=num_rejected)


def _append(path: Path, row: dict[str, Any]) -> None:
    with path.open("a", encoding="utf-8", errors="surrogatepass") as file:
        file.write(_line(row))


def _line(row: dict[str, Any]) -> str:
    return json_text(row, ascii_only=False) + "\n"


def _read_done(folder: Path) -> tuple[set[int], list[frozenset[str]]]:
    """Return what stands in all three files; drop half-written lines and rows that a kill left in some files only."""
    tables = {name: _read_rows(folder / name) for name in _FILES}
    whole = set.intersection(*(set(table) for table in tables.values()))
    for name, table in tables.items():
        if set(table) != whole:
            temporary = folder / f"{name}.tmp"
            kept = "".join(_line(table[row_id]) for row_id in sorted(whole))
            temporary.write_text(kept, encoding="utf-8", errors="surrogatepass")
            temporary.replace(folder / name)
    messages = [tables["seed_messages.jsonl"][row_id].get("seed_message", "") for row_id in sorted(whole)]
    return whole | set(_read_rows(folder / "rejected.jsonl")), [content_stems(message) for message in messages]


def _read_rows(path: Path) -> dict[int, dict[str, Any]]:
    advice = "Remove the line; its row will be made again."
    return dict(resume_records(path, _checked_row, what="a generated row", advice=advice))


def _checked_row(row: dict[str, Any]) -> tuple[int, dict[str, Any]]:
    typed(str, row.get("seed_message", ""), "seed_message")
    return typed(int, row["id"], "id"), row


class _Maker:
    """Makes the rows of one opening message."""

    def __init__(self, model: ChatModel, personas: Sequence[str], seed: int, prompts: str | None) -> None:
        self._model = model
        self._personas = personas
        self._seed = seed
        self._opening = load_prompt(_PACKAGE, "generate_opening", ("persona_a", "persona_b", "persona_c"), prompts)
        self._traits = load_prompt(_PACKAGE, "generate_traits", ("persona",), prompts)
        self._setting = load_prompt(_PACKAGE, "generate_setting", ("persona", "opening_message"), prompts)

    def make(
        self, row_id: int, triple: tuple[int, int, int], openings: Sequence[frozenset[str]]
    ) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
        """Return the rows of seed_messages, traits and settings.

        Raises:
            _Rejected: a stage gave nothing usable.
        """
        a, b, c = (self._personas[i] for i in triple)
        prompt = self._opening.fill(persona_a=a, persona_b=b, persona_c=c)
        opening = self._ask(row_id, "opening message", prompt, lambda text: _read_opening(text, openings))
        traits = [
            self._ask(row_id, f"traits {k}", self._traits.fill(persona=p), _read_traits) for k, p in ((1, a), (2, b))
        ]
        settings = [
            self._ask(row_id, f"setting {k}", self._setting.fill(persona=p, opening_message=opening), _read_setting)
            for k, p in ((1, a), (2, b))
        ]
        people = {f"persona{k}": {"id": i, "persona": self._personas[i]} for k, i in enumerate(triple, 1)}
        seed_row = {"id": row_id, **people, "prompt": prompt, "prompt_tokens": 0}
        return (
            {**seed_row, "seed_message": opening, "seed_message_tokens": 0},
            {
                "id": row_id,
                **{f"traits{k}": t for k, t in enumerate(traits, 1)},
                "traits1_tokens": 0,
                "traits2_tokens": 0,
            },
            {
                "id": row_id,
                "seed_message": opening,
                **{
                    f"setting{k}": {**setting, "persona": persona, "setting_tokens": 0, "prompt_tokens": 0}
                    for k, (setting, persona) in enumerate(zip(settings, (a, b), strict=True), 1)
                },
            },
        )

    def _ask(self, row_id: int, stage: str, prompt: str, read: Callable[[str], T]) -> T:
        problem = ""
        for attempt in range(MAX_ATTEMPTS):
            request = ChatRequest(
                messages=(Message(role="user", content=prompt),),
                seed=unit_seed(self._seed, row_id, stage, attempt),
                repeat=attempt,
            )
            try:
                return read(self._model.complete(request).text)
            except FatalModelError:
                raise
            except EpisodeFailure as error:
                problem = str(error)
            except ValueError as error:
                problem = str(error)
        raise _Rejected(f"{stage}: {problem} ({MAX_ATTEMPTS} attempts)")


def _read_opening(text: str, earlier: Sequence[frozenset[str]]) -> str:
    message = text.strip().strip('"“”').strip()
    if not message or "\n" in message:
        raise ValueError(f"expected one sentence, got {text[:80]!r}")
    if len(message.split()) > 40 or len(re.findall(r"[.!?](?=\s+\S)", message)) > 0:
        raise ValueError(f"expected one sentence, got {message[:80]!r}")
    stems = content_stems(message)
    for other in earlier:
        if stems and len(stems & other) / max(1, len(stems | other)) >= NEAR_DUPLICATE:
            raise ValueError(f"a near-duplicate of an earlier message: {message!r}")
    return message


def _read_traits(text: str) -> str:
    line = next((line for line in text.strip().splitlines() if line.strip()), "")
    traits = [part.strip().strip('"“”.') for part in _split_at_commas(line) if part.strip()]
    if len(traits) != 3 or any(len(trait.split()) > 8 for trait in traits):
        raise ValueError(f"expected 3 short traits separated by commas, got {text[:80]!r}")
    return ", ".join(traits)


def _split_at_commas(line: str) -> list[str]:
    """Split a line at the commas that are followed by an even number of quotation marks: those outside of a pair."""
    quoted = line.count('"') % 2 == 1
    cuts = [-1]
    for mark in re.finditer('[",]', line):
        if mark[0] == '"':
            quoted = not quoted
        elif not quoted:
            cuts.append(mark.start())
    return [line[before + 1 : after] for before, after in pairwise([*cuts, len(line)])]


def _candidates(text: str) -> Iterator[str]:
    yield text.strip()
    yield from _FENCED.findall(text)
    start, end = text.find("{"), text.rfind("}")
    if 0 <= start < end:
        yield text[start : end + 1]
        # Repairs that change no content: trailing commas, typographic quotation marks around keys and values.
        yield re.sub(r",(\s*[}\]])", r"\1", text[start : end + 1])


def _read_setting(text: str) -> dict[str, Any]:
    if "{" not in text:
        raise ValueError("no JSON object")
    problem = ""
    for candidate in _candidates(text):
        try:
            value = parse_json(candidate, control_characters=True)
        except ValueError as error:
            problem = f"JSON that does not parse ({error})"
            continue
        if isinstance(value, dict):
            row = {**value, "id": "x", "opening_message": "x", "persona": "x", "traits": ["x"] * 3}
            problems = list(problems_of_row(row))
            if not problems:
                return {field: value[field] for field in SETTING_FIELDS}
            problem = problems[0]
    raise ValueError(problem)
