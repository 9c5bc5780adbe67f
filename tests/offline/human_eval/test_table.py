"""The paper's Table 9 from answers."""

from pathlib import Path

import numpy as np
import pytest

from elicit_gym.errors import StorageError
from elicit_gym.offline.human_eval.answers import check_workers, read_answers
from elicit_gym.offline.human_eval.table import print_human_evaluation, score_ratings
from elicit_gym.offline.human_eval.tasks import read_key
from tests.offline.human_eval.batches import noisy, rows_of, write
from tests.widths import check_widths


def test_table_9_from_answers(batch: Path, tmp_path: Path) -> None:
    key = read_key(batch)
    files = [write(tmp_path / f"{i}.csv", rows_of(key, f"w{i}", noisy(i))) for i in range(3)]
    answers = read_answers(files, key)
    checks = check_workers(answers, min_seconds=20, min_agreement=0.0)
    assert [check.reason for check in checks] == [None] * 3
    assert all(check.agreement is not None and check.agreement > 0.6 for check in checks)
    result = score_ratings(answers, checks, key)
    assert list(result.table) == ["real", "awr", "prompted", "sft"]
    check_widths(lambda console: print_human_evaluation(result, console))
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
    assert alone.alpha["all"].reason == "there is only one rater"


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
