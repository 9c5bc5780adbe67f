"""Answers as they come back, and which workers to believe."""

from pathlib import Path

import pytest

from elicit_gym.errors import SettingError
from elicit_gym.offline.human_eval.answers import check_workers, read_answers
from elicit_gym.offline.human_eval.table import score_ratings
from elicit_gym.offline.human_eval.tasks import read_key
from tests.offline.human_eval.batches import noisy, rows_of, write


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
    assert checks["hasty"].reason == "4 s per task, under 20"
    assert checks["lazy"].reason == "the same number throughout in 100% of the tasks"
    assert checks["lazy"].agreement is None  # a constant has no correlation: unknown, not 0
    assert "correlation with the others -" in (checks["contrary"].reason or "")
    result = score_ratings(answers, list(checks.values()), key)
    assert result.table["real"]["control"].num == 48
    everybody = score_ratings(answers, list(checks.values()), key, keep_all=True)
    assert everybody.table["real"]["control"].num == 120
    with pytest.raises(SettingError, match="expected a worker who can be trusted"):
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
