"""Shares of a corpus for training, choosing and testing."""

import warnings
from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline.corpus import Corpus
from elicit_gym.offline.schema import Dialogue, dialogue_from_row
from elicit_gym.offline.splits import MissingSplitsWarning, parse_shares
from tests.offline.samples import ROWS


def corpus_of(**sizes: int) -> Corpus:
    """Make a corpus with that many dialogues per domain, without splits."""
    first = dialogue_from_row(ROWS[0])
    made: list[Dialogue] = []
    for domain, size in sizes.items():
        made += [replace(first, dialogue_id=f"{domain}-{i}", domain=domain) for i in range(size)]
    return Corpus(made, "mine")


def counts(corpus: Corpus, **chosen: Any) -> dict[str, int]:
    return dict(Counter(d.split or "none" for d in corpus.filter(**chosen)))


@pytest.mark.parametrize(
    ("text", "shares"),
    [("80/10/10", (80, 10, 10)), ("70/30/0", (70, 30, 0)), ("33.4/33.3/33.3", (33.4, 33.3, 33.3)), (" 1/0/99", (1, 0, 99))],
)  # fmt: skip
def test_shares(text: str, shares: tuple[float, ...]) -> None:
    assert parse_shares(text) == shares


@pytest.mark.parametrize("text", ["80/10", "80/10/20", "0/50/50", "110/-5/-5", "a/b/c", "", "training", "nan/1/1"])
def test_what_is_no_share(text: str) -> None:
    with pytest.raises(SettingError, match="expected 'train', 'dev' or 'test', or three percentages"):
        parse_shares(text)


@pytest.mark.parametrize(
    ("size", "shares", "expected"),
    [
        (3, (80, 10, 10), {"train": 1, "dev": 1, "test": 1}),
        (10, (80, 10, 10), {"train": 8, "dev": 1, "test": 1}),
        (100, (70, 20, 10), {"train": 70, "dev": 20, "test": 10}),
        (3, (10, 10, 80), {"train": 1, "dev": 1, "test": 1}),
        (3, (1, 99, 0), {"train": 1, "dev": 2}),
        (10, (50, 0, 50), {"train": 5, "test": 5}),
        (2, (80, 10, 10), {"train": 2}),
    ],
)
def test_every_share_is_kept_and_something_trains(
    size: int, shares: tuple[float, float, float], expected: dict[str, int]
) -> None:
    made = corpus_of(talks=size).with_splits(5, shares)
    assert counts(made) == expected
    assert made == corpus_of(talks=size).with_splits(5, shares)


def test_domains_that_are_too_small_are_split_together() -> None:
    made = corpus_of(a=1, b=2, c=1, d=10).with_splits()
    assert counts(made, domain="d") == {"train": 8, "dev": 1, "test": 1}
    assert counts(made) == {"train": 10, "dev": 2, "test": 2}
    assert counts(corpus_of(a=1, b=1, c=1).with_splits()) == {"train": 1, "dev": 1, "test": 1}


def test_a_default_is_told() -> None:
    with pytest.warns(MissingSplitsWarning, match=r"split 80/10/10 by dialogue.*seed 0: 8 train, 1 dev, 1 test"):
        made = corpus_of(talks=10).with_some_splits()
    assert made == corpus_of(talks=10).with_splits(0)
    with pytest.warns(MissingSplitsWarning, match="Fewer than 3 dialogues cannot be in all parts"):
        corpus_of(talks=2).with_some_splits()


def test_splits_that_are_there_stay() -> None:
    made = corpus_of(talks=10).with_splits()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert made.with_some_splits() is made
    partly = Corpus([replace(made[0], split=None), *made[1:]], "partly")
    with pytest.warns(MissingSplitsWarning, match="1 of 10 dialogues have no split"):
        assert partly.with_some_splits() is partly
