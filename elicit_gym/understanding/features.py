"""What a clause and a scenario have to do with each other, as numbers: one row for each fact or advice item.

A scenario is compiled once: its example questions and suggestions become rows of one matrix, its words a table from
word to fact. A clause then costs a few products of small matrices, and each word of it one look-up.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from elicit_gym.text import stem
from elicit_gym.understanding.clauses import WH_WORDS, Clause, split_clauses
from elicit_gym.understanding.vectors import word_vectors
from elicit_gym.understanding.word_table import WordTable, content_words

__all__ = [
    "ADVICE_FEATURES",
    "FACT_FEATURES",
    "AdviceTable",
    "Encoder",
    "FactTable",
    "example_clause",
    "static_encoder",
]

Floats: TypeAlias = NDArray[np.float32]
Encoder: TypeAlias = Callable[[Sequence[Clause]], Floats]
"""From clauses to their vectors of length 1: shape (N, D)."""

FACT_FEATURES = (
    "max_similarity", "mean_of_best_3", "similarity_to_statement", "coverage", "least_coverage", "salience",
    "mean_salience", "overlap", "margin_similarity", "margin_coverage", "margin_salience", "margin_overlap", "wh_share",
    "similarity_x_coverage", "scenario_similarity", "num_content_words", "terse", "probe", "unmatched",
)  # fmt: skip
ADVICE_FEATURES = (
    "similarity_to_good", "similarity_to_contrary", "difference", "mean_good", "mean_contrary", "coverage_good",
    "coverage_contrary", "coverage_difference", "negated", "agrees_with_good", "agrees_with_contrary", "overlap_good",
    "overlap_contrary", "overlap_difference", "similarity_to_topic", "is_question", "num_content_words", "unmatched",
)  # fmt: skip

MAX_CONTENT_WORDS = 16


def static_encoder(clauses: Sequence[Clause]) -> Floats:
    """Encode clauses by the package's own word vectors."""
    vectors = word_vectors()
    return np.stack([vectors.sentence(clause.words) for clause in clauses])


class _Exemplars:
    """Example sentences in groups, each a row of a matrix.

    Args:
        groups: the examples of each group.
        encode: makes their vectors.
    """

    def __init__(self, groups: Sequence[Sequence[Clause]], encode: Encoder) -> None:
        rows = [clause for group in groups for clause in group]
        longest = max([len(group) for group in groups] + [3])
        self._padded = np.zeros((len(groups), longest), dtype=np.intp)
        self._missing = np.full((len(groups), longest), 2.0, dtype=np.float32)
        start = 0
        for g, group in enumerate(groups):
            self._padded[g, : len(group)] = range(start, start + len(group))
            self._missing[g, : len(group)] = 0.0
            start += len(group)
        self._vectors = encode(rows) if rows else np.zeros((1, 1), np.float32)
        self._empty = not rows
        stems = [frozenset([stem(word) for word in clause.words]) for clause in rows] or [frozenset[str]()]
        self._place: dict[str, int] = {}
        for found in stems:
            for s in found:
                self._place.setdefault(s, len(self._place))
        # One row a stem, so that the examples that share some words are a sum of few rows.
        self._contains = np.zeros((max(1, len(self._place)), len(stems)), dtype=np.float32)
        for i, found in enumerate(stems):
            for s in found:
                self._contains[self._place[s], i] = word_vectors().weight(s)
        self._mass = self._contains.sum(axis=0)

    def similarity(self, vector: Floats) -> tuple[Floats, Floats]:
        """Return the best cosine and the mean of the best three, for each group."""
        scores = self._cosines(vector)
        scores.partition((scores.shape[1] - 3, scores.shape[1] - 1), axis=1)
        best3 = scores[:, -3:]
        return best3[:, 2], np.add.reduce(np.maximum(best3, 0.0), axis=1) * np.float32(1 / 3)

    def nearest(self, vector: Floats) -> NDArray[np.intp]:
        """Return the place of the most similar example in each group."""
        places: NDArray[np.intp] = self._cosines(vector).argmax(axis=1)
        return places

    def _cosines(self, vector: Floats) -> Floats:
        if self._empty:
            return np.zeros(self._padded.shape, dtype=np.float32)
        cosines: Floats = (self._vectors @ vector)[self._padded]
        cosines -= self._missing
        return cosines

    def overlap(self, stems: Iterable[str], mass: float) -> Floats:
        """Return the best weighted Dice overlap of stems for each group."""
        place = self._place
        at = [place[s] for s in stems if s in place]
        if not at:
            return np.zeros(len(self._padded), dtype=np.float32)
        dice = np.add.reduce(self._contains[at], axis=0)
        dice /= self._mass + np.float32(mass + 1e-6)
        best: Floats = np.maximum.reduce(dice[self._padded] - self._missing, axis=1)
        return np.maximum(2 * best, 0.0)


