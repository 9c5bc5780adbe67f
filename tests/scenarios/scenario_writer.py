"""A model that writes scenarios: the bundled ones, taken apart into what each stage asks for, in the dress one wants."""

import json
from collections.abc import Callable, Iterable
from typing import Any

from elicit_gym.llm.types import ChatRequest
from elicit_gym.scenarios.load import BUNDLED

Dress = Callable[[str, Any], str]

BY_ID: dict[str, dict[str, Any]] = {
    row["id"]: row for row in map(json.loads, BUNDLED.read_text(encoding="utf-8").splitlines())
}
CORE = ("description", "goal", "obstacle", "constraints", "solution")
STAGES = {
    "opening message": "Write the first message of a chat",
    "traits": "Name 3 traits",
    "setting": "Invent the situation behind",
    "facts": "Write down what the person knows",
    "items": "Write the checklist by which",
    "review": "Proofread a scenario",
    "questions": "Write the questions by which",
    "hints": "might let slip about one matter",
    "suggestions": "what different assistants might advise",
}


def stage_of(request: ChatRequest) -> str:
    """Return which stage a request belongs to, by its first message."""
    text = request.messages[0].content
    return next(stage for stage, mark in STAGES.items() if mark in text)


def plain(stage: str, value: Any) -> str:
    """Say a value as the prompt asks for it."""
    if stage == "opening message":
        return str(value)
    return "; ".join(value) if stage == "traits" else json.dumps(value, ensure_ascii=False)


def chatty(stage: str, value: Any) -> str:
    """Say it as chat models do: preambles, fences, wrappers, numbers, remarks behind it."""
    if stage == "opening message":
        return f'Sure! Here is a message that fits both:\n\n**Message:** "{value}"\n\nLet me know if you need another.'
    if stage == "traits":
        return json.dumps({"traits": value})
    if stage in ("questions", "hints"):
        listed = "\n".join(f"{i}. **{text}**" for i, text in enumerate(value, 1))
        return f"Here are the {stage}:\n\n{listed}\n\nI hope these help!"
    if stage == "setting":
        value = {"scenario": {key.title(): entry for key, entry in value.items()}}
    return f"Certainly!\n```json\n{json.dumps(value, indent=2)}\n```\nIs there anything you would like to change?"


class ScenarioWriter:
    """Plays the rows of these bundled scenarios, one for each persona.

    Args:
        ids: of the scenarios.
        dress: how a value is said.
        instead: replies that come first, by stage; each is given once.
    """

    def __init__(self, ids: Iterable[str], dress: Dress = plain, instead: dict[str, list[Any]] | None = None) -> None:
        self.rows = [BY_ID[name] for name in ids]
        self.personas = [row["persona"] for row in self.rows]
        self._dress = dress
        self._instead = {stage: list(replies) for stage, replies in (instead or {}).items()}
        self.asked: list[str] = []

    def __call__(self, request: ChatRequest) -> Any:
        stage, text = stage_of(request), request.messages[0].content
        self.asked.append(stage)
        waiting = self._instead.get(stage)
        if waiting:
            reply = waiting.pop(0)
            return reply(self._value(stage, text)) if callable(reply) else reply
        return self._dress(stage, self._value(stage, text))

    def _value(self, stage: str, text: str) -> Any:
        if stage == "opening message":
            return self._by_persona(text.partition("Person A:")[2].partition("\n")[0])["opening_message"]
        if stage == "review":
            return {"contradictions": [], "given_away": []}
        if stage == "questions":
            statement = text.partition("What is asked for: ")[2].partition("\n")[0]
            return next(f["questions"] for row in self.rows for f in row["facts"] if f["statement"] == statement)
        if stage in ("hints", "suggestions"):
            topic = text.partition("The matter: ")[2].partition("\n")[0]
            item = next(item for row in self.rows for item in row["items"] if item["topic"] == topic)
            return item["hints"] if stage == "hints" else {"good": item["suggestions"], "contrary": item["contrary"]}
        row = self._by_persona(text.partition("Person:")[2].partition("\n")[0] or text)
        if stage == "traits":
            return row["traits"]
        if stage == "setting":
            return {field: row[field] for field in CORE}
        if stage == "facts":
            return {"facts": [
                {"id": f["id"], "statement": f["statement"], "short": f["disclosures"][0], "fuller": f["disclosures"][1]}
                for f in row["facts"]
            ]}  # fmt: skip
        return {"items": [
            {"kind": item["kind"], "question": question, "facts": item["facts"], "topic": item["topic"],
             "after": item.get("after")}
            for question, item in zip(row["checklist"], row["items"], strict=True)
        ]}  # fmt: skip

    def _by_persona(self, text: str) -> dict[str, Any]:
        return next(row for row in self.rows if row["persona"] in text)
