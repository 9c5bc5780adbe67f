"""Answers are kept as they come: a killed evaluation goes on, and never mixes with another one."""

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from elicit_gym.errors import ManifestMismatchError, ModelFailure, SettingError, StorageError
from elicit_gym.json_files import UnfinishedLineWarning
from elicit_gym.offline import load_dataset
from elicit_gym.offline.evaluation import evaluate as module
from elicit_gym.offline.evaluation.answers import AnswerFile, evaluation_manifest
from elicit_gym.offline.evaluation.evaluate import evaluate_yield
from elicit_gym.offline.evaluation.metrics import load_encoder
from elicit_gym.offline.evaluation.report import write_yield_report
from elicit_gym.offline.human_eval.tasks import make_tasks
from elicit_gym.parts import describe
from elicit_gym.types import ChatHistory, Description
from tests.minilm import MINILM
from tests.offline.evaluation.test_evaluate import count

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


class Warm(Fragile):
    """The same, but for how it is sampled."""

    def describe(self) -> Description:
        return replace(describe(Fragile(99)), settings={**describe(Fragile(99)).settings, "temperature": 1.5})


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
    with pytest.warns(UnfinishedLineWarning, match=r"answers\.jsonl:6"):
        assert evaluate(second, tmp_path / "killed", resume=True) == whole
    assert len(second.asked) == 5
    assert len(path.read_text().splitlines()) == 10


def test_answers_are_not_mixed(tmp_path: Path) -> None:
    evaluate(Fragile(99), tmp_path, resume=False)
    with pytest.raises(SettingError, match="got one with answers"):
        evaluate(Fragile(99), tmp_path, resume=False)
    with pytest.raises(ManifestMismatchError, match="settings"):
        evaluate(Fragile(99), tmp_path, resume=True, settings={"new_tokens": 4})
    with pytest.raises(ManifestMismatchError, match="policies.fragile.settings.temperature: None there, 1.5 here"):
        evaluate(Warm(99), tmp_path, resume=True)
    manifest = tmp_path / "manifest.json"
    typed = manifest.read_text()
    for text, problem in (("[]", "a JSON object, got list"), ('{"format": 1}', "got an older format in format 1")):
        manifest.write_text(text)
        with pytest.raises(StorageError, match=problem):
            evaluate(Fragile(99), tmp_path, resume=True)
    manifest.write_text(typed)
    path = tmp_path / "answers.jsonl"
    path.write_text("nonsense\n" + path.read_text())
    with pytest.raises(StorageError, match=r"answers.jsonl:1: expected an answer"):
        evaluate(Fragile(99), tmp_path, resume=True)


class Filtered:
    """Refuses one window, for good, and fails whole batches that hold it."""

    name = "filtered"

    def __init__(self, error: Exception | None = None) -> None:
        self.asked = 0
        self.error = error or ModelFailure("status 400: content policy")

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        self.asked += 1
        if history == WINDOWS[3].context:
            raise self.error
        return "And what happened then?"

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        return [self.act(history) for history in histories]


def test_a_window_that_fails_is_missing_and_spoils_no_other(tmp_path: Path) -> None:
    policy = Filtered()
    manifest = evaluation_manifest([policy], WINDOWS, data="sample", settings={})
    encoder = load_encoder(MINILM)
    store = AnswerFile(tmp_path, manifest, resume=False)
    result = evaluate_yield([policy], WINDOWS, encoder=encoder, count_tokens=count, store=store)
    said = result.results[1]
    assert [i for i, text in enumerate(said.utterances) if text is None] == [3]
    assert said.failures == {3: "status 400: content policy"}
    for metric in ("response_length", "turn_length_ratio", "similarity"):
        assert result.tables[metric]["filtered"]["all"].num == 9
        assert (
            result.tables[metric]["filtered"]["all"].value == result.tables[metric]["filtered"]["all"].value
        )  # no NaN
    assert result.tables["response_length"]["filtered"]["all"].value == 4
    assert result.to_row()["failed"] == {"filtered": 1}
    page = write_yield_report(result, tmp_path, manifest)
    assert "1 window failed" in page.read_text(encoding="utf-8")
    rows = [json.loads(line) for line in (tmp_path / "samples.jsonl").read_text().splitlines()]
    assert rows[3]["said"]["filtered"] is None
    assert all(task.block_id != WINDOWS[3].block_id for task in make_tasks(rows, 9))
    # Resumed, it is tried again, and nothing else is.
    before = policy.asked
    again = AnswerFile(tmp_path, manifest, resume=True)
    evaluate_yield([policy], WINDOWS, encoder=encoder, count_tokens=count, store=again)
    assert policy.asked - before == 2  # in its batch, and alone


def test_a_policy_that_crashes_is_attributed_as_in_a_rollout() -> None:
    encoder = load_encoder(MINILM)
    policy = Filtered(ZeroDivisionError("by my own mistake"))
    said = evaluate_yield([policy], WINDOWS, encoder=encoder, count_tokens=count).results[1]
    assert list(said.failures) == [3]
    assert "ZeroDivisionError: by my own mistake" in said.failures[3]
