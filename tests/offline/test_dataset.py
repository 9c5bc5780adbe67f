"""Episodes, windows, views, and the way back from every format."""

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from elicit_gym import collect_episodes
from elicit_gym.agents import load_policy
from elicit_gym.errors import SettingError, StorageError, UnknownNameError
from elicit_gym.offline import (
    OfflineDataset,
    list_datasets,
    load_corpus,
    load_dataset,
    qlearning_dataset,
    sequence_dataset,
)
from elicit_gym.offline.dialogue_rewards import ReplyLength
from elicit_gym.offline.episodes import OfflineEpisode, episode_of_dialogue
from elicit_gym.offline.exports import (
    check_minari_id,
    from_huggingface,
    from_minari,
    read_published,
    to_huggingface,
    to_minari,
    write_huggingface,
    write_published,
)
from elicit_gym.offline.returns import returns_to_go
from elicit_gym.offline.schema import Dialogue, DialogueTurn
from elicit_gym.offline.windows import WindowRules, make_windows, system_line, window_from_row, window_to_row
from elicit_gym.types import Message
from tests.conftest import SHARED
from tests.offline.samples import FOLDER, needs_sample

FINETUNING = SHARED / "yield-v1-small1pct-finetuning"


def dialogue(script: str, **more: Any) -> Dialogue:
    """Make a dialogue from lines such as ``E hello there``."""
    turns = [
        DialogueTurn(turn_id=i, speaker="", role="elicitor" if line[0] == "E" else "respondent", utterance=line[2:])
        for i, line in enumerate(script.strip().splitlines())
    ]
    settings = {
        "dialogue_id": "d", "domain": "oral_history", "collection": "c", "broad_source": "", "title": "",
        "elicitors": (), "respondents": (), "languages": (), **more,
    }  # fmt: skip
    return Dialogue(turns=tuple(turns), **settings)


TALK = dialogue("""
E one
E more
R a b c
R d
E two three
R e f
E four
""")


def test_the_papers_definition_on_merged_turns() -> None:
    episode = episode_of_dialogue(TALK, ReplyLength(), gamma=0.5)
    assert episode.actions == ("one more", "two three", "four")
    assert episode.rewards == (4, 2, 0)  # the merged reply as a whole; the last action has no answer
    assert episode.returns_to_go == (5, 2, 0)
    assert episode.turn_ids == (0, 2, 4, 5, 6)
    assert [len(o) for o in episode.observations()] == [0, 2, 4, 5]


def test_the_published_mode_takes_the_last_raw_turn_and_discounts_over_raw_turns() -> None:
    episode = episode_of_dialogue(TALK, ReplyLength(), gamma=0.5, published=True)
    assert episode.rewards == (1, 2)  # "d" and not "a b c d"; the last action, which nobody answers, is left out
    assert episode.returns_to_go == (1 + 0.5 * 2, 2)
    assert episode.messages[0].content == "one\n\nmore"
    assert [len(o) for o in episode.observations()] == [0, 2, 4]
    later = replace(TALK, turns=tuple(replace(turn, turn_id=turn.turn_id + 1) for turn in TALK.turns))
    published = episode_of_dialogue(later, ReplyLength(), gamma=0.5, published=True)
    assert published.turn_ids == episode.turn_ids == (0, 2, 4, 5)  # the place in the dialogue, not the turn's id
    plain = dialogue("E q\nR a b\nE q\nR c")
    one, other = (episode_of_dialogue(plain, ReplyLength(), published=p) for p in (True, False))
    assert one == other  # without neighbours of the same role the two modes are the same


def test_observations_are_windows_and_nothing_is_quadratic() -> None:
    long = dialogue("\n".join(f"{'ER'[i % 2]} turn {i}" for i in range(4000)))
    episode = episode_of_dialogue(long, ReplyLength())
    assert len(episode.observations(5)) == 2001
    assert [m.content for m in episode.observations(5)[1000]] == [f"turn {i}" for i in range(1995, 2000)]
    assert sum(len(t.observation) for t in episode.transitions()) < 5 * 2000
    with pytest.raises(IndexError):
        episode.observations()[2001]
    assert episode.observations()[-1] == episode.messages


SIX = """
R r0 is here
E e1 is here
R r2 is here
E e3 is here
R r4 is here
E e5 is here
R r6 is here
E no way
R r8 is here
E e9 is here now
"""


