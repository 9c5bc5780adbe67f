"""Answers are checked, and Table 9 comes out of those that count."""

import csv
import json
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

from elicit_gym.errors import SettingError, StorageError
from elicit_gym.offline.human_eval.answers import check_workers, read_answers
from elicit_gym.offline.human_eval.forms import answer_columns, write_batch
from elicit_gym.offline.human_eval.scales import PAPER_TABLE_9, SCALES
from elicit_gym.offline.human_eval.table import score_ratings
from elicit_gym.offline.human_eval.tasks import make_tasks, read_key
from tests.commands import command
from tests.offline.human_eval.test_tasks import SOURCES, samples

QUALITY = {"real": 4, "prompted": 5, "sft": 3, "awr": 2}


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    write_batch(make_tasks(samples(40), 24), tmp_path / "batch", seed=0)
    return tmp_path / "batch"


def rows_of(key: dict[str, Any], worker: str, rate: Any, seconds: float = 90) -> list[dict[str, Any]]:
    rows = []
    for task, entry in key.items():
        values = [rate(source, scale.key) for source in entry["sources"] for scale in SCALES]
        columns = [f"Answer.{name}" for name in answer_columns(len(entry["sources"]))]
        rows.append(
            {
                "WorkerId": worker,
                "WorkTimeInSeconds": seconds,
                "Input.task_id": task,
                **dict(zip(columns, values, strict=True)),
            }
        )
    return rows


