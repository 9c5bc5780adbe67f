"""A Minari dataset says all that Minari asks for, and its environment comes back."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium as gym
import pytest

from elicit_gym.agents.baselines import AskOne, RandomQuestions
from elicit_gym.offline import OfflineDataset, load_dataset
from elicit_gym.offline.exports import from_minari, to_minari
from elicit_gym.offline.minari_metadata import built_replay_spec
from elicit_gym.rollout.collect import collect_policies

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture
def datasets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    return tmp_path


@pytest.fixture(scope="module")
def interviews() -> OfflineDataset:
    return load_dataset("sample/all-v1", reward="reply_length")


@pytest.fixture(scope="module")
def played() -> OfflineDataset:
    records = collect_policies([RandomQuestions(), AskOne()], env_kwargs={"split": "test"})[0]
    return OfflineDataset.from_records(records)


def _loaded(dataset_id: str) -> Any:
    import minari

    return minari.load_dataset(dataset_id)


def test_metadata_are_complete(datasets: Path, interviews: OfflineDataset) -> None:
    to_minari(interviews, "elicit-gym/interviews-v0", author="Ines Falk", contact="ines@example.org")
    metadata = _loaded("elicit-gym/interviews-v0").storage.metadata
    assert metadata["author"] == {"Ines Falk"}
    assert metadata["author_email"] == {"ines@example.org"}
    assert metadata["algorithm_name"] == "human"
    assert metadata["code_permalink"].startswith("https://pypi.org/project/elicit-gym/")
    assert metadata["requirements"] == ["elicit-gym==0.1.0"]
    mean = sum(sum(episode.rewards) for episode in interviews) / len(interviews)
    assert (metadata["ref_min_score"], metadata["ref_max_score"]) == (0.0, pytest.approx(mean))


def test_interviews_are_recovered_as_their_replay(datasets: Path, interviews: OfflineDataset) -> None:
    made = to_minari(interviews, "elicit-gym/interviews-v0")
    for env in (made.recover_environment(), made.recover_environment(eval_env=True)):
        env.reset(seed=0, options={"episode_id": interviews[0].id})
        assert env.step("Why?")[4]["episode_id"] == interviews[0].id


def test_episodes_of_infoquest_are_recovered_as_infoquest(datasets: Path, played: OfflineDataset) -> None:
    import minari

    made = to_minari(played, "elicit-gym/played-v0")
    assert made.storage.metadata["algorithm_name"] == "ask-one, random"
    assert made.recover_environment().spec.id == "elicit_gym/InfoQuest-v0"
    assert minari.get_normalized_score(made, __import__("numpy").array([0.0, 2.5, 5.0])).tolist() == [0.0, 0.5, 1.0]
    assert list(from_minari(made)) == list(played)


def test_an_environment_of_your_own_choice(datasets: Path, played: OfflineDataset) -> None:
    from dataclasses import replace

    spec = replace(gym.spec("elicit_gym/InfoQuest-v0"), kwargs={"split": "test", "max_turns": 4})
    made = to_minari(played, "elicit-gym/played-v0", env=spec, algorithm="baselines")
    assert made.recover_environment().spec.kwargs["max_turns"] == 4
    assert made.storage.metadata["algorithm_name"] == "baselines"


def test_a_corpus_of_your_own_has_none_and_no_warning(datasets: Path, interviews: OfflineDataset) -> None:
    made = to_minari(OfflineDataset(list(interviews), "mine"), "elicit-gym/mine-v0")
    assert made.env_spec is None


def test_text_stays_text(datasets: Path, interviews: OfflineDataset) -> None:
    made = to_minari(interviews, "elicit-gym/interviews-v0")
    for episode in made.iterate_episodes():
        assert {type(value) for value in (*episode.observations, *episode.actions)} == {str}
        assert not any(isinstance(value, bytes | str) for values in episode.infos.values() for value in values)
    for metadata in made.storage.get_episode_metadata(made.episode_indices):
        assert type(metadata["episode"]) is str


def test_a_long_conversation_comes_back_whole(datasets: Path, interviews: OfflineDataset) -> None:
    from dataclasses import replace

    first = interviews[0]
    longest = replace(
        first, messages=first.messages * 100, turn_ids=tuple(range(100 * len(first.messages))),
        rewards=first.rewards * 100, returns_to_go=first.returns_to_go * 100,
    )  # fmt: skip
    assert sum(len(message.content) for message in longest.messages) > 100_000
    assert list(from_minari(to_minari(OfflineDataset([longest, first]), "elicit-gym/long-v0"))) == [longest, first]


def test_another_program_recovers_it_without_importing_us(datasets: Path, played: OfflineDataset) -> None:
    to_minari(played, "elicit-gym/played-v0")
    program = (
        "import json, minari; env = minari.load_dataset('elicit-gym/played-v0').recover_environment();"
        "print(json.dumps(env.reset(seed=1)[1]['scenario_id']))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_a_built_file_is_recovered_as_the_replay_of_its_corpus(tmp_path: Path) -> None:
    built = tmp_path / "d.arrow"
    assert built_replay_spec(built) is None
    facts = {
        "corpus": "sample",
        "domain": None,
        "reward": "factual_novelty(some_model)",
        "gamma": 0.5,
        "published": True,
    }
    (tmp_path / "d.arrow.json").write_text(json.dumps(facts), encoding="utf-8")
    spec = built_replay_spec(built)
    assert spec is not None
    assert spec.kwargs == {
        "dataset": "sample/all-v1", "split": None, "reward": "factual_novelty",
        "dataset_kwargs": {"gamma": 0.5, "published": True, "ner_model": "some_model"},
    }  # fmt: skip
    for strange in ({"corpus": "mine"}, {"reward": "os:getcwd"}, {"domain": "nowhere"}):
        (tmp_path / "d.arrow.json").write_text(json.dumps({**facts, **strange}), encoding="utf-8")
        assert built_replay_spec(built) is None
