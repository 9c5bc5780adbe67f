"""One reader of JSON lines: what it accepts, what it says, and that every reader in the package is this one."""

import json
from collections.abc import Callable
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.agents import load_policy
from elicit_gym.episode import Episode, EpisodeRecord, Turn
from elicit_gym.errors import ElicitGymError, StorageError
from elicit_gym.json_files import (
    UnfinishedLineWarning,
    parse_lines,
    read_lines,
    read_records,
    read_text,
    resume_records,
    write_json,
)
from elicit_gym.offline.evaluation.answers import Answer, AnswerFile, evaluation_manifest
from elicit_gym.offline.exports import read_published
from elicit_gym.offline.human_eval.tasks import read_samples
from elicit_gym.offline.importing import import_transcript
from elicit_gym.offline.load_corpus import SAMPLE, load_corpus
from elicit_gym.rollout.collect import collect_episodes
from elicit_gym.rollout.published_chats import load_published_chats
from elicit_gym.rollout.storage import RunStore, load_run
from elicit_gym.scenarios.load import BUNDLED, load_scenarios
from elicit_gym.scenarios.personas import read_personas

ENCODINGS = ("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32")
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=())),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize("encoding", ENCODINGS)
@given(values=st.lists(JSON, max_size=5), end=st.sampled_from(["\n", "\r\n", "\n\n \n"]), last=st.booleans())
def test_what_was_written_is_read(encoding: str, values: list[Any], end: str, last: bool) -> None:
    text = end.join(json.dumps(value) for value in values) + (end if last and values else "")
    assert [value for _, value in parse_lines(BytesIO(text.encode(encoding)), "x")] == values


