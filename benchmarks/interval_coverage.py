"""How often the 95 % intervals hold the truth: simulated experiments whose truth is known, on data like ours.

Few clusters of unequal size; returns of the package's own baselines, normal and skewed values; means, paired
differences, ratios, the worst quarter, kappa and alpha; the package's interval beside five others. Each experiment
draws whole clusters from a population of `benchmarks.interval_populations`. Run from the repository root:
``python -m benchmarks.interval_coverage``; about half an hour on two cores.
"""

import argparse
from collections.abc import Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.stats import norm
from scipy.stats import t as student

from benchmarks.common import write_result
from benchmarks.interval_populations import (
    Case,
    cases,
    coincidences,
    counts,
    perplexity,
    turn_length_ratio,
)
from elicit_gym.statistics.estimates import (
    Estimate,
    alpha_of_coincidences,
    cluster_alpha,
    cluster_kappa,
    cluster_mean,
    cluster_ratio,
    cluster_worst_mean,
    kappa_of_counts,
)
from elicit_gym.statistics.resampling import (
    CONFIDENCE,
    Floats,
    Statistic,
    cluster_numbers,
    cluster_sums,
    jackknife_error,
    mean_statistic,
    smooth_statistic,
    studentised_interval,
    tail_mean_statistic,
)

NUM_CLUSTERS = (5, 7, 10, 20, 40)
ENDS = ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2)


def by_package(kind: str, values: Floats, clusters: list[int]) -> Estimate:
    """Return what the package says."""
    names = [str(cluster) for cluster in clusters]
    if kind == "worst quarter":
        return cluster_worst_mean(values.tolist(), names, unit="cluster")
    if kind == "kappa":
        return cluster_kappa((values[:, 0] > 0).tolist(), (values[:, 1] > 0).tolist(), names, unit="cluster")
    if kind == "alpha":
        return cluster_alpha(values.T, names, unit="cluster")
    if kind in ("perplexity", "turn lengths"):
        statistic = perplexity if kind == "perplexity" else turn_length_ratio
        return cluster_ratio(values, names, statistic, unit="cluster", positive=True)
    return cluster_mean(values.tolist(), names, unit="cluster")


def statistic_of(kind: str, values: Floats, clusters: list[int]) -> tuple[Statistic, int]:
    """Return the statistic as a function of weights, for the other methods."""
    members, count = cluster_numbers([str(cluster) for cluster in clusters])
    if kind == "worst quarter":
        return tail_mean_statistic(values, values, members, 0.25), count
    if kind in ("mean", "difference"):
        return mean_statistic(cluster_sums(values, members, count), np.bincount(members).astype(np.float64)), count
    rows = counts(values) if kind == "kappa" else coincidences(values) if kind == "alpha" else values
    function = {
        "kappa": kappa_of_counts, "alpha": alpha_of_coincidences, "perplexity": perplexity,
        "turn lengths": turn_length_ratio,
    }[kind]  # fmt: skip
    return smooth_statistic(cluster_sums(rows, members, count), function), count


@lru_cache(maxsize=8)
def _drawn(count: int) -> Floats:
    return np.random.default_rng(1).multinomial(count, [1 / count] * count, 1_999) / count


def others(statistic: Statistic, count: int) -> dict[str, tuple[float, float]]:
    """Return the intervals of five other methods."""
    value, error = jackknife_error(statistic, count)
    weights = _drawn(count)
    values, influences = statistic(weights)
    values = np.where(np.isfinite(values), values, value)
    limit = float(student.ppf(ENDS[1], count - 1))
    level = float(norm.cdf(-np.sqrt(count / (count - 1)) * limit))
    left, _ = statistic((1 - np.eye(count)) / (count - 1))
    gaps = left.mean() - left
    bent = float((gaps**3).sum() / (6 * (gaps**2).sum() ** 1.5)) if np.ptp(left) > 0 else 0.0
    shift = float(norm.ppf(np.clip((values < value).mean() + (values == value).mean() / 2, 1e-3, 1 - 1e-3)))
    moved = shift + norm.ppf(ENDS)
    errors = np.sqrt((weights * influences**2).sum(axis=1) / count)
    with np.errstate(all="ignore"):
        ratios = np.where(errors > 1e-9 * error, (values - value) / errors, np.sign(values - value) * np.inf)
    ratios = np.where(np.isnan(ratios), 0.0, ratios)
    usual = error * np.sqrt((count - 1) / count)
    low, high = np.quantile(ratios, ENDS[0], method="lower"), np.quantile(ratios, ENDS[1], method="higher")
    return {
        "percentile": tuple(np.quantile(values, ENDS)),
        "expanded percentile": tuple(np.quantile(values, [level, 1 - level])),
        "BCa": tuple(np.quantile(values, norm.cdf(shift + moved / (1 - bent * moved)))),
        "Student's t, jackknife": (value - limit * usual, value + limit * usual),
        "bootstrap-t, ordinary": (value - high * usual, value - low * usual),
    }