def test_window_rules_and_their_counts() -> None:
    episode = episode_of_dialogue(dialogue(SIX), ReplyLength())
    counts: Counter[str] = Counter()
    windows = list(make_windows([episode], WindowRules(), counts))
    assert [w.block_id for w in windows] == ["d:0", "d:4"]
    assert counts == {"actions": 5, "too_little_context": 2, "short_action": 1, "made": 2}
    first = windows[0]
    assert [m.role for m in first.messages] == ["system", *["user", "assistant"] * 3]
    assert first.messages[0].content == "Act as an information elicitation agent for oral history."
    assert (first.action, first.reward, first.step) == ("e5 is here", 3, 2)
    assert len(first.context) == 6
    short = list(make_windows([episode], WindowRules(size=2, min_action_words=1, with_system_line=False)))
    assert [w.block_id for w in short] == ["d:0", "d:2", "d:4", "d:6", "d:8"]
    assert len(list(make_windows([episode], WindowRules(max_tokens=20)))) == 0


@needs_sample
def test_block_ids_agree_with_a_count_by_hand_on_two_dialogues() -> None:
    # Counted by another way: roles as a string, runs by a regular expression, no code of the package.
    import re

    corpus = load_corpus(path=FOLDER)
    for dialogue_id in ("voa-news-00037", "jsc-oral-history-00763"):
        (one,) = corpus.filter(where=lambda d, i=dialogue_id: d.dialogue_id == i)  # type: ignore[misc]
        roles = "".join(turn.role[0] for turn in one.turns)
        runs = [(m.start(), m.end(), m[0][0]) for m in re.finditer(r"e+|r+", roles)]
        expected = []
        for i, (start, end, role) in enumerate(runs):
            said = " ".join(t.utterance for t in one.turns[start:end])
            if role == "e" and i >= 5 and len(said.split()) > 2:
                expected.append(f"{dialogue_id}:{one.turns[runs[i - 5][0]].turn_id}")
        dataset = OfflineDataset.from_dialogues([one], ReplyLength())
        assert [w.block_id for w in dataset.windows(WindowRules(max_tokens=None))] == expected
        assert expected


@needs_sample
def test_published_finetuning_rows_read_and_write_back_byte_for_byte(tmp_path: Path) -> None:
    for path in sorted(FINETUNING.rglob("*.jsonl")):
        windows = list(read_published(path))
        write_published(windows, tmp_path / "again.jsonl", experimental=False)
        theirs = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line.strip()]
        ours = [json.loads(line) for line in (tmp_path / "again.jsonl").read_text(encoding="utf-8").split("\n") if line]
        assert ours == theirs
        assert {w.messages[0].content for w in windows} <= {system_line(w.domain) for w in windows}
        assert all([m.role for m in w.messages] == ["system", *["user", "assistant"] * 3] for w in windows)


def test_exports_are_strict_utf_8_or_nothing(tmp_path: Path) -> None:
    row = {"block_id": "d:0", "domain": "x", "messages": [{"role": "user", "content": "ok 😀"}]}
    out = tmp_path / "w.jsonl"
    write_published([window_from_row(row)], out)
    before = out.read_bytes()
    assert json.loads(before.decode("utf-8", "strict"))["messages"] == row["messages"]
    broken = {**row, "messages": [{"role": "user", "content": "half \ud83d"}]}
    with pytest.raises(SettingError, match=r"half of a surrogate pair, '\\ud83d'"):
        write_published([window_from_row(row), window_from_row(broken)], out)
    assert out.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["w.jsonl"]


@pytest.mark.parametrize("name", ["d.parquet", "folder"])
def test_huggingface_exports_take_no_place_of_other_things(name: str, dataset: OfflineDataset, tmp_path: Path) -> None:
    out = tmp_path / name
    assert write_huggingface(dataset, out) == 12
    assert write_huggingface(dataset[:2], out) == 2  # an earlier export may be written anew
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("keep")
    with pytest.raises(SettingError, match="expected a"):
        write_huggingface(dataset, tmp_path / "mine" if name == "folder" else tmp_path / "mine" / ".." / "mine")
    assert (tmp_path / "mine" / "notes.txt").read_text() == "keep"
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(["mine", name])


def test_the_papers_row_survives() -> None:
    row = {
        "block_id": "voa-news-00034:11", "domain": "journalistic_investigations", "factual_novelty_score": 2,
        "return_to_go": 18.550635451980344, "messages": [{"role": "user", "content": "Precisely."}],
    }  # fmt: skip
    assert window_to_row(window_from_row(row)) == row
    assert list(window_to_row(window_from_row(row))) == list(row)


@pytest.fixture(scope="module")
def dataset() -> OfflineDataset:
    return load_dataset("sample/all-v1", reward="reply_length")


