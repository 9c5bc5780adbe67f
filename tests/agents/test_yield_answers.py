"""Answers are kept as they come: a killed evaluation goes on, and never mixes with another one."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from elicit_gym.agents import evaluate_yield as module
from elicit_gym.agents.evaluate_yield import evaluate_yield
from elicit_gym.agents.yield_answers import AnswerFile, evaluation_manifest
from elicit_gym.errors import ManifestMismatchError, SettingError, StorageError
from elicit_gym.offline import load_dataset
from elicit_gym.types import ChatHistory
from tests.agents.test_yield_evaluation import MINILM, count, load_encoder

WINDOWS = list(load_dataset("sample/all-v1", split="test", reward="reply_length").windows())[:10]


class Fragile:
    """Counts what it was asked, and stops once."""

    name = "fragile"

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.asked: list[ChatHistory] = []

    def reset(self, seed: int) -> None:
        pass

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        return [self.act(history) for history in histories]

    def act(self, history: ChatHistory) -> str:
        if len(self.asked) >= self.limit:
            raise KeyboardInterrupt
        self.asked.append(history)
        return f"And then, {len(history[-1].content)}?"


def evaluate(policy: Fragile, folder: Path, *, resume: bool, settings: dict[str, int] | None = None) -> tuple[str, ...]:
    manifest = evaluation_manifest([policy], WINDOWS, data="sample", settings=settings or {})
    store = AnswerFile(folder, manifest, resume=resume)
    encoder = load_encoder(MINILM)
    return evaluate_yield([policy], WINDOWS, encoder=encoder, count_tokens=count, store=store).results[1].utterances


def test_a_killed_evaluation_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "CHUNK", 3)
    whole = evaluate(Fragile(99), tmp_path / "whole", resume=False)
    with pytest.raises(KeyboardInterrupt):
        evaluate(Fragile(7), tmp_path / "killed", resume=False)
    path = tmp_path / "killed" / "answers.jsonl"
    assert len(path.read_text().splitlines()) == 6
    path.write_text(path.read_text()[:-9])  # the kill also cut the last line
    second = Fragile(99)
    assert evaluate(second, tmp_path / "killed", resume=True) == whole
    assert len(second.asked) == 5
    assert len(path.read_text().splitlines()) == 10


def test_answers_are_not_mixed(tmp_path: Path) -> None:
    evaluate(Fragile(99), tmp_path, resume=False)
    with pytest.raises(SettingError, match="got one with answers"):
        evaluate(Fragile(99), tmp_path, resume=False)
    with pytest.raises(ManifestMismatchError, match="settings"):
        evaluate(Fragile(99), tmp_path, resume=True, settings={"new_tokens": 4})
    path = tmp_path / "answers.jsonl"
    path.write_text("nonsense\n" + path.read_text())
    with pytest.raises(StorageError, match=r"answers.jsonl:1: expected an answer"):
        evaluate(Fragile(99), tmp_path, resume=True)
