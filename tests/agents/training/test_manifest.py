"""Every way of training writes the same kind of manifest, and goes on only with what it was begun with."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from elicit_gym.agents.local_model import load_model
from elicit_gym.agents.policy_folder import save_policy
from elicit_gym.agents.training.awr import train_awr
from elicit_gym.agents.training.grpo import train_grpo
from elicit_gym.agents.training.manifest import TrainingManifest
from elicit_gym.agents.training.settings import AWRSettings, GRPOSettings, SFTSettings
from elicit_gym.agents.training.sft import train_sft
from elicit_gym.errors import ManifestMismatchError, StorageError
from elicit_gym.llm.weights import weights_sha256
from elicit_gym.offline import load_dataset
from elicit_gym.offline.windows import Window, WindowRules, WindowSet
from elicit_gym.rollout.manifest import RunManifest
from tests.agents.tiny_model import tiny_model, tiny_tokenizer

WINDOWS: list[Window] = list(
    load_dataset("sample/all-v1", reward="new_content_words").windows(WindowRules(max_tokens=120))
)[:6]
ONE_STEP: dict[str, Any] = {"max_steps": 1, "batch_size": 2}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("models") / "base"
    tokenizer = tiny_tokenizer()
    save_policy(folder, tiny_model(tokenizer), tokenizer, {"base_model": ""})
    return folder


def model_of(folder: Path) -> tuple[Any, Any]:
    model, tokenizer = load_model(str(folder), dtype="float32")
    return model.train(), tokenizer


def sft(base: Path, out: Path, windows: list[Window] = WINDOWS, lr: float = 1e-5, **more: Any) -> None:
    train_sft(*model_of(base), windows, out, settings=SFTSettings(**ONE_STEP, policy_lr=lr), **more)


def awr(base: Path, out: Path, windows: list[Window] = WINDOWS, lr: float = 1e-5, **more: Any) -> None:
    train_awr(*model_of(base), windows, out, settings=AWRSettings(**ONE_STEP, policy_lr=lr), **more)


def grpo(base: Path, out: Path) -> None:
    settings = GRPOSettings(**ONE_STEP, num_generations=2, max_new_tokens=3)
    train_grpo(*model_of(base), out, env_kwargs={"max_turns": 1}, settings=settings)


@pytest.mark.parametrize("train", [sft, awr, grpo])
def test_one_kind_of_manifest(train: Any, base: Path, tmp_path: Path) -> None:
    train(base, tmp_path / "out")
    manifest = TrainingManifest.read(tmp_path / "out" / "manifest.json")
    assert manifest.method == train.__name__
    assert (manifest.base_model, manifest.base_sha256) == (str(base), weights_sha256([base]))
    assert manifest.settings["batch_size"] == 2
    assert {"torch", "trl"} <= set(manifest.made.versions)
    assert TrainingManifest.from_json(manifest.to_json(), "here") == manifest
    if train is grpo:
        assert manifest.run is not None
        assert manifest.run.environment.max_turns == 1
        played = RunManifest.read(tmp_path / "out" / "episodes" / "manifest.json")
        assert played.environment == manifest.run.environment
        assert played.policies[0].weights_sha256 == manifest.base_sha256
    else:
        assert manifest.train == WindowSet.of(WINDOWS)


@pytest.mark.parametrize("train", [sft, awr])
def test_a_training_goes_on_only_with_what_it_was_begun_with(train: Any, base: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    train(base, out)
    before = (out / "manifest.json").read_bytes()
    with pytest.raises(ManifestMismatchError, match="settings.policy_lr: 1e-05 there, 0.5 here"):
        train(base, out, lr=0.5, resume=True)
    with pytest.raises(ManifestMismatchError, match="train.sha256"):
        train(base, out, windows=[replace(w, return_to_go=w.return_to_go + 1) for w in WINDOWS], resume=True)
    other = tmp_path / "base"
    tokenizer = tiny_tokenizer()
    changed = tiny_model(tokenizer)
    next(changed.parameters()).data.add_(0.1)
    save_policy(other, changed, tokenizer, {"base_model": ""})
    with pytest.raises(ManifestMismatchError, match="base_sha256"):
        train(other, out, resume=True)
    assert (out / "manifest.json").read_bytes() == before
    (out / "manifest.json").write_text(json.dumps({"format": 1, "method": "awr"}))
    with pytest.raises(StorageError, match="expected the manifest of a training in format 2, got an older format"):
        train(base, out, resume=True)
