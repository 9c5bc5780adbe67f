"""Log probabilities of recorded actions, as a column that survives every export."""

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from elicit_gym.agents.baselines import RandomQuestions
from elicit_gym.errors import SettingError
from elicit_gym.offline import OfflineDataset, load_dataset
from elicit_gym.offline.exports import from_huggingface, to_huggingface
from elicit_gym.offline.log_probs import PolicyView, score_episodes, with_log_probs
from elicit_gym.rollout.collect import collect_episodes
from elicit_gym.types import ChatHistory


class Recorder:
    """Gives the number of messages that it saw, as a log probability."""

    name = "recorder"

    def __init__(self) -> None:
        self.seen: list[ChatHistory] = []

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return "?"

    def action_log_probs(self, histories: Sequence[ChatHistory], actions: Sequence[str]) -> list[float]:
        self.seen += histories
        return [-float(len(history)) for history in histories]


@pytest.fixture(scope="module")
def interviews() -> OfflineDataset:
    return load_dataset("sample/all-v1", reward="reply_length")


@pytest.fixture(scope="module")
def played() -> OfflineDataset:
    return OfflineDataset.from_records(collect_episodes(RandomQuestions(), repeats=1, env_kwargs={"split": "test"})[:8])


def test_every_action_is_scored_on_what_windows_show(interviews: OfflineDataset) -> None:
    policy = Recorder()
    scored = with_log_probs(interviews, policy)
    assert [len(e.behaviour_log_probs or ()) for e in scored] == [len(e) for e in interviews]
    assert all(history[0].role == "system" and len(history) <= 6 for history in policy.seen)
    window = next(interviews.windows())
    assert tuple(window.context) in policy.seen


def test_in_infoquest_a_policy_sees_all_and_no_system_line(played: OfflineDataset) -> None:
    policy = Recorder()
    list(score_episodes(policy, played))
    assert max(len(history) for history in policy.seen) > 6
    assert all(history[0].role == "user" for history in policy.seen)
    found = with_log_probs(played, RandomQuestions())
    assert {p for e in found for p in e.behaviour_log_probs or ()} == {-math.log(10)}


@pytest.mark.parametrize("view", [PolicyView(context=2, system_line=True), PolicyView(context=None, system_line=False)])
def test_views(interviews: OfflineDataset, view: PolicyView) -> None:
    for history in view.histories(interviews[0]):
        assert (bool(history) and history[0].role == "system") == view.system_line
        assert view.context is None or len(history) <= 3


def test_the_column_survives(tmp_path: Path, played: OfflineDataset) -> None:
    scored = with_log_probs(played, RandomQuestions())
    assert list(OfflineDataset.open(scored.save(tmp_path / "d.arrow"))) == list(scored)
    assert list(from_huggingface(to_huggingface(scored))) == list(scored)
    column = scored.to_d4rl()["behaviour_log_probs"]
    assert column.dtype == np.float64
    assert len(column) == sum(map(len, scored))
    assert "behaviour_log_probs" not in played.to_d4rl()


def test_a_file_from_before_the_column_opens(tmp_path: Path, played: OfflineDataset) -> None:
    import pyarrow as pa

    path = played.save(tmp_path / "d.arrow")
    table = pa.ipc.open_file(str(path)).read_all().drop_columns(["behaviour_log_probs"])
    with pa.OSFile(str(tmp_path / "old.arrow"), "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        for batch in table.to_batches():
            writer.write_batch(batch)
    assert list(OfflineDataset.open(tmp_path / "old.arrow")) == list(played)


def test_a_policy_that_cannot_say() -> None:
    from elicit_gym.agents.baselines import AskOne

    with pytest.raises(SettingError, match="'ask-one': expected a policy that knows the probabilities"):
        list(score_episodes(AskOne(), []))
