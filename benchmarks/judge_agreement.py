"""How far the scripted judge agrees with hand labels, and derived cues with hand-written ones (Cohen's kappa)."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from elicit_gym.agents.baselines import QUESTION_BANK
from elicit_gym.judges.base import Judge
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.load import BUNDLED, load_scenarios
from elicit_gym.scenarios.published import with_derived_parts
from elicit_gym.scenarios.schema import pool_rarity, scenario_from_row
from elicit_gym.types import JudgeRequest, Scenario

LABELLED = Path(__file__).parent.parent / "tests" / "data" / "labelled_pairs.jsonl"


def cohen_kappa(first: Sequence[bool], second: Sequence[bool]) -> float:
    """Return Cohen's kappa of two raters' yes/no answers, shape (n,) each."""
    n = len(first)
    observed = sum(a == b for a, b in zip(first, second, strict=True)) / n
    p, q = sum(first) / n, sum(second) / n
    expected = p * q + (1 - p) * (1 - q)
    return 1.0 if expected == 1 else (observed - expected) / (1 - expected)


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
    """Return the bundled scenarios with cues derived as for the published set; kinds and facts stay as written."""
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
    """Pairs of message and item for derived against hand-written cues: labelled messages, and the general questions."""
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
            "kappa_scripted_judge_with_labels": round(cohen_kappa(answers, labels), 4),
            "confusion": {
                "yes_yes": sum(a and b for a, b in zip(answers, labels, strict=True)),
                "judge_yes_label_no": sum(a and not b for a, b in zip(answers, labels, strict=True)),
                "judge_no_label_yes": sum(b and not a for a, b in zip(answers, labels, strict=True)),
                "no_no": sum(not a and not b for a, b in zip(answers, labels, strict=True)),
            },
            "derived_cues": {
                "kappa_with_labels": round(cohen_kappa(on_derived, labels), 4),
                "kappa_with_hand_written_cues_on_labelled_pairs": round(cohen_kappa(on_derived, answers), 4),
                "kappa_with_hand_written_cues_on_all_pairs": round(cohen_kappa(by_rule, by_hand), 4),
                "all_pairs": len(many),
            },
        },
    )


if __name__ == "__main__":
    main()
