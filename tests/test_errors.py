"""Failures are attributed once."""

import importlib
import pickle
import pkgutil
from collections.abc import Iterator
from typing import Any, get_args

import pytest

import elicit_gym
from elicit_gym import errors
from elicit_gym.errors import (
    ElicitGymError,
    EpisodeFailure,
    FailureSource,
    JudgeFailure,
    ManifestMismatchError,
    MissingExtraError,
    ModelFailure,
    PolicyFailure,
    ScenarioError,
    boundary,
)
from elicit_gym.llm.transport import TransportError


def test_the_innermost_boundary_knows_best() -> None:
    failing = pytest.raises(ModelFailure, match="Calling: ValueError: no")
    with failing, boundary("policy", "Acting"), boundary("model", "Calling"):
        raise ValueError("no")


@pytest.mark.parametrize("source", get_args(FailureSource))
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


MADE_FROM: dict[type[BaseException], tuple[Any, ...]] = {
    ScenarioError: (["a.jsonl:1: broken.", "a.jsonl:2: broken, too."],),
    ManifestMismatchError: ("Resuming", ["seed: 1 and 2"], "Take another folder."),
    MissingExtraError: ("Counting", "yield"),
}
"""What errors are made from that take more than their message."""


def kinds() -> Iterator[type[BaseException]]:
    """Every exception that this package defines, wherever it lies."""
    for module in pkgutil.walk_packages(elicit_gym.__path__, "elicit_gym."):
        if module.name.startswith("elicit_gym.adapters.") or module.name.endswith("__main__"):
            continue  # the first need programs of their own, the second run
        for value in vars(importlib.import_module(module.name)).values():
            if isinstance(value, type) and issubclass(value, BaseException) and value.__module__ == module.name:
                yield value


def test_every_error_survives_the_journey_between_processes() -> None:
    found = set(kinds())
    assert {*MADE_FROM, errors.WorkerFailure, TransportError} <= found
    for kind in found:
        needed = {"kind": "passing", "retry_after": 2.5} if kind is TransportError else {}
        error = kind(*MADE_FROM.get(kind, ("Doing: expected a, got b.",)), **needed)
        if isinstance(error, ElicitGymError):
            error.note = "kept"  # type: ignore[attr-defined]
        there = pickle.loads(pickle.dumps(error))
        assert type(there) is kind
        assert str(there) == str(error)
        assert vars(there) == vars(error)
