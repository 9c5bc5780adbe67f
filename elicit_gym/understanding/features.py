"""What a clause and a scenario have to do with each other, as numbers: one row for each fact or advice item.

A scenario is compiled once: its example questions and suggestions become rows of one matrix, its words a table from
word to fact. A clause then costs a few products of small matrices, and each word of it one look-up.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from elicit_gym.text import FUNCTION_WORDS, stem
from elicit_gym.understanding.clauses import WH_WORDS, Clause, split_clauses
from elicit_gym.understanding.vectors import DIMENSIONS, word_vectors

__all__ = ["ADVICE_FEATURES", "FACT_FEATURES", "Exemplars", "FactTable", "AdviceTable"]

Floats = NDArray[np.float32]

FACT_FEATURES = (
    "max_similarity", "mean_of_best_3", "similarity_to_statement", "coverage", "least_coverage", "salience",
    "mean_salience", "wh_share", "margin_similarity", "margin_coverage", "margin_salience", "overlap", "margin_overlap",
    "similarity_x_coverage", "scenario_similarity", "num_content_words", "terse", "probe", "unmatched", "has_exemplars",
)  # fmt: skip
ADVICE_FEATURES = (
    "similarity_to_good", "similarity_to_contrary", "difference", "mean_good", "mean_contrary", "coverage_good",
    "coverage_contrary", "coverage_difference", "negated", "agrees_with_good", "agrees_with_contrary", "overlap_good",
    "overlap_contrary", "overlap_difference", "similarity_to_topic", "is_question", "num_content_words", "unmatched",
    "has_exemplars",
)  # fmt: skip

_MAX_CACHED_WORDS = 8_192
_GENERIC = frozenset(
    """more bit little detail details situation specific specifically information info context background else currently
    current please maybe perhaps help understand know tell exactly actually usually generally roughly about there something
    anything thing things""".split()
)


def content_words(words: Iterable[str]) -> list[str]:
    """Return the words that carry a topic, each once, in order; all of them where none does."""
    kept = [word for word in dict.fromkeys(words) if word not in FUNCTION_WORDS and word not in _GENERIC]
    return kept


def _trigrams(word: str) -> frozenset[str]:
    padded = f"^{word}$"
    return frozenset([padded[i : i + 3] for i in range(len(padded) - 2)])


class _Words:
    """The content words of several groups of texts, and how well any word matches each group.

    Args:
        groups: the texts of each group, as lists of words.
    """

    def __init__(self, groups: Sequence[Sequence[Sequence[str]]]) -> None:
        vectors = word_vectors()
        in_group = [Counter(stem(w) for text in texts for w in set(content_words(text))) for texts in groups]
        spoken: dict[str, str] = {}
        for texts in groups:
            for text in texts:
                for word in content_words(text):
                    spoken.setdefault(stem(word), word)
        total = Counter[str]()
        for counts in in_group:
            total.update(counts)
        self.num_groups = len(groups)
        rows: list[tuple[str, float]] = []
        starts, shares = [], []
        for counts in in_group:
            starts.append(len(rows))
            entries = list(counts.items()) or [("", 0)]
            for stemmed, count in entries:
                rows.append((stemmed, count))
                shares.append(count / total[stemmed] * min(1.0, 0.4 + 0.3 * count) if count else 0.0)
        self._stems: dict[str, list[int]] = {}
        for i, (stemmed, _) in enumerate(rows):
            self._stems.setdefault(stemmed, []).append(i)
        self._starts = np.array(starts)
        self._shares = np.array(shares, dtype=np.float32)
        self._vectors = np.stack(
            [vectors.vector(spoken[stemmed])[0] if stemmed else np.zeros(DIMENSIONS, np.float32) for stemmed, _ in rows]
        )
        self._grams = [(i, _trigrams(spoken[s])) for s, at in self._stems.items() if len(s) >= 4 for i in at]
        self._cache: dict[str, tuple[Floats, Floats]] = {}

    def match(self, word: str) -> tuple[Floats, Floats]:
        """Return how well a word matches each group's nearest word (0 to 1), and how much it points to that group."""
        found = self._cache.get(word)
        if found is None:
            if len(self._cache) >= _MAX_CACHED_WORDS:
                self._cache.clear()
            found = self._cache[word] = self._match(word)
        return found

    def _match(self, word: str) -> tuple[Floats, Floats]:
        vectors = word_vectors()
        scores = np.clip(self._vectors @ vectors.vector(word)[0], 0.0, 0.95)
        exact = self._stems.get(stem(word))
        if exact:
            scores[exact] = 1.0
        elif word not in vectors and len(word) >= 4:
            grams = _trigrams(word)
            for i, others in self._grams:
                dice = 2 * len(grams & others) / (len(grams) + len(others))
                if dice > 0.45:
                    scores[i] = max(scores[i], 0.55 + 0.45 * dice)
        sharp = scores**4
        best = np.maximum.reduceat(scores, self._starts)
        salience = np.maximum.reduceat(sharp * self._shares, self._starts)
        return best.astype(np.float32), salience.astype(np.float32)


