"""A corpus: splits, the shuffled control, slices."""

from collections import Counter

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline import load_corpus
from elicit_gym.offline.schema import DOMAINS, dialogue_from_row
from tests.offline.samples import ROWS


def test_own_splits_are_stratified_seeded_and_share_no_dialogue() -> None:
    many = [dialogue_from_row({**row, "dialogue_id": f"{row['dialogue_id']}-{i}"}) for row in ROWS for i in range(20)]
    from elicit_gym.offline.corpus import Corpus

    corpus = Corpus(many).with_splits(seed=3)
    assert corpus == Corpus(many).with_splits(seed=3)
    assert corpus != Corpus(many).with_splits(seed=4)
    for domain in DOMAINS:
        counts = Counter(d.split for d in corpus.filter(domain=domain))
        assert counts == {"train": 48, "dev": 6, "test": 6}
    twice = Corpus([*many, *many]).with_splits(seed=3)
    by_id: dict[str, set[str | None]] = {}
    for dialogue in twice:
        by_id.setdefault(dialogue.dialogue_id, set()).add(dialogue.split)
    assert all(len(splits) == 1 for splits in by_id.values())


def test_the_shuffled_control_keeps_what_is_said_and_moves_it() -> None:
    corpus = load_corpus("sample")
    control = corpus.shuffled(seed=1)
    assert control == corpus.shuffled(seed=1)
    assert control != corpus.shuffled(seed=2)
    for before, after in zip(corpus, control, strict=True):
        assert [t.role for t in before.turns] == [t.role for t in after.turns]
        assert sorted(t.utterance for t in before.turns) == sorted(t.utterance for t in after.turns)
        assert before.turns != after.turns


def test_slicing_and_sampling() -> None:
    corpus = load_corpus("sample")
    assert [d.dialogue_id for d in corpus[2:4]] == [corpus[2].dialogue_id, corpus[3].dialogue_id]
    assert corpus.sample(3, seed=1) == corpus.sample(3, seed=1)
    with pytest.raises(SettingError, match="expected at most 12"):
        corpus.sample(13)