def test_lines_are_numbered_as_an_editor_does_and_read_one_by_one(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(b'{"a": "\xe2\x80\xa8"}\n\n[2]\n{bad\n')
    lines = read_lines(path)
    assert next(lines) == (1, {"a": "\u2028"})  # no end of a line in JSON
    assert next(lines) == (3, [2])
    with pytest.raises(
        StorageError, match=r"x\.jsonl:4: expected one JSON value on the line, got text that does not parse"
    ):
        next(lines)


@pytest.mark.parametrize(
    ("data", "problems"),
    [
        (
            b'1\n{bad\n\xff\n2\n[1, "',
            ["x:2: expected one JSON value", "x:3: expected UTF-8 text", "x:5: expected one JSON"],
        ),
        (b"[" * 100_000 + b"\n1\n2\n", ["x:1: expected one JSON value"]),
        ("1\n2\n".encode("utf-16") + b"\x00", ["x:3: expected UTF-16"]),
    ],
)
def test_everything_that_is_wrong_is_told_and_the_rest_is_read(data: bytes, problems: list[str]) -> None:
    found: list[str] = []
    assert [value for _, value in parse_lines(BytesIO(data), "x", problems=found)] == [1, 2]
    assert len(found) == len(problems)
    for sentence, expected in zip(found, problems, strict=True):
        assert sentence.startswith(expected)
        assert sentence.endswith(".")


def test_files_that_are_none(tmp_path: Path) -> None:
    for read in (lambda path: list(read_lines(path)), read_text):
        with pytest.raises(StorageError, match="Reading .*nowhere: expected a file, got No such file"):
            read(tmp_path / "nowhere")
    problems: list[str] = []
    assert list(read_lines(tmp_path, problems=problems)) == []
    assert "Is a directory" in problems[0]


def as_pair(row: Any) -> tuple[Any, Any]:
    return row["a"], row["b"]


@pytest.mark.parametrize("row", [3, {"a": 1}, [], None])
def test_a_line_that_is_none_of_these_records(tmp_path: Path, row: Any) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text('{"a": 1, "b": 2}\n' + json.dumps(row) + "\n", encoding="utf-8")
    for read in (read_records, resume_records):
        with pytest.raises(StorageError, match=r"x\.jsonl:2: expected a pair, got a line .* Burn it\."):
            list(read(path, as_pair, what="a pair", advice="Burn it."))


WHOLE = b'{"a": 1, "b": 2}\n{"a": 3, "b": "\xc3\xa4"}\n'


@pytest.mark.parametrize("cut", range(len(WHOLE) // 2, len(WHOLE)))
def test_a_tail_that_a_kill_left(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "x.jsonl"
    path.write_bytes(WHOLE[:cut])
    whole_but_for_newline = cut == len(WHOLE) - 1
    in_a_line = WHOLE[:cut].rfind(b"\n") + 1 < cut
    pairs = [(1, 2), (3, "ä")][: WHOLE[:cut].count(b"\n") + whole_but_for_newline]
    if not in_a_line or whole_but_for_newline:
        assert list(read_records(path, as_pair, what="a pair", own=True)) == pairs
        assert resume_records(path, as_pair, what="a pair") == pairs
    else:
        with pytest.warns(UnfinishedLineWarning, match=r"x\.jsonl:2: .* as a kill leaves it\. It does not count\."):
            assert list(read_records(path, as_pair, what="a pair", own=True)) == pairs
        assert path.read_bytes() == WHOLE[:cut]
        with pytest.raises(StorageError, match=r"x\.jsonl:2: .* the file may be cut off here"):
            list(read_records(path, as_pair, what="a pair"))
        with pytest.warns(UnfinishedLineWarning, match="It was taken away"):
            assert resume_records(path, as_pair, what="a pair") == pairs
    with path.open("ab") as file:
        file.write(b'{"a": 5, "b": 6}\n')
    assert list(read_records(path, as_pair, what="a pair")) == [*pairs, (5, 6)]


def test_going_on_needs_the_encoding_that_it_appends_in(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    assert resume_records(path, as_pair, what="a pair") == []
    path.write_bytes(b"\xef\xbb\xbf" + WHOLE)
    assert len(resume_records(path, as_pair, what="a pair")) == 2
    path.write_bytes(WHOLE.decode().encode("utf-16"))
    with pytest.raises(StorageError, match="expected UTF-8, as it was written, got utf-16"):
        resume_records(path, as_pair, what="a pair")


def test_a_file_that_is_written_whole(tmp_path: Path) -> None:
    write_json(tmp_path / "x.json", {"a": 1})
    with pytest.raises(TypeError):
        write_json(tmp_path / "x.json", {"a": object()})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": 1}


# Every reader of JSON lines in the package: a sound file of each kind, as text, and what reads it.
WINDOWS = [
    {"block_id": f"d:{n}", "domain": "x", "messages": [{"role": "user", "content": "ä"}]} for n in (1, 2)
]  # fmt: skip
CHATS = [
    {
        "id": n,
        **{f"user_history{k}": [{"role": "user", "content": "A?"}] for k in (1, 2)},
        **{f"evaluations{k}": [{"questions": {"1": True}, "total_reward": 1, "done": False}] for k in (1, 2)},
    }
    for n in (1, 2)
]
SAMPLES = [{"block_id": f"d:{n}", "domain": "x", "context": [["user", "ä"]], "said": {"real": "ö"}} for n in (1, 2)]
READERS: dict[str, tuple[str, list[Any], Callable[[Path], Any]]] = {
    "scenarios": ("x.jsonl", [json.loads(line) for line in BUNDLED.read_text().splitlines()[:3]], load_scenarios),
    "dialogues": (
        "x.jsonl", [json.loads(line) for line in SAMPLE.read_text().splitlines()[:3]],
        lambda path: list(load_corpus(path=path)),
    ),
    "windows": ("x.jsonl", WINDOWS, lambda path: list(read_published(path))),
    "published chats": ("chats-u-p-j-1.jsonl", CHATS, lambda path: load_published_chats(path, {})),
    "transcripts": (
        "x.jsonl", [{"speaker": s, "text": t} for s, t in (("Q", "Why?"), ("A", "So."))],
        lambda path: import_transcript(path).dialogues,
    ),
    "personas": ("x.jsonl", [{"persona": p} for p in ("a cook", "a judge", "a sailör")], read_personas),
    "samples": ("samples.jsonl", SAMPLES, lambda path: read_samples(path.parent)),
}  # fmt: skip
EVERY_READER = pytest.mark.parametrize(("name", "rows", "read"), READERS.values(), ids=READERS)


@EVERY_READER
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_every_reader_takes_every_encoding(
    tmp_path: Path, name: str, rows: list[Any], read: Callable[[Path], Any], encoding: str
) -> None:
    found = []
    for kind in ("utf-8", encoding):
        (tmp_path / name).write_bytes("".join(json.dumps(r, ensure_ascii=False) + "\n" for r in rows).encode(kind))
        found.append(read(tmp_path / name))
    assert found[0] == found[1]


@EVERY_READER
def test_every_reader_counts_a_last_line_without_newline_and_names_one_that_is_cut_off(
    tmp_path: Path, name: str, rows: list[Any], read: Callable[[Path], Any]
) -> None:
    path = tmp_path / name
    text = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    whole = read(path)
    path.write_text(text[:-1], encoding="utf-8")
    assert read(path) == whole
    path.write_text(text[:-9], encoding="utf-8")
    with pytest.raises(ElicitGymError, match=rf"{name}:{len(rows)}: expected .*that does not parse"):
        read(path)


@EVERY_READER
def test_every_reader_names_file_and_line(
    tmp_path: Path, name: str, rows: list[Any], read: Callable[[Path], Any]
) -> None:
    path = tmp_path / name
    for bad in ("{bad", "[" * 100_000):
        path.write_text("\n".join([json.dumps(rows[0]), bad, *map(json.dumps, rows[1:])]) + "\n", encoding="utf-8")
        if name == "x.jsonl" and read is read_personas and bad != "{bad":
            continue  # a line that does not begin with a brace is a persona
        with pytest.raises(
            ElicitGymError, match=rf"{name}:2: expected .*(?:that does not parse|got more).*\. [A-Z].*\.$"
        ):
            read(path)


RECORD = EpisodeRecord(
    policy="p", env_id="e", scenario_id="s", repeat=0, seed=1,
    episode=Episode(
        opening_message="Hi", turns=(Turn(action="A", reply=None, reward=0.0),), terminated=False, truncated=True
    ),
)  # fmt: skip


def test_a_run_goes_on_after_its_unfinished_tail_and_says_it(tmp_path: Path) -> None:
    collect_episodes(load_policy("naive"), scenario_ids=["01-a"], out=tmp_path / "source")
    manifest = load_run(tmp_path / "source")[1]

    def resume() -> list[EpisodeRecord]:
        store = RunStore(tmp_path / "run", manifest, resume=True)
        records = list(store.take_records().values())
        store.append(replace(RECORD, repeat=len(records)))
        store.close()
        return records

    store = RunStore(tmp_path / "run", manifest, resume=False)
    store.append(RECORD)
    store.close()
    path = tmp_path / "run" / "episodes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-1])  # whole but for its newline, as some editors leave it: it counts
    assert load_run(tmp_path / "run")[0] == [RECORD]
    assert resume() == [RECORD]
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.warns(UnfinishedLineWarning, match=r"episodes\.jsonl:2"):
        assert load_run(tmp_path / "run")[0] == [RECORD]
    with pytest.warns(UnfinishedLineWarning, match=r"episodes\.jsonl:2"):
        assert resume() == [RECORD]
    assert [record.repeat for record in load_run(tmp_path / "run")[0]] == [0, 1]


def test_an_evaluation_goes_on_after_its_unfinished_tail_and_says_it(tmp_path: Path) -> None:
    manifest = evaluation_manifest([load_policy("naive")], (), data="sample", settings={})
    AnswerFile(tmp_path, manifest, resume=False).append([Answer(policy="p", index=i, said="A") for i in (0, 1)])
    path = tmp_path / "answers.jsonl"
    path.write_bytes(path.read_bytes()[:-1])
    again = AnswerFile(tmp_path, manifest, resume=True)
    assert set(again.known("p")) == {0, 1}
    again.append([Answer(policy="p", index=2, said="A")])
    path.write_bytes(path.read_bytes()[:-5])
    with pytest.warns(UnfinishedLineWarning, match=r"answers\.jsonl:3"):
        assert set(AnswerFile(tmp_path, manifest, resume=True).known("p")) == {0, 1}


def test_a_whole_run_says_nothing(tmp_path: Path, recwarn: pytest.WarningsRecorder) -> None:
    collect_episodes(load_policy("naive"), scenario_ids=["01-a"], out=tmp_path / "run")
    assert len(load_run(tmp_path / "run")[0]) == 1
    assert not [w for w in recwarn if issubclass(w.category, UnfinishedLineWarning)]
