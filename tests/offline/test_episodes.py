"""Episodes as published: whole rows of upstream's own code, beside ours."""

import json
from typing import Any

import pytest

from elicit_gym.offline import OfflineDataset, load_corpus
from elicit_gym.offline.dialogue_rewards import FactualNovelty
from elicit_gym.offline.windows import WindowRules, window_to_row
from tests.conftest import SHARED
from tests.offline.samples import FOLDER, needs_sample

UPSTREAM = SHARED / "yield-v1-small1pct-upstream"
OF_THE_ENTITY_MODEL = ("factual_novelty_score", "return_to_go")


@needs_sample
@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_rows_are_upstreams_whole_rows_in_their_order(split: str) -> None:
    """Every row of upstream's is ours, key by key; which ones fit into 512 tokens Llama 3's tokenizer decides."""
    theirs = [
        json.loads(line) for line in (UPSTREAM / f"{split}.jsonl").read_text(encoding="utf-8").split("\n") if line
    ]
    dialogues = load_corpus(path=FOLDER, split=split)
    dataset = OfflineDataset.from_dialogues(dialogues, FactualNovelty(), published=True)
    rows = [window_to_row(window) for window in dataset.windows(WindowRules(max_tokens=None))]
    ours = {row["block_id"]: row for row in rows}
    assert len(ours) == len(rows)
    assert [row["block_id"] for row in rows if row["block_id"] in {t["block_id"] for t in theirs}] == [
        row["block_id"] for row in theirs
    ]
    for row in theirs:
        made = ours[row["block_id"]]
        assert list(made) == list(row)
        assert _without_entities(made) == _without_entities(row)
    # Both models of spaCy's smallest English pipeline agree on this sample; so all of every row does.
    assert sum(ours[row["block_id"]] == row for row in theirs) == len(theirs)


def _without_entities(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in OF_THE_ENTITY_MODEL}
