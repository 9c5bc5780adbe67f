"""Whole dialogues from a dataset id, a built file or a run."""

from pathlib import Path

import pytest

from elicit_gym.agents.baselines import AskOne, RandomQuestions
from elicit_gym.errors import SettingError
from elicit_gym.offline import load_dataset
from elicit_gym.offline.ope.load import load_dialogues
from elicit_gym.rollout.collect import collect_policies


def test_from_an_id_and_from_a_file(tmp_path: Path) -> None:
    whole = load_dataset("sample/all-v1", reward="reply_length")
    assert list(load_dialogues("sample/all-v1", reward="reply_length")) == list(whole)
    path = str(whole.save(tmp_path / "d.arrow"))
    assert list(load_dialogues(path)) == list(whole)
    assert list(load_dialogues(path, "test")) == list(whole.filter(split="test"))
    with pytest.raises(SettingError, match="expected some in split 'dev', got none"):
        load_dialogues(str(whole.filter(split="test").save(tmp_path / "t.arrow")), "dev")


def test_from_a_run(tmp_path: Path) -> None:
    out = tmp_path / "run"
    collect_policies([RandomQuestions(), AskOne()], env_kwargs={"split": "test"}, out=out)
    found = load_dialogues(str(out), acted="random")
    assert {episode.id.split("/")[0] for episode in found} == {"random"}
    with pytest.raises(SettingError, match="expected one policy, got ask-one, random"):
        load_dialogues(str(out))
