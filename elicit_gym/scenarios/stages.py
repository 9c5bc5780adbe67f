"""One stage of the making of a scenario: what a model is asked, how its reply is read, what it is told when it errs.

A reply that breaks a rule is answered with what is wrong with it; after a few attempts the stage fails, with a reason.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from elicit_gym.errors import BudgetExceeded, EpisodeFailure, FatalModelError
from elicit_gym.llm.prompts import load_prompt
from elicit_gym.llm.types import ChatModel, ChatRequest
from elicit_gym.scenarios.replies import read_object, texts_of
from elicit_gym.seeding import unit_seed
from elicit_gym.types import Message

__all__ = ["MAX_ATTEMPTS", "PACKAGE", "Asker", "Rejected", "Stage", "refuse"]

T = TypeVar("T")
MAX_ATTEMPTS = 3
PACKAGE = "elicit_gym.scenarios"
_MOST_PROBLEMS = 8


class Rejected(Exception):
    """A stage gave nothing usable; says which and why."""


def refuse(problems: Iterable[str]) -> None:
    """Refuse a reply for these problems, if there are any.

    Raises:
        ValueError: lists them, for the model to mend.
    """
    found = list(problems)
    if found:
        more = [f"and {len(found) - _MOST_PROBLEMS} more"] if len(found) > _MOST_PROBLEMS else []
        raise ValueError("; ".join([problem.rstrip(".") for problem in found[:_MOST_PROBLEMS]] + more))


@dataclass(frozen=True)
class Stage(Generic[T]):
    """What is asked once.

    Attributes:
        name: for seeds and reasons, for example ``facts``.
        prompt: the filled prompt.
        read: makes something of the reply; raises ValueError with what is wrong.
    """

    name: str
    prompt: str
    read: Callable[[str], T]


class Asker:
    """Puts stages to a model.

    Args:
        model: any chat model.
        seed: of the model's sampling.
        prompts: a folder with prompt files of the user's own.
    """

    def __init__(self, model: ChatModel, seed: int, prompts: str | None) -> None:
        self._model = model
        self._seed = seed
        self._repair = load_prompt(PACKAGE, "generate_repair", ("problems",), prompts)
        self._review = load_prompt(PACKAGE, "generate_review", ("opening_message", "persona", "parts"), prompts)

    def ask(self, row_id: int, stage: Stage[T]) -> T:
        """Put one stage; see `ask_all`."""
        return self.ask_all(row_id, [stage])[0]

    def ask_all(self, row_id: int, stages: Sequence[Stage[T]]) -> list[T]:
        """Put stages that do not depend on each other to the model at once, and read their replies in order.

        Raises:
            Rejected: the replies to one of them broke a rule in `MAX_ATTEMPTS` attempts.
            ModelFailure: one of them was not replied to, so that it may be tried again another day.
            FatalModelError: the model cannot be called.
            BudgetExceeded: the budget is spent.
        """
        made: dict[int, T] = {}
        failures: dict[int, EpisodeFailure] = {}
        talks: list[tuple[Message, ...]] = [(Message(role="user", content=stage.prompt),) for stage in stages]
        problems = [""] * len(stages)
        for attempt in range(MAX_ATTEMPTS):
            still = [i for i in range(len(stages)) if i not in made]
            requests = [
                ChatRequest(
                    messages=talks[i],
                    seed=unit_seed(self._seed, row_id, stages[i].name, attempt),
                    repeat=attempt,
                )
                for i in still
            ]
            for i, response in zip(still, self._model.complete_batch(requests), strict=True):
                if isinstance(response, FatalModelError | BudgetExceeded):
                    raise response
                if isinstance(response, EpisodeFailure):
                    failures[i] = response
                    continue  # nothing was said, so there is nothing to mend: the same again
                failures.pop(i, None)
                try:
                    made[i] = stages[i].read(response.text)
                except ValueError as error:
                    problems[i] = str(error)
                    talks[i] = (
                        Message(role="user", content=stages[i].prompt),
                        Message(role="assistant", content=response.text),
                        Message(role="user", content=self._repair.fill(problems=str(error))),
                    )
            if len(made) == len(stages):
                return [made[i] for i in range(len(stages))]
        first = next(i for i in range(len(stages)) if i not in made)
        if first in failures:
            raise failures[first]
        raise Rejected(f"{stages[first].name}: {problems[first]} ({MAX_ATTEMPTS} attempts)")

    def review(self, row_id: int, name: str, opening: str, persona: str, parts: Mapping[str, Any]) -> None:
        """Let the model look for parts that contradict and for a checklist that gives itself away.

        Raises:
            Rejected: it found some; the reason is in its words.
        """
        listed = "\n".join(f"{field.capitalize()}: {_as_text(value)}" for field, value in parts.items())
        prompt = self._review.fill(opening_message=opening, persona=persona, parts=listed)
        found = self.ask(row_id, Stage(name, prompt, _read_review))
        if found:
            raise Rejected(f"{name}: {'; '.join(text.rstrip('.') for text in found)}")


def _as_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    lines = [f"{i}. {entry}" for i, entry in enumerate(value, 1)]
    return "\n" + "\n".join(lines)


_NOTHING = frozenset({"none", "none found", "n/a", "no", "nothing", "no contradictions", "null", "-", "[]"})


def _read_review(text: str) -> list[str]:
    found = read_object(text, ("contradictions", "given_away"))
    faults: list[str] = []
    for field, value in found.items():
        if value is None or value is False or value in ("", [], {}):
            continue
        if value is True:
            raise ValueError(f"expected a list of sentences in {field!r}, got true")
        entries = texts_of(value)
        faults += [f"{field.replace('_', ' ')}: {e}" for e in entries if e.lower().rstrip(".") not in _NOTHING]
    return faults
