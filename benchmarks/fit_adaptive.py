"""Measure on the train split what each question of the `adaptive` baseline is worth whatever the subject.

`python -m benchmarks.fit_adaptive` asks each of them in each train scenario, by itself, and writes into
`agents/baselines/questions.json` how many items it adds per scenario to what better questions have earned already, and
a share of all that it earns. Test scenarios play no part.
"""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from elicit_gym.agents.baselines.bank import bank
from elicit_gym.agents.baselines.rules import PROBLEM, REQUEST
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import Scenario
from elicit_gym.understanding.acts import understand

TARGET = Path(__file__).parent.parent / "agents" / "baselines" / "questions.json"
NUM_RANKED = 30
SHARE_OF_ALL = 0.3


def items_met(question: str, scenario: Scenario) -> list[bool]:
    """Say for each checklist item whether the question goes for it."""
    read = understand(question, scenario)
    asked = {fact for act in read.judged_questions if act.kind == "ask" for fact, _ in act.facts}
    return [item.kind == "ask" and not asked.isdisjoint(item.facts) for item in scenario.checklist]


def worth_of(met: NDArray[np.bool_], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return what each question is worth.

    Args:
        met: shape (num_questions, num_scenarios, 5).
        known: what is earned anyway, shape (num_scenarios, 5).
    """
    known = known.copy()
    worth = SHARE_OF_ALL * met.any(axis=2).mean(axis=1)
    left = set(range(len(met)))
    for place in range(min(NUM_RANKED, len(met))):
        gains = (met & ~known).sum(axis=(1, 2))
        best = max(sorted(left), key=lambda i: (gains[i], met[i].any(axis=1).sum()))
        worth[best] += gains[best] / met.shape[1] + 1e-3 * (NUM_RANKED - place)
        left.discard(best)
        known |= met[best]
    return worth


def main() -> None:
    """Measure and write the file."""
    scenarios = [scenario for scenario in load_scenarios() if scenario.split == "train"]
    questions = bank("questions").entries
    met = np.array([[items_met(question.text, s) for s in scenarios] for question in questions])
    asked_anyway = [(items_met(REQUEST.question, s), items_met(PROBLEM.question, s)) for s in scenarios]
    worth = worth_of(met, np.array(asked_anyway).any(axis=1))
    rows = [
        {"text": question.text, "cues": list(question.cues), "worth": round(float(value), 3)}
        for question, value in zip(questions, worth, strict=True)
    ]
    rows.sort(key=lambda row: (-float(str(row["worth"])), str(row["text"])))
    lines = ",\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    TARGET.write_text(f"[\n{lines}\n]\n", encoding="utf-8")
    print(f"{len(rows)} questions; the best: {[row['text'] for row in rows[:12]]}")


if __name__ == "__main__":
    main()
