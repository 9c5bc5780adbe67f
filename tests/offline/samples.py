"""The bundled dialogues as rows, and the real sample where it lies beside the checkout."""

import json

import pytest

from elicit_gym.offline.load_corpus import SAMPLE
from tests.conftest import SHARED

ROWS = [json.loads(line) for line in SAMPLE.read_text(encoding="utf-8").splitlines()]
FOLDER = SHARED / "yield-v1-small1pct"
needs_sample = pytest.mark.skipif(not FOLDER.is_dir(), reason="the sample data in ../shared is not on this machine")