def test_dataset_views(dataset: OfflineDataset) -> None:
    assert len(dataset) == 12
    assert len(dataset[2:5]) == 3
    assert dataset[-1].id == dataset[11].id
    assert len(dataset.filter(domain="oral_history")) == 3
    assert len(dataset.filter(commercial=True)) == 12
    assert dataset.sample(4, seed=1)[0].id == dataset.sample(4, seed=1)[0].id
    parts = dataset.split()
    assert sum(len(part) for part in parts.values()) == 12
    assert set(parts) == {"train", "dev", "test"}
    ids = [{e.id for e in part} for part in parts.values()]
    assert len(set.union(*ids)) == sum(map(len, ids))
    with pytest.raises(SettingError, match="expected at most 12"):
        dataset.sample(13)


def test_d4rl(dataset: OfflineDataset) -> None:
    columns = dataset.to_d4rl()
    num = sum(len(episode) for episode in dataset)
    assert set(columns) == {
        "observations", "actions", "next_observations", "rewards", "returns_to_go", "terminals", "timeouts", "episode_ids",
    }  # fmt: skip
    assert all(column.shape == (num,) for column in columns.values())
    assert columns["rewards"].dtype == columns["returns_to_go"].dtype == np.float32
    assert columns["terminals"].dtype == np.bool_
    assert columns["terminals"].sum() == 12
    assert columns["actions"].dtype == object
    assert columns["observations"][1] == columns["next_observations"][0]
    assert json.loads(columns["observations"][1])[-1][0] == "user"
    first = dataset[0]
    np.testing.assert_allclose(columns["returns_to_go"][: len(first)], returns_to_go(first.rewards, 0.9), rtol=1e-6)
    q = qlearning_dataset(dataset)
    assert set(q) == {"observations", "actions", "next_observations", "rewards", "terminals"}
    assert len(q["actions"]) == num
    sequences = list(sequence_dataset(dataset))
    assert [len(s["actions"]) for s in sequences] == [len(episode) for episode in dataset]


def test_timeouts_are_left_out_of_q_learning() -> None:
    records = collect_episodes(load_policy("naive"), scenario_ids=["00-a"])
    collected = OfflineDataset.from_records(records)
    assert collected.to_d4rl()["timeouts"].sum() == 1
    assert len(qlearning_dataset(collected)["actions"]) == 9


def test_episodes_collected_in_infoquest() -> None:
    records = collect_episodes(load_policy("oracle"), scenario_ids=["00-a", "00-b"], repeats=2)
    collected = OfflineDataset.from_records(records, gamma=1.0)
    assert len(collected) == 4
    assert [e.returns_to_go[0] for e in collected] == [5, 5, 5, 5]
    assert all(e.terminated and not e.truncated for e in collected)
    assert collected[0].messages == records[0].episode.history
    assert collected[0].observations()[1] == records[0].episode.history[:3]


def test_dataset_ids() -> None:
    assert "yield/oral_history-v1" in list_datasets()
    assert "yield/all-v1" in list_datasets()
    assert len(list_datasets()) == 12
    with pytest.raises(UnknownNameError, match="Did you mean 'yield/oral_history-v1'"):
        load_dataset("yield/oral-history-v1")
    assert {e.domain for e in load_dataset("sample/oral_history-v1", reward="reply_length")} == {"oral_history"}


class Letters:
    """A tokenizer of letters with ChatML's frame."""

    chat_template: str | None = "chatml"
    pad_token_id = 0
    eos_token_id = 1
    all_special_ids = (1,)

    def apply_chat_template(self, rows: list[Any], tokenize: bool, add_generation_prompt: bool = False) -> str:
        text = "".join(f"<{m['role'][0]}>{m['content']}</>" for m in rows)
        return text + "<a>" if add_generation_prompt else text

    def __call__(self, text: str, add_special_tokens: bool) -> dict[str, list[int]]:
        return {"input_ids": [ord(c) for c in text]}


def test_tokenized_windows(dataset: OfflineDataset) -> None:
    windows = list(dataset.windows(WindowRules(max_tokens=None)))
    columns = dataset.tokenize(Letters(), max_length=400)
    num, length = columns["input_ids"].shape
    assert 0 < num < len(windows)
    assert length <= 400
    by_id = {w.block_id: w for w in windows}
    for row in range(num):
        window = by_id[columns["block_ids"][row]]
        ids = columns["input_ids"][row]
        said = "".join(chr(i) for i in ids[columns["action_mask"][row] == 1])
        assert said == f"{window.action}\x01"
        whole = "".join(chr(i) for i in ids[columns["attention_mask"][row] == 1])
        assert whole.endswith(said)
        assert columns["returns_to_go"][row] == np.float32(window.return_to_go)
        assert (ids[columns["attention_mask"][row] == 0] == 0).all()
    bare = Letters()
    bare.chat_template = None
    with pytest.raises(SettingError, match="expected a tokenizer with a chat template"):
        dataset.tokenize(bare)


TEXT = st.text(st.characters(exclude_categories=()), max_size=20)


