"""How many misbehaving replies of a simulated user are caught, by kind, and how many sound ones are found fault with.

`python -m benchmarks.user_checks` reads two labelled sets of `tests/data` and writes the result file. In
`user_replies.jsonl`, half of the scenarios were there to tune the checks on, and the other half was held out.
`user_replies_fresh.jsonl`, on four other scenarios, was written after the checks and before they saw it: at first
sight, 121 of its 124 misbehaving replies were caught, and 1 of its 64 harmless ones was a false alarm. Afterwards,
copies came to be compared by the stems of their words, and the wordings became narrower.
All replies and labels are of one hand, which also wrote the checks, in the manner of real models; they are frozen by
`SHA256SUMS`.

A third check of false alarms: what the scripted user says in play, which is sound by construction (in the manners
``open`` and ``wandering``, to three policies, in 40 scenarios).

A reply is caught if it is asked for again (or mended, or fails the episode), or if what is wrong with it is cut off
before it is read: thoughts, and lines after the end of a turn.
"""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from typing import Any, ClassVar, Literal

from benchmarks.common import write_result
from benchmarks.labelled_messages import FOLDER, derived_scenarios
from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.llm.content import clean_content
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import Message, UserReply, UserTurn
from elicit_gym.user_simulators.checks import problem_of_reply, strip_label
from elicit_gym.user_simulators.scripted import ScriptedUserSimulator

Half = Literal["tune", "held_out", "fresh"]
FILES = ("user_replies", "user_replies_fresh")
HARMLESS = "harmless"


@dataclass(frozen=True)
class LabelledReply:
    """One reply of a simulated user.

    Attributes:
        half: of the set.
        kind: of misbehaviour, or ``harmless``.
        reply: as the model sends it.
        turn: that it answers.
    """

    id: str
    half: Half
    kind: str
    reply: str
    turn: UserTurn

    @property
    def caught(self) -> str | None:
        """What is found wrong with it; None where nothing is."""
        text, flags = clean_content(self.reply, None, "stop")
        return flags[0] if flags else problem_of_reply(strip_label(text), self.turn)


def load_replies() -> Iterator[LabelledReply]:
    """Read the labelled replies of both sets."""
    deep = {scenario.id: scenario for scenario in load_scenarios()}
    derived = {scenario.id: scenario for scenario in derived_scenarios()}
    for name in FILES:
        for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            scenario = (deep if row["depth"] else derived)[row["scenario_id"]]
            history = [Message(role="user", content=scenario.opening_message)]
            for i, content in enumerate(row["history"]):
                history.append(Message(role="user" if i % 2 else "assistant", content=content))
            turn = UserTurn(
                scenario=scenario,
                history=tuple(history),
                turn=len(history) // 2,
                satisfied=(False,) * 5,
                newly_satisfied=(),
                stuck=row["stuck"],
                disclosed=frozenset(),
                seed=0,
                idle_turns=2 if row["stuck"] else 0,
            )
            yield LabelledReply(row["id"], row["half"], row["kind"], row["reply"], turn)


def table(replies: list[LabelledReply]) -> dict[str, Any]:
    """Return for each kind how many there are, how many are caught, and which are not; of harmless ones, the alarms."""
    rows: dict[str, Any] = {}
    for kind in sorted({reply.kind for reply in replies}):
        of_kind = [reply for reply in replies if reply.kind == kind]
        wrong = [reply.id for reply in of_kind if (reply.caught is None) == (kind != HARMLESS)]
        caught = len(wrong) if kind == HARMLESS else len(of_kind) - len(wrong)
        rows[kind] = {
            "replies": len(of_kind),
            "caught": caught,
            "share": round(caught / len(of_kind), 4),
            "wrong": wrong,
        }
    bad = [row for kind, row in rows.items() if kind != HARMLESS]
    total, found = sum(row["replies"] for row in bad), sum(row["caught"] for row in bad)
    return {"kinds": rows, "all_kinds": {"replies": total, "caught": found, "share": round(found / total, 4)}}


class Watched(ScriptedUserSimulator):
    """The scripted user, whose replies are checked as a model's would be."""

    found: ClassVar[Counter[str]] = Counter()

    def reply(self, turn: UserTurn) -> UserReply:
        """Reply, and note what is found wrong with it."""
        reply = super().reply(turn)
        self.found[problem_of_reply(reply.text, turn) or "none"] += 1
        return reply


def scripted_alarms() -> dict[str, Any]:
    """Return how many sound replies of the scripted user are found fault with, and why."""
    # This very module, under the name by which the environment imports the user.
    found: Counter[str] = import_module("benchmarks.user_checks").Watched.found
    found.clear()
    for manner in ("open", "wandering"):
        kwargs = {"user_simulator": "benchmarks.user_checks:Watched", "user_simulator_kwargs": {"manner": manner}}
        for name in ("adaptive", "ask-one", "naive"):
            ids = [scenario.id for scenario in load_scenarios()[::3]]
            collect_episodes(load_policy(name), env_kwargs={**kwargs, "max_turns": 8}, scenario_ids=ids)
    total, sound = found.total(), found["none"]
    by_problem = {problem: count for problem, count in sorted(found.items()) if problem != "none"}
    return {"replies": total, "alarms": total - sound, "share": round(1 - sound / total, 4), "by_problem": by_problem}


def main() -> None:
    """Write the tables."""
    replies = list(load_replies())
    halves: tuple[Half, ...] = ("tune", "held_out", "fresh")
    tables = {half: table([r for r in replies if r.half == half]) for half in halves}
    write_result("user_checks", {**tables, "scripted_user": scripted_alarms()})


if __name__ == "__main__":
    main()
