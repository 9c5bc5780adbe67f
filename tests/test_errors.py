"""Failures are attributed once."""

import pytest

from elicit_gym.errors import EpisodeFailure, JudgeFailure, ModelFailure, PolicyFailure, boundary


def test_the_innermost_boundary_knows_best() -> None:
    failing = pytest.raises(ModelFailure, match="Calling: ValueError: no")
    with failing, boundary("policy", "Acting"), boundary("model", "Calling"):
        raise ValueError("no")


@pytest.mark.parametrize("source", ["policy", "user_simulator", "judge", "model", "budget"])
def test_every_source_has_its_failure(source: str) -> None:
    with pytest.raises(EpisodeFailure) as caught, boundary(source, "Doing"):  # type: ignore[arg-type]
        raise RuntimeError("broken")
    assert caught.value.source == source
    assert isinstance(caught.value.__cause__, RuntimeError)


def test_ctrl_c_is_no_failure() -> None:
    with pytest.raises(KeyboardInterrupt), boundary("judge", "Judging"):
        raise KeyboardInterrupt


def test_kinds_are_distinct() -> None:
    assert not issubclass(PolicyFailure, JudgeFailure)
