"""The evaluation on windows as a whole."""

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from benchmarks.common import RESULTS
from benchmarks.yield_pilot import interview_means, restate
from elicit_gym.agents import load_policy
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.errors import SettingError
from elicit_gym.offline import OfflineDataset, load_corpus, load_dataset
from elicit_gym.offline.dialogue_rewards import ReplyLength
from elicit_gym.offline.evaluation.answers import evaluation_manifest
from elicit_gym.offline.evaluation.estimates import METRICS, by_domain
from elicit_gym.offline.evaluation.evaluate import evaluate_yield
from elicit_gym.offline.evaluation.metrics import (
    load_encoder,
)
from elicit_gym.offline.evaluation.report import write_yield_report
from elicit_gym.offline.evaluation.tables import print_yield_evaluation
from elicit_gym.types import ChatHistory, Message
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.browser import CHROMIUM, dumped_dom
from tests.minilm import MINILM
from tests.widths import check_widths


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
    expected = np.exp(-sum(s.total for s in scored) / sum(s.num_tokens for s in scored))
    found = result.tables["perplexity"]["tiny"]["all"]
    assert found.value == pytest.approx(expected)
    assert (found.low, found.reason) == (None, "no interval: 4 interviews")
    real = result.tables["turn_length_ratio"]["real"]["all"].value
    means = {
        role: np.mean([len(m.content.split()) for w in windows for m in w.messages if m.role == role])
        for role in ("user", "assistant")
    }
    assert real == pytest.approx(means["user"] / means["assistant"])
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
    check_widths(lambda console: print_yield_evaluation(result, console))
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