class _Read(NamedTuple):
    vector: Floats
    content: list[str]
    weights: Floats
    stems: frozenset[str]
    mass: float


def _read(clause: Clause, encode: Encoder) -> _Read:
    vectors = word_vectors()
    words = clause.words
    content = content_words(words)[:MAX_CONTENT_WORDS]
    stems = frozenset([stem(word) for word in words])
    vector = vectors.sentence(words) if encode is static_encoder else encode([clause])[0]
    weights = np.array([vectors.weight(word) for word in content], dtype=np.float32)
    return _Read(vector, content, weights, stems, sum([vectors.weight(s) for s in stems]))


def example_clause(sentence: str) -> Clause:
    """Return an example as it will be compared: its first question, or all of it where it has none."""
    clauses = split_clauses(sentence)
    asked = next((clause for clause in clauses if clause.form == "question"), None)
    return asked if asked is not None else _whole(sentence)


def _whole(sentence: str) -> Clause:
    clauses = split_clauses(sentence)
    words = tuple([word for clause in clauses for word in clause.words])
    return Clause("statement", sentence, words, None, any(clause.negated for clause in clauses))


def _margins(scores: Floats) -> Floats:
    """Return each score less the best of the others in its row.

    Args:
        scores: shape (K, N).

    Returns:
        Shape (K, N).
    """
    if scores.shape[1] < 2:
        return scores
    top = np.partition(scores, -2, axis=1)[:, -2:]
    first, second = top[:, 1:], top[:, :1]
    return np.where(scores == first, scores - second, scores - first)


class FactTable:
    """The facts of one scenario, ready to be compared with clauses.

    Args:
        questions: for each fact, questions that ask for it.
        statements: for each fact, what it says (statement and disclosures).
        encode: makes vectors of clauses.
    """

    def __init__(
        self,
        questions: Sequence[Sequence[str]],
        statements: Sequence[Sequence[str]],
        encode: Encoder = static_encoder,
    ) -> None:
        self._encode = encode
        asked = [[example_clause(question) for question in group] for group in questions]
        told = [[_whole(sentence) for sentence in group] for group in statements]
        self._exemplars = _Exemplars(asked, encode)
        self._words = WordTable([[c.words for c in (*a, *t)] for a, t in zip(asked, told, strict=True)])
        means = [encode(group).mean(axis=0) for group in told]
        self._told = np.stack([mean / max(float(np.linalg.norm(mean)), 1e-6) for mean in means])
        shares = np.full((len(questions), len(WH_WORDS)), 0.25, dtype=np.float32)
        for j, group in enumerate(asked):
            for clause in group:
                shares[j, WH_WORDS.index(clause.wh or "whether")] += 1
        self._wh = shares / shares.sum(axis=1, keepdims=True)

    def features(self, clause: Clause) -> Floats:
        """Return one row of `FACT_FEATURES` for each fact.

        Returns:
            Shape (num_facts, len(FACT_FEATURES)).
        """
        read = _read(clause, self._encode)
        count = len(self._told)
        scores = np.zeros((8, count), dtype=np.float32)
        scores[0], scores[4] = self._exemplars.similarity(read.vector)
        unmatched = 0.0
        if read.content:
            matches = np.stack([self._words.match(word) for word in read.content])
            covers = matches[:, 0]
            shares = read.weights / (np.add.reduce(read.weights) + np.float32(1e-6))
            scores[1] = shares @ covers
            scores[2] = np.maximum.reduce(matches[:, 1], axis=0)
            scores[5] = shares @ matches[:, 1]
            gaps = (1.0 - covers) * read.weights[:, None]
            scores[6] = 1.0 - np.maximum.reduce(gaps, axis=0)
            unmatched = float(np.maximum.reduce(np.minimum.reduce(gaps, axis=1)))
        scores[3] = self._exemplars.overlap(read.stems, read.mass)
        rows = np.empty((count, len(FACT_FEATURES)), dtype=np.float32)
        rows[:, 0] = scores[0]
        rows[:, 1] = scores[4]
        rows[:, 2] = self._told @ read.vector
        rows[:, 3] = scores[1]
        rows[:, 4] = scores[6]
        rows[:, 5] = scores[2]
        rows[:, 6] = scores[5]
        rows[:, 7] = scores[3]
        rows[:, 8:12] = _margins(scores[:4]).T
        rows[:, 12] = self._wh[:, WH_WORDS.index(clause.wh or "whether")]
        rows[:, 13] = scores[0] * scores[1]
        rows[:, 14] = np.maximum.reduce(scores[0])
        rows[:, 15] = min(len(read.content), 8) / 8
        rows[:, 16] = len(clause.words) <= 2
        rows[:, 17] = clause.probe is not None
        rows[:, 18] = unmatched
        return rows