class Exemplars:
    """Example sentences in groups, each a row of a matrix.

    Args:
        groups: the example sentences of each group, as words.
    """

    def __init__(self, groups: Sequence[Sequence[Sequence[str]]]) -> None:
        vectors = word_vectors()
        longest = max([len(group) for group in groups] + [3])
        rows: list[Floats] = []
        self._stems: list[frozenset[str]] = []
        padded = np.zeros((len(groups), longest), dtype=np.intp)
        self._missing = np.ones((len(groups), longest), dtype=np.float32)
        for g, group in enumerate(groups):
            for k, sentence in enumerate(group):
                padded[g, k] = len(rows)
                self._missing[g, k] = 0.0
                rows.append(vectors.sentence(sentence))
                self._stems.append(frozenset(stem(w) for w in sentence))
        self._padded = padded
        self._matrix = np.stack(rows) if rows else np.zeros((1, DIMENSIONS), np.float32)
        self._vocabulary: dict[str, int] = {}
        for stems in self._stems:
            for s in stems:
                self._vocabulary.setdefault(s, len(self._vocabulary))
        weights = np.array([_stem_weight(s) for s in self._vocabulary] or [0.0], dtype=np.float32)
        self._contains = np.zeros((max(1, len(rows)), max(1, len(self._vocabulary))), dtype=np.float32)
        for i, stems in enumerate(self._stems):
            for s in stems:
                self._contains[i, self._vocabulary[s]] = weights[self._vocabulary[s]]
        self._mass = self._contains.sum(axis=1)

    def similarity(self, vector: Floats) -> tuple[Floats, Floats, NDArray[np.intp]]:
        """Return the best cosine, the mean of the best three, and the place of the best, for each group."""
        scores = (self._matrix @ vector)[self._padded] - 2.0 * self._missing
        at = scores.argmax(axis=1)
        ordered = np.partition(scores, -3, axis=1)[:, -3:]
        return ordered.max(axis=1), np.maximum(ordered, 0.0).mean(axis=1), at

    def overlap(self, stems: Iterable[str], mass: float) -> Floats:
        """Return the best weighted Dice overlap of stems for each group."""
        at = [self._vocabulary[s] for s in stems if s in self._vocabulary]
        if not at:
            return np.zeros(len(self._padded), dtype=np.float32)
        shared = self._contains[:, at].sum(axis=1)
        dice = 2 * shared / (self._mass + mass + 1e-6)
        return (dice[self._padded] * (1.0 - self._missing)).max(axis=1)


def _stem_weight(stemmed: str) -> float:
    return word_vectors().vector(stemmed)[1]


class _Read(NamedTuple):
    vector: Floats
    content: list[str]
    weights: Floats
    stems: frozenset[str]
    mass: float


def _read(words: Sequence[str]) -> _Read:
    vectors = word_vectors()
    content = content_words(words)[:16]
    stems = frozenset([stem(w) for w in words])
    return _Read(
        vectors.sentence(words),
        content,
        np.array([vectors.vector(w)[1] for w in content], dtype=np.float32),
        stems,
        float(sum([_stem_weight(s) for s in stems])),
    )


def example_words(sentence: str) -> tuple[str, ...]:
    """Return the words of an example as they will be compared: those of its first question, or all of them."""
    clauses = split_clauses(sentence)
    asked = next((clause for clause in clauses if clause.form == "question"), None)
    if asked is not None:
        return asked.words
    return tuple(word for clause in clauses for word in clause.words)


