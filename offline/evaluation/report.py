"""The folder of an evaluation on YIELD: numbers, figures, all utterances, and one HTML page with all of it."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from elicit_gym.files import writing
from elicit_gym.json_files import write_json
from elicit_gym.offline.evaluation.figures import REFERENCES, TITLES, draw_yield_figures, row_colours
from elicit_gym.reporting.page import data_uri, pack, write_page
from elicit_gym.strict_json import json_text

if TYPE_CHECKING:
    from elicit_gym.offline.evaluation.answers import EvaluationManifest
    from elicit_gym.offline.evaluation.evaluate import YieldEvaluation

__all__ = ["write_yield_report"]

_CAPTIONS = {
    "metrics": "By domain, with 95 % intervals over interviews where there are five or more (YIELD, Tables 6 to 8). "
    "Real elicitors in black, the shuffled control in grey.",
    "lengths": "Distribution of utterance lengths, all domains.",
}


def write_yield_report(result: "YieldEvaluation", folder: str | Path, manifest: "EvaluationManifest") -> Path:
    """Write ``summary.json``, ``samples.jsonl`` (what everybody said to every window), figures and ``report.html``.

    Args:
        result: the result of `elicit_gym.offline.evaluation.evaluate.evaluate_yield`.
        folder: the folder to write to, created if it does not exist.
        manifest: see `elicit_gym.offline.evaluation.answers.evaluation_manifest`.

    Returns:
        The path of the page.
    """
    folder = Path(folder)
    write_json(folder / "summary.json", result.to_row())
    samples = _samples(result)
    with writing(folder / "samples.jsonl") as file:
        file.writelines(json_text(row) + "\n" for row in samples)
    figures = draw_yield_figures(result, folder / "figures")
    names = result.rows
    values = {
        "policies": [name for name in names if name not in REFERENCES],
        "colours": row_colours(names),
        "tables": [(metric, *TITLES[metric], rows) for metric, rows in result.tables.items() if rows],
        "domains": list(result.domains),
        "differences": result.differences,
        "figures": [(name, _CAPTIONS[name], data_uri(path)) for name, path in figures.items()],
        "failed": {r.name: len(r.failures) for r in result.results if r.failures},
        "num_windows": len(result.windows),
        "num_dialogues": len({window.episode_id for window in result.windows}),
        "manifest": manifest,
        "manifest_text": json_text(manifest.to_json(), indent=2),
        "packed": pack({"windows": samples, "colours": row_colours(names)}, "in samples.jsonl"),
    }
    return write_page(folder / "report.html", "elicit_gym.offline.evaluation", "report.html.j2", values)


def _samples(result: "YieldEvaluation") -> list[dict[str, Any]]:
    return [
        {
            "block_id": window.block_id,
            "domain": window.domain,
            "context": [[m.role, m.content] for m in window.context],
            "said": {r.name: r.utterances[i] for r in result.results},
            "failed": {r.name: r.failures[i] for r in result.results if i in r.failures},
            "nll_per_token": {
                name: round(float(rows["perplexity"][i, 0] / rows["perplexity"][i, 1]), 3)
                for name, rows in result.numbers.items()
                if "perplexity" in rows and rows["perplexity"][i, 1]
            },
        }
        for i, window in enumerate(result.windows)
    ]
