"""The report of a comparison: tables, figures, and every conversation beside its checklist, in one HTML file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from elicit_gym.episode import EpisodeRecord
from elicit_gym.evaluation.failures import SHORT_FIRST, failure_notes
from elicit_gym.evaluation.figures import draw_figures
from elicit_gym.evaluation.summary import PairSummary, PolicySummary
from elicit_gym.reporting.page import data_uri, pack, write_page
from elicit_gym.reporting.style import colour
from elicit_gym.rollout.manifest import RunManifest
from elicit_gym.rollout.usage import UsageRow
from elicit_gym.strict_json import json_text
from elicit_gym.types import Scenario

__all__ = ["write_report"]

_CAPTIONS = {
    "cumulative_reward": "Average cumulative reward over the turns, with 95 % intervals over opening messages "
    "(InfoQuest, Figure 3). Where all of those are alike, the band is what the rule of three leaves open.",
    "worst_quarter": "The same for the 25 % of episodes with the lowest return (InfoQuest, Figure 4). No band: no "
    "interval, since the worst are all alike or there are fewer than five opening messages.",
    "best_lengths": "How long the best 25 % of episodes are, shorter ones first among equals (InfoQuest, Figure 5).",
    "differences": "Mean difference in return between two policies on the same scenarios and repeats.",
}
_COLUMNS = (
    ("success_rate", "success rate", 2),
    ("turns_to_success", "turns to success", 1),
    ("questions_per_message", "questions per message", 2),
    ("words_per_message", "words per message", 1),
    ("repeated_questions", "repeated questions", 1),
)


def write_report(
    folder: Path,
    *,
    policies: Sequence[PolicySummary],
    pairs: Sequence[PairSummary],
    usage: Sequence[UsageRow],
    records: Sequence[EpisodeRecord],
    scenarios: Sequence[Scenario],
    manifest: RunManifest,
) -> Path:
    """Write the figures and ``report.html``; see `elicit_gym.evaluation.comparison.Comparison` for its parts.

    Returns:
        The path of the report.
    """
    figures = draw_figures(policies, pairs, folder / "figures")
    values = {
        "manifest": manifest,
        "manifest_text": json_text(manifest.to_json(), indent=2),
        "policies": policies,
        "colours": [colour(i) for i in range(len(policies))],
        "columns": _COLUMNS,
        "pairs": pairs,
        "usage": usage,
        "failed": {p.policy: failure_notes([r for r in records if r.policy == p.policy]) for p in policies},
        "short_first": SHORT_FIRST,
        "figures": [(name, _CAPTIONS[name], data_uri(path)) for name, path in figures.items()],
        "num_episodes": len(records),
        "num_scenarios": len({record.scenario_id for record in records}),
        "num_openings": len({record.episode.opening_message for record in records}),
        "packed": pack(_conversations(records, scenarios), "in episodes.jsonl"),
    }
    return write_page(folder / "report.html", "elicit_gym.evaluation", "report.html.j2", values)


def _conversations(records: Sequence[EpisodeRecord], scenarios: Sequence[Scenario]) -> Mapping[str, Any]:
    used = {record.scenario_id for record in records}
    return {
        "scenarios": {
            s.id: {
                "persona": s.persona,
                "opening": s.opening_message,
                "goal": s.goal,
                "obstacle": s.obstacle,
                "constraints": s.constraints,
                "checklist": [item.question for item in s.checklist],
            }
            for s in scenarios
            if s.id in used
        },
        "episodes": [
            {
                "p": record.policy,
                "s": record.scenario_id,
                "n": record.repeat,
                "r": record.episode.total_reward,
                "ok": record.episode.success,
                "left": record.episode.left,
                "f": f"{record.failure.source}: {record.failure.message}" if record.failure else None,
                "t": [
                    [
                        turn.action,
                        turn.reply,
                        list(turn.newly_satisfied),
                        list(turn.unscored),
                        list(turn.flags),
                        [[j.item, j.satisfied, list(j.replies), j.reason] for j in turn.judged],
                    ]
                    for turn in record.episode.turns
                ],
            }
            for record in records
        ],
    }