@st.composite
def episodes(draw: st.DrawFn) -> OfflineEpisode:
    starts = draw(st.sampled_from(["user", "assistant"]))
    contents = draw(st.lists(TEXT, min_size=2, max_size=6))
    roles = ["user", "assistant"] if starts == "user" else ["assistant", "user"]
    messages = tuple(Message(role=roles[i % 2], content=c) for i, c in enumerate(contents))  # type: ignore[arg-type]
    count = sum(m.role == "assistant" for m in messages)
    rewards = tuple(draw(st.lists(st.floats(-5, 5), min_size=count, max_size=count)))
    return OfflineEpisode(
        id=draw(st.uuids()).hex, domain=draw(st.sampled_from(["oral_history", "x"])), messages=messages,
        turn_ids=tuple(range(len(messages))), rewards=rewards, returns_to_go=tuple(returns_to_go(rewards)),
        split=draw(st.sampled_from([None, "train"])), terminated=draw(st.booleans()),
    )  # fmt: skip


SLOW = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@SLOW
@given(st.lists(episodes(), min_size=1, max_size=20))
def test_arrow_and_back(tmp_path: Path, made: list[OfflineEpisode]) -> None:
    path = OfflineDataset(made).save(tmp_path / "d.arrow")
    opened = OfflineDataset.open(path)
    assert len(opened) == len(made)
    assert list(opened) == made
    assert opened[-1] == made[-1]


@SLOW
@given(st.lists(episodes(), min_size=1, max_size=5))
def test_huggingface_and_back(tmp_path: Path, made: list[OfflineEpisode]) -> None:
    table = to_huggingface(OfflineDataset(made))
    assert list(from_huggingface(table)) == made
    import datasets

    table.to_parquet(tmp_path / "d.parquet")
    again = datasets.Dataset.from_parquet(
        str(tmp_path / "d.parquet"), cache_dir=str(tmp_path / "c"), keep_in_memory=True
    )
    assert list(from_huggingface(again)) == made


@pytest.mark.parametrize("dataset_id", ["name", "a/b-v0", "my data-v0", "x/../y-v0", "name-v", ""])
def test_ids_that_minari_cannot_have_say_so_before_the_work(
    dataset_id: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    with pytest.raises(SettingError, match="expected an id such as 'yield/oral-history-v0'"):
        check_minari_id(dataset_id)


def test_minari_and_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    import minari

    dataset = load_dataset("sample/all-v1", reward="reply_length")
    odd = OfflineEpisode(
        id="odd \ud83d", domain="x", messages=(Message(role="user", content="Zürich \ud83d 😀"), Message(role="assistant", content="日本\n\"?")),
        turn_ids=(3, 9), rewards=(0.1,), returns_to_go=(0.1,), terminated=False, truncated=True,
    )  # fmt: skip
    both = OfflineDataset([*dataset, odd])
    made = to_minari(both, "elicit-gym/sample-v0")
    assert made.total_steps == sum(len(e) for e in both)
    with pytest.raises(SettingError, match="which is there already"):
        to_minari(both, "elicit-gym/sample-v0")
    loaded = minari.load_dataset("elicit-gym/sample-v0")
    assert list(from_minari(loaded)) == list(both)
    first = next(iter(loaded.iterate_episodes()))
    assert len(first.observations) == len(first.actions) + 1
    assert json.loads(first.actions[0]) == dataset[0].actions[0]
    np.testing.assert_allclose(first.infos["return_to_go"][: len(dataset[0])], dataset[0].returns_to_go)
    with pytest.raises(SettingError, match="got none"):
        to_minari(OfflineDataset([]), "elicit-gym/none-v0")


@SLOW
@given(st.lists(episodes(), min_size=1, max_size=5))
def test_published_rows_and_back(tmp_path: Path, made: list[OfflineEpisode]) -> None:
    rules = WindowRules(size=2, max_tokens=None, min_action_words=0)
    windows = list(make_windows(made, rules))
    write_published(windows, tmp_path / "w.jsonl")
    again = list(read_published(tmp_path / "w.jsonl"))
    assert [window_to_row(w) for w in again] == [window_to_row(w) for w in windows]


def test_files_that_are_no_datasets(tmp_path: Path) -> None:
    path = tmp_path / "x.arrow"
    path.write_bytes(b"no arrow")
    with pytest.raises(StorageError, match="expected a built dataset"):
        OfflineDataset.open(path)
    rows = tmp_path / "rows.jsonl"
    rows.write_text('{"block_id": "a:1"}\n', encoding="utf-8")
    with pytest.raises(StorageError, match="rows.jsonl:1: expected a released row"):
        list(read_published(rows))
    with pytest.raises(StorageError, match="expected the columns of an exported one"):
        from_huggingface([{"text": "x"}])
