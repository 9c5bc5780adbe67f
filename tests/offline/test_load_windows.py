"""Windows from every source, counted in every way."""

import json
from pathlib import Path
from zipfile import ZipFile

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline import load_dataset
from elicit_gym.offline.exports import read_published, write_published
from elicit_gym.offline.load_corpus import SAMPLE, CorpusError
from elicit_gym.offline.load_windows import has_splits, load_shuffled_windows, load_windows, window_rules
from elicit_gym.offline.windows import count_simple_tokens, window_to_row
from tests.agents.tiny_model import tiny_tokenizer
from tests.commands import command

REWARD = {"reward": "reply_length"}


@pytest.fixture(scope="module")
def letters(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tokenizer that counts bytes, with a chat template, in a folder."""
    folder = tmp_path_factory.mktemp("tokenizer")
    tiny_tokenizer().save_pretrained(folder)
    return folder


@pytest.fixture
def released(tmp_path: Path) -> Path:
    """Released rows, as a file."""
    path = tmp_path / "rows.jsonl"
    write_published(load_dataset("sample/all-v1", **REWARD).windows(), path)  # type: ignore[arg-type]
    return path


def lengths(path: Path) -> list[int]:
    return [count_simple_tokens(window.messages) for window in read_published(path)]


def test_the_limit_counts_for_released_rows_too(released: Path, letters: Path) -> None:
    everything = lengths(released)
    limit = sorted(everything)[len(everything) // 2]
    kept = load_windows(str(released), None, max_tokens=limit)
    assert len(kept) == sum(length <= limit for length in everything) < len(everything)
    counter = window_rules(str(letters)).count_tokens
    in_letters = load_windows(str(released), None, max_tokens=350, tokenizer=str(letters))
    assert 0 < len(in_letters) < len(everything)
    assert {w.block_id for w in in_letters} == {
        w.block_id for w in read_published(released) if counter(w.messages) <= 350
    }
    with pytest.raises(SettingError, match=r"got none \(actions \d+, too long \d+\)"):
        load_windows(str(released), None, max_tokens=8)


@pytest.mark.parametrize("to", ["experimental", "finetuning"])
def test_one_option_counts_tokens_in_export_stats_and_evaluation(
    to: str, released: Path, letters: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    counted = ("--tokenizer", letters, "--max-window-tokens", 350)
    expected = len(load_windows("sample/all-v1", None, max_tokens=350, tokenizer=str(letters), reward="reply_length"))
    assert expected < len(lengths(released))
    out = tmp_path / "out.jsonl"
    assert (
        command("data", "export", "sample/all-v1", "--to", to, "--reward", "reply_length", *counted, "--out", out) == 0
    )
    assert len(lengths(out)) == expected
    numbers = tmp_path / "numbers.json"
    assert command("data", "stats", "sample", "--reward", "reply_length", *counted, "--json", numbers) == 0
    windows = json.loads(numbers.read_text())["windows"]
    assert windows["total"]["segments"] == expected
    assert windows["total"]["token_range"][1] <= 350
    capsys.readouterr()
    evaluation = ("--metric", "response_length", "--out", tmp_path / "evaluation")
    assert command("evaluate-yield", "naive", "--data", released, *counted, *evaluation) == 0
    assert len((tmp_path / "evaluation" / "samples.jsonl").read_text().splitlines()) == expected


def test_tokenizers_that_cannot_count_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    with pytest.raises(SettingError, match="expected a folder or an id on the Hugging Face hub"):
        window_rules(str(tmp_path / "none"))
    bare = tiny_tokenizer()
    bare.chat_template = None
    bare.save_pretrained(tmp_path / "bare")
    with pytest.raises(SettingError, match="expected one with a chat template"):
        window_rules(str(tmp_path / "bare"))


@pytest.mark.parametrize("packed", [False, True])
def test_released_experimental_rows_load_by_an_id(
    packed: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    windows = list(load_dataset("sample/all-v1", **REWARD).windows())  # type: ignore[arg-type]
    home = tmp_path / "yield"
    folder = home / "yield-v1-experimental"
    for split, part in (("train", windows[:5]), ("dev", windows[5:7]), ("test", windows[7:10])):
        write_published(part, folder / split / f"{split}-000.jsonl")
        write_published(part, home / "yield-v1-finetuning" / split / "x.jsonl", experimental=False)
    (home / "yield-v1" / "train").mkdir(parents=True)
    (home / "yield-v1" / "train" / "d.jsonl").write_bytes(SAMPLE.read_bytes())
    if packed:
        files = sorted(folder.rglob("*.jsonl"))
        with ZipFile(home / "yield-v1-experimental.zip", "w") as archive:
            for file in files:
                archive.write(file, file.relative_to(home))
        for file in files:
            file.unlink()
    monkeypatch.setenv("ELICIT_GYM_DATA", str(tmp_path))
    for split, part in (("train", windows[:5]), ("dev", windows[5:7]), ("test", windows[7:10])):
        loaded = load_windows("yield/experimental-v1", split)
        assert [window_to_row(window) for window in loaded] == [window_to_row(window) for window in part]
    assert len(load_windows("yield/experimental-v1", None)) == 10
    assert load_shuffled_windows("yield/experimental-v1", "test") is None
    evaluation = ("--metric", "response_length", "--out", tmp_path / "evaluation")
    assert command("evaluate-yield", "naive", "--data", "yield/experimental-v1", *evaluation) == 0
    assert len((tmp_path / "evaluation" / "samples.jsonl").read_text().splitlines()) == 3
    assert len(load_dataset("yield/all-v1", **REWARD)) == 12  # type: ignore[arg-type]  # and no window among them


def test_experimental_rows_that_are_none_say_so(tmp_path: Path) -> None:
    windows = list(load_dataset("sample/all-v1", **REWARD).windows())[:2]  # type: ignore[arg-type]
    write_published(windows, tmp_path / "train" / "a.jsonl", experimental=False)
    with pytest.raises(CorpusError, match="expected an experimental row with block_id"):
        load_windows("yield/experimental-v1", "train", path=tmp_path)
    with pytest.raises(SettingError, match="in split 'test', got no file"):
        load_windows("yield/experimental-v1", "test", path=tmp_path)


def test_what_has_splits(released: Path, tmp_path: Path) -> None:
    dialogues = tmp_path / "mine.jsonl"
    dialogues.write_bytes(b"\n\n" + SAMPLE.read_bytes())
    assert not has_splits(str(released))
    assert has_splits(str(dialogues))
    assert has_splits("sample/all-v1")
    assert has_splits("mine.jsonl", dialogues)
    assert not has_splits(str(tmp_path / "none.jsonl"))
