"""Licences."""

from collections import Counter

from elicit_gym.offline import load_corpus
from elicit_gym.offline.licences import licence_of
from elicit_gym.offline.schema import dialogue_from_row
from tests.offline.samples import FOLDER, ROWS, needs_sample


@needs_sample
def test_licences_and_the_commercial_subset() -> None:
    corpus = load_corpus(path=FOLDER)
    counts = Counter(licence_of(d) for d in corpus)
    assert counts == {"Public Domain": 15, "CC BY-NC 4.0": 7, "CC0 1.0": 3, "CC BY 4.0": 1}
    commercial = corpus.filter(commercial=True)
    assert len(commercial) == 19
    assert not any("oyez" in d.collection for d in commercial)
    assert len(corpus.filter(licence="CC BY-NC 4.0")) == 7


def test_unknown_licences_are_not_commercial() -> None:
    row = {**ROWS[0], "collection": "something new"}
    assert licence_of(dialogue_from_row(row)) == "unknown"
    assert licence_of(dialogue_from_row({**row, "metadata": {"licence": "CC BY 4.0"}})) == "CC BY 4.0"