class FactTable:
    """The facts of one scenario, ready to be compared with clauses.

    Args:
        questions: for each fact, questions that ask for it.
        statements: for each fact, what it says (statement and disclosures).
    """

    def __init__(self, questions: Sequence[Sequence[str]], statements: Sequence[Sequence[str]]) -> None:
        asked = [[example_words(q) for q in group] for group in questions]
        told = [[tuple(w for c in split_clauses(s) for w in c.words) for s in group] for group in statements]
        self._exemplars = Exemplars(asked)
        self._words = _Words([[*a, *t] for a, t in zip(asked, told, strict=True)])
        self._told = np.stack([word_vectors().sentence([w for s in group for w in s]) for group in told])
        shares = np.full((len(questions), len(WH_WORDS)), 0.25, dtype=np.float32)
        for j, group in enumerate(questions):
            for question in group:
                wh = next((c.wh for c in split_clauses(question) if c.wh), "whether")
                shares[j, WH_WORDS.index(wh)] += 1
        self._wh = shares / shares.sum(axis=1, keepdims=True)
        self._has = np.array([float(bool(group)) for group in questions], dtype=np.float32)

    def features(self, clause: Clause) -> Floats:
        """Return one row of `FACT_FEATURES` for each fact.

        Returns:
            Shape (num_facts, len(FACT_FEATURES)).
        """
        read = _read(clause.words)
        best, mean3, _ = self._exemplars.similarity(read.vector)
        told = self._told @ read.vector
        count = len(self._has)
        if read.content:
            matches = [self._words.match(word) for word in read.content]
            covers = np.stack([m[0] for m in matches])
            saliences = np.stack([m[1] for m in matches])
            mass = float(read.weights.sum()) + 1e-6
            coverage = (read.weights @ covers) / mass
            least = (1.0 - (1.0 - covers) * read.weights[:, None]).min(axis=0)
            salience = saliences.max(axis=0)
            mean_salience = (read.weights @ saliences) / mass
            unmatched = float(((1.0 - covers.max(axis=1)) * read.weights).max())
        else:
            coverage = least = salience = mean_salience = np.zeros(count, dtype=np.float32)
            unmatched = 0.0
        overlap = self._exemplars.overlap(read.stems, read.mass)
        rows = np.empty((count, len(FACT_FEATURES)), dtype=np.float32)
        rows[:, 0] = best
        rows[:, 1] = mean3
        rows[:, 2] = told
        rows[:, 3] = coverage
        rows[:, 4] = least
        rows[:, 5] = salience
        rows[:, 6] = mean_salience
        rows[:, 7] = self._wh[:, WH_WORDS.index(clause.wh or "whether")]
        rows[:, 8] = _margin(best)
        rows[:, 9] = _margin(coverage)
        rows[:, 10] = _margin(salience)
        rows[:, 11] = overlap
        rows[:, 12] = _margin(overlap)
        rows[:, 13] = best * coverage
        rows[:, 14] = best.max()
        rows[:, 15] = min(len(read.content), 8) / 8
        rows[:, 16] = len(clause.words) <= 2
        rows[:, 17] = clause.probe
        rows[:, 18] = unmatched
        rows[:, 19] = self._has
        return rows


def _margin(scores: Floats) -> Floats:
    """Return each score less the best of the others."""
    if len(scores) < 2:
        return scores
    first = int(scores.argmax())
    top = scores[first]
    second = max(scores[:first].max(initial=-9.0), scores[first + 1 :].max(initial=-9.0))
    margins = scores - top
    margins[first] = top - second
    return margins


class AdviceTable:
    """The advice items of one scenario, ready to be compared with clauses.

    Args:
        good: for each item, suggestions that meet it.
        contrary: for each item, suggestions on the same object against what the user needs.
        topics: for each item, its topic and question.
    """

    def __init__(
        self, good: Sequence[Sequence[str]], contrary: Sequence[Sequence[str]], topics: Sequence[Sequence[str]]
    ) -> None:
        self._good_clauses = [[_advice_clause(s) for s in group] for group in good]
        self._contrary_clauses = [[_advice_clause(s) for s in group] for group in contrary]
        good_words = [[c.words for c in group] for group in self._good_clauses]
        contrary_words = [[c.words for c in group] for group in self._contrary_clauses]
        self._good, self._contrary = Exemplars(good_words), Exemplars(contrary_words)
        topic_words = [[example_words(t) for t in group] for group in topics]
        self._good_vocabulary = _Words([[*g, *t] for g, t in zip(good_words, topic_words, strict=True)])
        self._contrary_vocabulary = _Words(contrary_words)
        self._topics = np.stack([word_vectors().sentence([w for s in group for w in s]) for group in topic_words])
        self._has = np.array([float(bool(group)) for group in good], dtype=np.float32)

    def features(self, clause: Clause) -> Floats:
        """Return one row of `ADVICE_FEATURES` for each advice item.

        Returns:
            Shape (num_items, len(ADVICE_FEATURES)).
        """
        read = _read(clause.words)
        good, mean_good, at_good = self._good.similarity(read.vector)
        contrary, mean_contrary, at_contrary = self._contrary.similarity(read.vector)
        contrary = np.maximum(contrary, -1.0)
        count = len(self._has)
        cover_good = cover_contrary = np.zeros(count, dtype=np.float32)
        unmatched = 0.0
        if read.content:
            mass = float(read.weights.sum()) + 1e-6
            covers = np.stack([self._good_vocabulary.match(w)[0] for w in read.content])
            cover_good = (read.weights @ covers) / mass
            cover_contrary = (
                read.weights @ np.stack([self._contrary_vocabulary.match(w)[0] for w in read.content])
            ) / mass
            unmatched = float(((1.0 - covers.max(axis=1)) * read.weights).max())
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
        rows[:, 18] = self._has
        return rows


def _agrees(clause: Clause, examples: Sequence[Clause], at: int) -> float:
    return 0.0 if at >= len(examples) else 1.0 if examples[at].negated == clause.negated else -1.0


def _advice_clause(sentence: str) -> Clause:
    clauses = split_clauses(sentence)
    words = tuple(word for clause in clauses for word in clause.words)
    return Clause("statement", sentence, words, None, any(clause.negated for clause in clauses))