class AdviceTable:
    """The advice items of one scenario, ready to be compared with clauses.

    Args:
        good: for each item, suggestions that meet it.
        contrary: for each item, suggestions on the same object against what the user needs.
        topics: for each item, its topic and question.
        encode: makes vectors of clauses.
    """

    def __init__(
        self,
        good: Sequence[Sequence[str]],
        contrary: Sequence[Sequence[str]],
        topics: Sequence[Sequence[str]],
        encode: Encoder = static_encoder,
    ) -> None:
        self._encode = encode
        self._good_clauses = [[_whole(sentence) for sentence in group] for group in good]
        self._contrary_clauses = [[_whole(sentence) for sentence in group] for group in contrary]
        named = [[_whole(topic) for topic in group] for group in topics]
        self._good, self._contrary = _Exemplars(self._good_clauses, encode), _Exemplars(self._contrary_clauses, encode)
        # Good and contrary ones in one table, so that a word is looked up once: first the good groups, then the others.
        self._words = WordTable(
            [
                *[[c.words for c in (*g, *t)] for g, t in zip(self._good_clauses, named, strict=True)],
                *[[c.words for c in group] for group in self._contrary_clauses],
            ]
        )
        means = [encode(group).mean(axis=0) for group in named]
        self._topics = np.stack([mean / max(float(np.linalg.norm(mean)), 1e-6) for mean in means])

    def features(self, clause: Clause) -> Floats:
        """Return one row of `ADVICE_FEATURES` for each advice item.

        Returns:
            Shape (num_items, len(ADVICE_FEATURES)).
        """
        read = _read(clause, self._encode)
        good, mean_good = self._good.similarity(read.vector)
        contrary, mean_contrary = self._contrary.similarity(read.vector)
        at_good, at_contrary = self._good.nearest(read.vector), self._contrary.nearest(read.vector)
        contrary = np.maximum(contrary, -1.0)
        count = len(self._topics)
        cover_good = cover_contrary = np.zeros(count, dtype=np.float32)
        unmatched = 0.0
        if read.content:
            shares = read.weights / (np.add.reduce(read.weights) + np.float32(1e-6))
            covers = np.stack([self._words.match(word)[0] for word in read.content])
            cover_good, cover_contrary = np.split(shares @ covers, 2)
            unmatched = float(((1.0 - covers[:, :count]) * read.weights[:, None]).min(axis=1).max())
        overlap_good = self._good.overlap(read.stems, read.mass)
        overlap_contrary = self._contrary.overlap(read.stems, read.mass)
        rows = np.empty((count, len(ADVICE_FEATURES)), dtype=np.float32)
        rows[:, 0] = good
        rows[:, 1] = contrary
        rows[:, 2] = good - contrary
        rows[:, 3] = mean_good
        rows[:, 4] = mean_contrary
        rows[:, 5] = cover_good
        rows[:, 6] = cover_contrary
        rows[:, 7] = cover_good - cover_contrary
        rows[:, 8] = clause.negated
        for i in range(count):
            rows[i, 9] = _agrees(clause, self._good_clauses[i], int(at_good[i]))
            rows[i, 10] = _agrees(clause, self._contrary_clauses[i], int(at_contrary[i]))
        rows[:, 11] = overlap_good
        rows[:, 12] = overlap_contrary
        rows[:, 13] = overlap_good - overlap_contrary
        rows[:, 14] = self._topics @ read.vector
        rows[:, 15] = clause.form == "question"
        rows[:, 16] = min(len(read.content), 12) / 12
        rows[:, 17] = unmatched
        return rows


def _agrees(clause: Clause, examples: Sequence[Clause], at: int) -> float:
    return 0.0 if at >= len(examples) else 1.0 if examples[at].negated == clause.negated else -1.0
