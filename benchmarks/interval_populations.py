"""Populations like ours, whose truth is known, for `benchmarks.interval_coverage`.

Opening messages with the returns of the package's own baselines, some episodes missing; and interviews with very
unequal numbers of windows, whose values are normal, or skewed as the real sample of YIELD is (there the mean length of
an interview's utterances has a coefficient of variation of 0.4, the utterances in one of 1.2; returns-to-go 0.8).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from elicit_gym.agents import load_policy
from elicit_gym.evaluation.compare import compare
from elicit_gym.statistics.estimates import alpha_of_coincidences, kappa_of_counts
from elicit_gym.statistics.resampling import Floats

BASELINES = ("naive", "ask-many", "ask-one", "adaptive", "oracle")
Draw = Callable[[np.random.Generator, int], tuple[Any, list[int]]]
"""From a generator and a number of clusters to the values of each episode and the cluster of each."""


@dataclass(frozen=True)
class Case:
    """A population and what is estimated from it.

    Attributes:
        kind: mean, difference, ratio, worst quarter, kappa or alpha.
        draw: one experiment.
        truth: what every interval should hold.
        required: whether 0.93 to 0.97 is asked of it from 7 clusters on.
    """

    kind: str
    draw: Draw
    truth: float
    required: bool = False


def _sizes(rng: np.random.Generator, count: int) -> list[int]:
    """Windows of each interview: as unequal as in the pilot, which has 1, 3, 8, 8, 11, 13 and 15."""
    return [int(size) for size in np.clip(np.round(np.exp(rng.normal(1.9, 0.9, count))), 1, 16)]


def _windows(values: Callable[[np.random.Generator, int], Floats]) -> Draw:
    """Make a draw of interviews from what draws the windows of one."""

    def draw(rng: np.random.Generator, count: int) -> tuple[Floats, list[int]]:
        sizes = _sizes(rng, count)
        return np.concatenate([values(rng, size) for size in sizes]), np.repeat(np.arange(count), sizes).tolist()

    return draw


def _normal(rng: np.random.Generator, size: int) -> Floats:
    return rng.normal() + rng.normal(size=size)


def _lengths(rng: np.random.Generator, size: int) -> Floats:
    """Tokens of an utterance over their mean: spread and skewness of the words in the real sample of YIELD."""
    return np.exp(0.4 * rng.normal() - 0.08) * rng.gamma(0.7, 1 / 0.7, size)


def _apart(rng: np.random.Generator, size: int) -> Floats:
    return _normal(rng, size) - _normal(rng, size)


def _as_long(rng: np.random.Generator, size: int) -> Floats:
    return _lengths(rng, size) - _lengths(rng, size)


def _longer(rng: np.random.Generator, size: int) -> Floats:
    return 2 * _lengths(rng, size) - _lengths(rng, size)


def _exponential(rng: np.random.Generator, size: int) -> Floats:
    return rng.exponential() + 0.5 * rng.exponential(size=size)


def _heavy(rng: np.random.Generator, size: int) -> Floats:
    """As returns-to-go in YIELD."""
    return np.exp(0.7 * rng.normal() - 0.245) * rng.gamma(4, 1 / 4, size)


def _rare(rng: np.random.Generator, size: int) -> Floats:
    """An interview in seven has anything at all."""
    return np.full(size, float(rng.integers(1, 6)) if rng.random() < 0.15 else 0.0)


def _tokens(rng: np.random.Generator, size: int) -> Floats:
    """Nats and tokens of an utterance."""
    tokens = 3 + rng.gamma(0.7, 30, size)
    return np.stack([tokens * (3.3 + 0.3 * rng.normal() + 0.6 * rng.normal(size=size)), tokens], axis=1)


def _two_tokens(rng: np.random.Generator, size: int) -> Floats:
    """The same utterances under two policies: the difference in nats, and tokens."""
    both = _tokens(rng, size)
    return np.stack([both[:, 1] * (0.2 + 0.1 * rng.normal() + 0.3 * rng.normal(size=size)), both[:, 1]], axis=1)


def _turns(rng: np.random.Generator, size: int) -> Floats:
    """Tokens and number of answers, tokens and number of questions."""
    answers = 80 * np.exp(0.7 * rng.normal()) * rng.gamma(2, 1 / 2, size)
    questions = 60 * np.exp(0.4 * rng.normal()) * rng.gamma(1.5, 1 / 1.5, size)
    return np.stack([answers, np.full(size, 3.0), questions, np.full(size, 3.0)], axis=1)


def perplexity(sums: Floats) -> Floats:
    return np.asarray(np.exp(sums[..., 0] / sums[..., 1]), dtype=np.float64)


def turn_length_ratio(sums: Floats) -> Floats:
    return np.asarray((sums[..., 0] / sums[..., 1]) / (sums[..., 2] / sums[..., 3]), dtype=np.float64)


@lru_cache(maxsize=1)
def baseline_returns() -> dict[str, Floats]:
    """Return the returns of the baselines on the bundled scenarios, by opening message, shape (openings, episodes)."""
    returns: dict[str, dict[str, dict[Any, float]]] = {name: {} for name in BASELINES}
    for record in compare([load_policy(name) for name in BASELINES], repeats=3).records:
        own = returns[record.policy].setdefault(record.episode.opening_message, {})
        own[record.scenario_id, record.repeat] = record.episode.total_reward
    return {
        name: np.array([[row[unit] for unit in sorted(row)] for row in rows.values()]) for name, rows in returns.items()
    }


def _openings(*populations: Floats, missing: float = 0.2) -> tuple[Draw, Floats, Floats]:
    """Draw opening messages from one of the populations; a fifth of the episodes is missing, never all of an opening.

    Returns:
        The draw; all values, and the chance of each to be there, for the truth. All populations have one truth each,
        so values are centred on it where there are several.
    """
    chance = np.full(populations[0].shape, 1 - missing)
    chance[:, 0] += missing ** populations[0].shape[1]
    if len(populations) > 1:
        populations = tuple(values - (values * chance).sum() / chance.sum() for values in populations)

    def draw(rng: np.random.Generator, count: int) -> tuple[Floats, list[int]]:
        values = populations[rng.integers(len(populations))]
        rows = values[rng.integers(0, len(values), count)]
        there = rng.random(rows.shape) >= missing
        there[~there.any(axis=1), 0] = True
        return rows[there], np.repeat(np.arange(count), there.sum(axis=1)).tolist()

    return draw, populations[0], chance


def _answers(rng: np.random.Generator, size: int) -> Floats:
    """Yes/no answers of two judges, shape (n, 2)."""
    first = rng.random(size) < rng.beta(2, 4)
    agree = rng.random(size) < rng.beta(18, 2)
    return np.stack([first, np.where(agree, first, ~first)], axis=1).astype(np.float64)


def _ratings(rng: np.random.Generator, size: int) -> Floats:
    """Ratings from 1 to 5 by three people, shape (n, 3)."""
    quality = 3 + 0.6 * rng.normal() + rng.normal(size=(size, 1))
    return np.clip(np.round(quality + 0.7 * rng.normal(size=(size, 3))), 1, 5)


def counts(answers: Floats) -> Floats:
    first, second = answers[:, 0] > 0, answers[:, 1] > 0
    return np.stack([first & second, first & ~second, ~first & second, ~first & ~second], axis=1).astype(np.float64)


def coincidences(ratings: Floats) -> Floats:
    counts = (ratings[:, :, None] == np.arange(1.0, 6.0)).sum(axis=1).astype(np.float64)
    pairs = counts[:, :, None] * counts[:, None, :] - counts[:, :, None] * np.eye(5)
    return (pairs / (ratings.shape[1] - 1)).reshape(len(ratings), -1)


def _worst(values: Floats, chance: Floats | None = None) -> float:
    chance = np.ones_like(values) if chance is None else chance
    order = np.argsort(values, axis=None)
    mass = chance.ravel()[order].cumsum()
    taken = np.diff(np.minimum(mass, 0.25 * mass[-1]), prepend=0.0)
    return float((values.ravel()[order] * taken).sum() / taken.sum())


def _mean(values: Floats, chance: Floats) -> float:
    return float((values * chance).sum() / chance.sum())


@lru_cache(maxsize=1)
def cases() -> dict[str, Case]:
    """Return every population with what is estimated from it, by name."""
    returns = baseline_returns()
    some, _, _ = _openings(returns["ask-one"], returns["adaptive"])
    pairs, _, _ = _openings(
        returns["adaptive"] - returns["ask-one"], returns["oracle"] - returns["adaptive"],
        returns["oracle"] - returns["ask-one"],
    )  # fmt: skip
    two_values, values, chance = _openings(returns["ask-many"])
    less, gaps, _ = _openings(returns["ask-one"] - returns["ask-many"])
    found = {
        "mean: returns of ask-one or adaptive": Case("mean", some, 0.0, True),
        "mean: normal": Case("mean", _windows(_normal), 0.0, True),
        "mean: skewed, lengths of utterances": Case("mean", _windows(_lengths), 1.0, True),
        "mean: skewed, exponential": Case("mean", _windows(_exponential), 1.5, True),
        "mean: heavy tail, returns-to-go": Case("mean", _windows(_heavy), 1.0),
        "mean: seven interviews in eight have 0": Case("mean", _windows(_rare), 0.45),
        "mean: returns of ask-many, 0 or 1": Case("mean", two_values, _mean(values, chance)),
        "difference: returns, pairs of ask-one, adaptive, oracle": Case("difference", pairs, 0.0, True),
        "difference: returns, ask-one less ask-many": Case("difference", less, _mean(gaps, chance)),
        "difference: normal": Case("difference", _windows(_apart), 0.0, True),
        "difference: skewed, lengths": Case("difference", _windows(_as_long), 0.0, True),
        "difference: skewed, twice as long": Case("difference", _windows(_longer), 1.0, True),
        "ratio: perplexity": Case("perplexity", _windows(_tokens), float(np.exp(3.3)), True),
        "ratio: of two perplexities": Case("perplexity", _windows(_two_tokens), float(np.exp(0.2)), True),
        "ratio: turn lengths": Case("turn lengths", _windows(_turns), 80 * np.exp(0.245) / (60 * np.exp(0.08)), True),
    }  # fmt: skip
    for name in ("ask-one", "adaptive"):
        draw, values, chance = _openings(returns[name])
        found[f"worst quarter: returns of {name}"] = Case("worst quarter", draw, _worst(values, chance))
    rng = np.random.default_rng(99)
    for name, law in (("normal", _normal), ("lengths", _lengths)):
        many = np.concatenate([law(rng, size) for size in _sizes(rng, 60_000)])
        found[f"worst quarter: {name}"] = Case("worst quarter", _windows(law), _worst(many))
    many = np.concatenate([counts(_answers(rng, size)) for size in _sizes(rng, 40_000)]).sum(axis=0)
    found["kappa of two judges"] = Case("kappa", _windows(_answers), float(kappa_of_counts(many)))
    many = np.concatenate([coincidences(_ratings(rng, size)) for size in _sizes(rng, 40_000)]).sum(axis=0)
    found["alpha of three raters"] = Case("alpha", _windows(_ratings), float(alpha_of_coincidences(many)))
    return found
