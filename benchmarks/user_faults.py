"""Forty dialogues with the scripted user, to be read in full by somebody who did not write it, and the faults counted.

`python -m benchmarks.user_faults write FOLDER` plays ten episodes each of `adaptive`, `ask-one` and `ask-many`, and ten
of messages from the labelled sets, put in random order as a person might ask them; each dialogue is a text file.
`python -m benchmarks.user_faults count FILE` turns the reader's list (JSON lines: dialogue, turn, kind, why) into the
result file. Kinds: ``refuses`` what a fact answers, ``answers_other`` than was asked, ``no_subject`` (will not say what
the opening is about), ``ungrammatical``, ``unfitting`` (a reply that does not go with the message), ``repeats``.
"""

import json
import sys
from collections import Counter
from pathlib import Path
from random import Random

from benchmarks.common import write_result
from benchmarks.labelled_messages import load_messages
from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.episode import EpisodeRecord
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import ChatHistory

KINDS = ("refuses", "answers_other", "no_subject", "ungrammatical", "unfitting", "repeats")
EACH = 10


class Labelled:
    """Says messages of the labelled sets that belong to its scenario, in random order."""

    name = "labelled"

    def __init__(self, messages: list[str]) -> None:
        self._messages = messages

    def reset(self, seed: int) -> None:
        """Start a new episode."""
        self._order = Random(seed).sample(self._messages, min(10, len(self._messages)))

    def act(self, history: ChatHistory) -> str:
        """Return the next message."""
        return self._order[(len(history) // 2) % len(self._order)]


def dialogues() -> list[EpisodeRecord]:
    """Play them; the same ones each time."""
    ids = [scenario.id for scenario in load_scenarios()]
    records: list[EpisodeRecord] = []
    for i, name in enumerate(("adaptive", "ask-one", "ask-many")):
        records += collect_episodes(load_policy(name), scenario_ids=ids[i * 3 :: 12][:EACH], seed=5)
    by_scenario: dict[str, list[str]] = {}
    for message in load_messages("blind_labels"):
        by_scenario.setdefault(message.scenario_id, []).append(message.message)
    for scenario_id in sorted(by_scenario)[::5][:EACH]:
        records += collect_episodes(Labelled(by_scenario[scenario_id]), scenario_ids=[scenario_id], seed=5)
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
            "read_by": "an agent that had seen neither the simulator nor its tests",
            "faults": found,
        },
    )


if __name__ == "__main__":
    main()
