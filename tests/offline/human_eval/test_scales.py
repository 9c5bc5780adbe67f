"""The scales."""

from elicit_gym.offline.human_eval.scales import PAPER_TABLE_9, SCALES


def test_the_papers_rows_have_five_numbers() -> None:
    assert {len(row) for row in PAPER_TABLE_9.values()} == {len(SCALES)} == {5}
    assert PAPER_TABLE_9["ORL"][[s.short for s in SCALES].index("PE")] == 3.45
