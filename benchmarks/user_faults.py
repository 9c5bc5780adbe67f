"""Forty dialogues with the scripted user on test scenarios, to be read in full, and the faults counted.

`python -m benchmarks.user_faults write FOLDER` plays eight episodes of `adaptive`, sixteen of `ask-one`, and sixteen of
`free_messages.json`: what a person would ask who has read the opening and what the scenario is about, and neither facts
nor examples. Each dialogue is a text file. `python -m benchmarks.user_faults count FILE` turns the reader's list (JSON
lines: dialogue, turn, kind, why) into the result file. Kinds: ``refuses`` what a fact answers, ``answers_other`` than
was asked, ``no_subject`` (will not say what the opening is about), ``ungrammatical``, ``unfitting`` (a reply that does
not go with the message), ``repeats``. The user was not tuned on what these dialogues showed.
"""

import json
import sys
from collections import Counter
from pathlib import Path

from benchmarks.common import write_result
from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.episode import EpisodeRecord
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import ChatHistory

KINDS = ("refuses", "answers_other", "no_subject", "ungrammatical", "unfitting", "repeats")
EACH = {"adaptive": 8, "ask-one": 16}
FREE_MESSAGES = Path(__file__).parent / "free_messages.json"


class Free:
    """Says messages that were written for its scenario, in order."""

    name = "free"

    def __init__(self, messages: list[str]) -> None:
        self._messages = messages

    def reset(self, seed: int) -> None:
        """Start a new episode."""

    def act(self, history: ChatHistory) -> str:
        """Return the next message."""
        return self._messages[len(history) // 2]


def dialogues() -> list[EpisodeRecord]:
    """Play them; the same ones each time."""
    ids = [scenario.id for scenario in load_scenarios() if scenario.split == "test"]
    records: list[EpisodeRecord] = []
    for i, (name, count) in enumerate(EACH.items()):
        records += collect_episodes(load_policy(name), scenario_ids=ids[2 + i :: 3][:count], seed=5)
    written: dict[str, list[str]] = json.loads(FREE_MESSAGES.read_text(encoding="utf-8"))
    for scenario_id, messages in written.items():
        # One turn more than messages: the user answers the last one too.
        kwargs = {"max_turns": len(messages) + 1}
        records += collect_episodes(
            Free([*messages, "Thank you."]), scenario_ids=[scenario_id], env_kwargs=kwargs, seed=5
        )
    return records


def as_text(record: EpisodeRecord) -> str:
    """Return a dialogue with what the user knows."""
    scenario = next(s for s in load_scenarios() if s.id == record.scenario_id)
    lines = [f"Scenario {scenario.id}: {scenario.persona}. {scenario.description}", "The user knows:"]
    lines += [f"- {fact.id}: {fact.statement} ({fact.disclosures[1]})" for fact in scenario.facts]
    lines += ["", f"user: {record.episode.opening_message}"]
    for number, turn in enumerate(record.episode.turns, 1):
        lines += [f"{number}. agent: {turn.action}", f"{number}. user: {turn.reply or '(end)'}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    """Write the dialogues, or count what the reader found."""
    command, path = sys.argv[1], Path(sys.argv[2])
    records = dialogues()
    if command == "write":
        path.mkdir(parents=True, exist_ok=True)
        for i, record in enumerate(records):
            (path / f"{i:02d}-{record.policy}-{record.scenario_id}.txt").write_text(as_text(record), encoding="utf-8")
        return
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    unknown = {row["kind"] for row in found} - set(KINDS)
    if unknown:
        raise SystemExit(f"Counting faults: expected the kinds {', '.join(KINDS)}, got {', '.join(sorted(unknown))}.")
    replies = sum(turn.reply is not None for record in records for turn in record.episode.turns)
    kinds = Counter(row["kind"] for row in found)
    write_result(
        "user_faults",
        {
            "dialogues": len(records),
            "replies": replies,
            "faulty": len(found),
            "share": round(len(found) / replies, 4),
            "by_kind": {kind: kinds[kind] for kind in KINDS},
            "by_policy": dict(Counter(row["dialogue"].split("-", 1)[1].rsplit("-", 2)[0] for row in found)),
            "read_by": "a helper who tuned the user on train scenarios, not blind to the design",
            "faults": found,
        },
    )


if __name__ == "__main__":
    main()
