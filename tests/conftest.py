"""Shared by all tests: bundled scenarios, the real sample data where it lies beside the checkout."""

from pathlib import Path

import pytest

from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.types import Scenario

ROOT = Path(__file__).resolve().parent.parent
SHARED = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def scenarios() -> tuple[Scenario, ...]:
    return load_scenarios()


@pytest.fixture(scope="session")
def paper_example() -> Path:
    folder = SHARED / "infoquest-paper-example"
    if not folder.is_dir():
        pytest.skip("the sample data in ../shared is not on this machine")
    return folder
