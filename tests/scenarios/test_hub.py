"""Where the published set comes from."""

import warnings
from hashlib import sha256
from pathlib import Path

import pytest

from elicit_gym.errors import ScenarioError
from elicit_gym.scenarios import hub
from elicit_gym.scenarios.load import load_scenarios


def test_a_local_copy_by_environment_variable(paper_example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ELICIT_GYM_DATA", str(paper_example))
    assert len(load_scenarios("infoquest")) == 2


def test_an_unreachable_hub_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    import huggingface_hub

    def refuse(*_: object, **__: object) -> str:
        raise ConnectionError("no network")

    monkeypatch.delenv("ELICIT_GYM_DATA", raising=False)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", refuse)
    with pytest.raises(ScenarioError, match="got ConnectionError. Check the network, or put the files into a folder"):
        load_scenarios("infoquest")


def test_the_download_is_pinned_and_a_wrong_hash_is_a_warning(
    paper_example: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import huggingface_hub

    asked: dict[str, object] = {}

    def serve(repository: str, **kwargs: object) -> str:
        asked.update(kwargs, repository=repository)
        return str(paper_example)

    monkeypatch.delenv("ELICIT_GYM_DATA", raising=False)
    monkeypatch.setattr(huggingface_hub, "snapshot_download", serve)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        assert hub.published_folder() == paper_example
    assert len(caught) == 3
    assert any(f"expected sha256 {hub.SHA256['settings.jsonl']}, got" in str(w.message) for w in caught)
    assert (asked["repository"], asked["revision"]) == ("bryanlincoln/infoquest", hub.REVISION)
    path = paper_example / "settings.jsonl"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert hub.check_sha256(path, sha256(path.read_bytes()).hexdigest())
