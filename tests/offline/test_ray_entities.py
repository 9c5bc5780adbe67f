"""Entities over a Ray cluster are those of one process, in order, and kept alike."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from elicit_gym.errors import SettingError
from elicit_gym.offline import load_corpus, ray_entities
from elicit_gym.offline.entity_reader import EntityReader


@pytest.fixture(scope="module", autouse=True)
def cluster() -> Iterator[None]:
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR)
    yield
    ray.shutdown()


def test_they_are_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ray_entities, "CHUNK", 20)
    texts = [turn.utterance for dialogue in load_corpus("sample") for turn in dialogue.turns][:150]
    assert len(set(texts)) > 100
    spread = EntityReader(cache=tmp_path / "e.sqlite", on_ray=True)
    assert spread.entities(texts) == EntityReader().entities(texts)
    assert spread.num_read == len(set(texts))
    again = EntityReader(cache=tmp_path / "e.sqlite", on_ray=True)
    again.warm(texts)
    assert again.num_read == 0


def test_a_missing_pipeline_is_the_same_clear_error() -> None:
    with pytest.raises(SettingError, match="expected an installed pipeline"):
        EntityReader("en_no_such_model", on_ray=True).entities(["Anna went to Oslo."])