def write(path: Path, rows: list[dict[str, Any]]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


def noisy(seed: int) -> Any:
    rng = Random(seed)
    return lambda source, scale: min(5, max(1, QUALITY[source] + rng.choice((-1, 0, 0, 0, 1))))


def test_table_9_from_answers(batch: Path, tmp_path: Path) -> None:
    key = read_key(batch)
    files = [write(tmp_path / f"{i}.csv", rows_of(key, f"w{i}", noisy(i))) for i in range(3)]
    answers = read_answers(files, key)
    checks = check_workers(answers, min_seconds=20, min_agreement=0.0)
    assert [check.reason for check in checks] == [None] * 3
    assert all(check.agreement is not None and check.agreement > 0.6 for check in checks)
    result = score_ratings(answers, checks, key)
    assert list(result.table) == ["real", "awr", "prompted", "sft"]
    by_hand = np.mean([r.value for r in answers.ratings if (r.source, r.scale) == ("sft", "probing")])
    cell = result.table["sft"]["probing"]
    assert cell.value == pytest.approx(by_hand)
    assert cell.num == 72
    assert (cell.low or 9) < by_hand < (cell.high or 0)
    gap = result.to_real["sft"]["probing"]
    assert gap.value == pytest.approx(by_hand - (result.table["real"]["probing"].value or 0))
    alpha = result.alpha["probing"]
    assert alpha.value is not None
    assert 0.5 < alpha.value < 1
    assert (alpha.low or 9) < alpha.value < (alpha.high or 0)
    same = [write(tmp_path / f"same{i}.csv", rows_of(key, f"s{i}", noisy(7))) for i in range(2)]
    perfect = read_answers(same, key)
    agreed = score_ratings(perfect, check_workers(perfect, min_seconds=0, min_agreement=0), key)
    assert agreed.alpha["all"].value == pytest.approx(1.0)
    alone = score_ratings(read_answers(files[:1], key), [], key)
    assert alone.alpha["all"].value is None
    assert alone.alpha["all"].reason == "one rater: no agreement"


def test_workers_are_checked(batch: Path, tmp_path: Path) -> None:
    key = read_key(batch)
    contrary = lambda source, scale: 6 - noisy(5)(source, scale)  # noqa: E731
    rows = [
        *rows_of(key, "good", noisy(1)), *rows_of(key, "fine", noisy(2)), *rows_of(key, "hasty", noisy(3), seconds=4),
        *rows_of(key, "lazy", lambda source, scale: 3), *rows_of(key, "contrary", contrary),
    ]  # fmt: skip
    answers = read_answers([write(tmp_path / "all.csv", rows)], key)
    checks = {c.worker: c for c in check_workers(answers, min_seconds=20, min_agreement=0.0)}
    assert checks["good"].reason is None
    assert checks["fine"].reason is None
    assert checks["hasty"].reason == "4 s a task, under 20"
    assert checks["lazy"].reason == "one number everywhere in 100% of the tasks"
    assert checks["lazy"].agreement is None  # a constant has no correlation: unknown, not 0
    assert "correlation with the others -" in (checks["contrary"].reason or "")
    result = score_ratings(answers, list(checks.values()), key)
    assert result.table["real"]["control"].num == 48
    everybody = score_ratings(answers, list(checks.values()), key, keep_all=True)
    assert everybody.table["real"]["control"].num == 120
    with pytest.raises(SettingError, match="expected a worker to believe"):
        check_workers(answers, min_seconds=1000, min_agreement=0.0)


def test_rows_that_do_not_count_are_told_and_the_rest_counts(batch: Path, tmp_path: Path) -> None:
    key = read_key(batch)
    rows = rows_of(key, "w", noisy(1))
    rows[0]["Answer.r1_control"] = ""
    rows[1]["Answer.r2_probing"] = "6"
    rows[2]["Input.task_id"] = "task-of-another"
    rows[3] = dict(rows[4])
    rows[5]["WorkerId"] = " "
    answers = read_answers([write(tmp_path / "a.csv", rows)], key)
    assert len(answers.ratings) == (24 - 5) * 20
    assert [line.split(": ")[0] for line in answers.rejected] == [f"a.csv:{i}" for i in (2, 3, 4, 6, 7)]
    assert "rated" in answers.rejected[3]
    flat = []
    for row in rows_of(key, "turk", noisy(1)):
        wide = {k: v for k, v in row.items() if not k.startswith("Answer.")}
        for name, value in row.items():
            if name.startswith("Answer."):
                wide |= {f"{name}.{i}": str(i == value).lower() for i in range(1, 6)}
        flat.append(wide)
    turk = read_answers([write(tmp_path / "turk.csv", flat)], key)
    plain = read_answers([write(tmp_path / "plain.csv", rows_of(key, "turk", noisy(1)))], key)
    assert turk == plain


def test_what_cannot_be_scored(batch: Path, tmp_path: Path) -> None:
    key = read_key(batch)
    (tmp_path / "no.csv").write_text("a,b\n1,2\n")
    with pytest.raises(StorageError, match="WorkerId and Input.task_id"):
        read_answers([tmp_path / "no.csv"], key)
    (tmp_path / "bytes.csv").write_bytes(b"\xff\xfe\x00WorkerId")
    with pytest.raises(StorageError, match="UTF-8"):
        read_answers([tmp_path / "bytes.csv"], key)
    with pytest.raises(StorageError, match="Check the path"):
        read_answers([tmp_path / "nowhere.csv"], key)
    empty = [{"WorkerId": "w", "Input.task_id": "x"}]
    with pytest.raises(StorageError, match="unknown task 'x'"):
        read_answers([write(tmp_path / "x.csv", empty)], key)


def test_the_commands(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    (tmp_path / "eval").mkdir()
    with (tmp_path / "eval" / "samples.jsonl").open("w") as file:
        file.writelines(json.dumps(row) + "\n" for row in samples(40))
    assert command("human-eval", "export", tmp_path / "eval", "--out", tmp_path / "b", "--windows", 12, "--equal") == 0
    assert "12 tasks with 4 utterances each" in " ".join(capsys.readouterr().out.split())
    key = read_key(tmp_path / "b")
    assert {row["domain"] for row in key.values()} == {"oral_history", "judicial_proceedings"}
    files = [write(tmp_path / f"{i}.csv", rows_of(key, f"w{i}", noisy(i))) for i in range(2)]
    assert command("human-eval", "score", tmp_path / "b", *files, "--out", tmp_path / "scored") == 0
    shown = capsys.readouterr().out
    assert "Krippendorff" in shown
    assert "paper: ORL" in shown
    saved = json.loads((tmp_path / "scored" / "table9.json").read_text())
    assert set(saved["table"]) == set(SOURCES)
    assert (tmp_path / "scored" / "table9.png").read_bytes().startswith(b"\x89PNG")
    assert command("human-eval", "export", tmp_path / "eval", "--out", tmp_path / "c") != 0
    assert "between 1 and 40" in " ".join(capsys.readouterr().err.split())


def test_the_papers_rows_have_five_numbers() -> None:
    assert {len(row) for row in PAPER_TABLE_9.values()} == {len(SCALES)} == {5}
    assert PAPER_TABLE_9["ORL"][[s.short for s in SCALES].index("PE")] == 3.45