def experiments(case: Case, count: int, number: int, seed: int) -> Iterator[tuple[Estimate, dict[str, Any]]]:
    """Yield the package's estimate and the other intervals, experiment by experiment."""
    rng = np.random.default_rng([seed, count])
    for _ in range(number):
        values, clusters = case.draw(rng, count)
        with np.errstate(all="ignore"):
            yield by_package(case.kind, values, clusters), others(*statistic_of(case.kind, values, clusters))


def _row(ends: list[tuple[float, float]], truth: float) -> dict[str, Any]:
    low, high = np.array(ends).T
    tolerance = 1e-9 * max(1.0, abs(truth))
    above, below = low > truth + tolerance, high < truth - tolerance
    width = float(np.median(high - low))
    return {
        "coverage": round(1 - float((above | below).mean()), 4),
        "too_high": round(float(above.mean()), 4),
        "too_low": round(float(below.mean()), 4),
        "median_width": round(width, 4) if np.isfinite(width) else "infinite",
    }


def measure(case: Case, count: int, number: int, seed: int = 0) -> dict[str, Any]:
    """Return coverage, misses to either side and width of every method; experiments without an interval are told apart.

    Args:
        case: what is estimated.
        count: clusters of an experiment.
        number: experiments.
        seed: of the experiments.
    """
    ours: list[tuple[float, float]] = []
    theirs: dict[str, list[tuple[float, float]]] = {}
    for estimate, found in experiments(case, count, number, seed):
        if estimate.low is None or estimate.high is None:
            continue
        ours.append((estimate.low, estimate.high))
        for name, ends in found.items():
            theirs.setdefault(name, []).append(ends)
    return {
        "without_interval": round(1 - len(ours) / number, 4),
        "package": _row(ours, case.truth),
        "others": {name: _row(ends, case.truth) for name, ends in theirs.items()},
    }


def covered(row: Mapping[str, Any], method: str) -> float:
    """Return a method's coverage from a row of `measure`."""
    return float((row["package"] if method == "package" else row["others"][method])["coverage"])


def below_five(case: Case, count: int, number: int) -> dict[str, Any]:
    """Return what the package's method would do with fewer clusters than it takes."""
    rng = np.random.default_rng([1, count])
    found = [studentised_interval(*statistic_of(case.kind, *case.draw(rng, count))) for _ in range(number)]
    return _row([ends for ends in found if not isinstance(ends, str)], case.truth)


def _job(job: tuple[str, int, int]) -> tuple[str, int, Mapping[str, Any]]:
    name, count, number = job
    case = cases()[name]
    if count < NUM_CLUSTERS[0]:
        return name, count, below_five(case, count, number)
    return name, count, measure(case, count, number)


def main() -> None:
    """Run every experiment and write the result."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--experiments", type=int, default=4_000, help="For each population and number of clusters.")
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    known = cases()
    number = {
        name: options.experiments // (1 if case.required else 4 if case.kind == "alpha" else 2)
        for name, case in known.items()
    }
    jobs = [(name, count, number[name]) for name in known for count in NUM_CLUSTERS]
    jobs += [(name, count, options.experiments) for name, c in known.items() if c.required for count in (3, 4)]
    coverage: dict[str, dict[str, Any]] = {name: {} for name in known}
    fewer: dict[str, dict[str, Any]] = {name: {} for name, case in known.items() if case.required}
    with ProcessPoolExecutor(options.processes) as pool:
        for name, count, row in pool.map(_job, jobs):
            if count < NUM_CLUSTERS[0]:
                fewer[name][str(count)] = row
            else:
                coverage[name][str(count)] = row
                print(name, count, row["package"]["coverage"], flush=True)
    asked = [rows for name, rows in coverage.items() if known[name].required]
    write_result(
        "interval_coverage",
        {
            "device": "CPU",
            "seeds": "experiments [0, K] and [1, K], resamples 0",
            "experiments": number,
            "required": [name for name, case in known.items() if case.required],
            "least_and_most_where_required": {
                str(count): {
                    method: [pick(covered(rows[str(count)], method) for rows in asked) for pick in (min, max)]
                    for method in ("package", *asked[0][str(count)]["others"])
                }
                for count in NUM_CLUSTERS
            },
            "coverage": coverage,
            "with_fewer_clusters_than_five": fewer,
        },
    )  # fmt: skip


if __name__ == "__main__":
    main()
