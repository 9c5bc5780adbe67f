"""A batch to be answered."""

from pathlib import Path

import pytest

from elicit_gym.offline.human_eval.forms import write_batch
from elicit_gym.offline.human_eval.tasks import make_tasks
from tests.offline.human_eval.test_tasks import samples


@pytest.fixture
def batch(tmp_path: Path) -> Path:
    write_batch(make_tasks(samples(40), 24), tmp_path / "batch", seed=0)
    return tmp_path / "batch"
