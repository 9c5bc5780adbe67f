"""A training that starts from a trained policy continues it, whatever trains it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from elicit_gym.agents import load_policy
from elicit_gym.agents.policy_folder import save_policy
from elicit_gym.agents.training.awr import train_awr
from elicit_gym.agents.training.grpo import train_grpo
from elicit_gym.agents.training.manifest import TrainingManifest
from elicit_gym.agents.training.settings import AWRSettings, GRPOSettings, SFTSettings
from elicit_gym.agents.training.sft import train_sft
from elicit_gym.agents.training.start import load_for_training
from elicit_gym.types import Message
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.agents.training.windows import WINDOWS
from tests.commands import command

HISTORY = (Message(role="user", content="Something is wrong with my bees."),)
STEP: dict[str, Any] = {"max_steps": 2, "batch_size": 2, "gradient_checkpointing": "none"}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A base model and a policy trained on it."""
    folder = tmp_path_factory.mktemp("models")
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer).save_pretrained(folder / "base")
    tokenizer.save_pretrained(folder / "base")
    settings = SFTSettings(max_steps=8, batch_size=4, policy_lr=0.01, lora_r=4)
    network, tokenizer, remark = load_for_training(str(folder / "base"), settings)
    assert remark is None
    train_sft(network, tokenizer, WINDOWS[:4], folder / "first", settings=settings)
    return folder / "base", folder / "first" / "best"


def adapter(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "adapter_model.safetensors")


def sft(start: Path, out: Path, lr: float) -> None:
    settings = SFTSettings(**STEP, policy_lr=lr)
    network, tokenizer, _ = load_for_training(str(start), settings)
    train_sft(network, tokenizer, WINDOWS[:4], out, settings=settings)


def awr(start: Path, out: Path, lr: float) -> None:
    settings = AWRSettings(**STEP, policy_lr=lr)
    network, tokenizer, _ = load_for_training(str(start), settings)
    train_awr(network, tokenizer, WINDOWS[:4], out, settings=settings)


def grpo(start: Path, out: Path, lr: float) -> None:
    settings = GRPOSettings(**STEP, num_generations=2, max_new_tokens=3, policy_lr=lr)
    network, tokenizer, _ = load_for_training(str(start), settings)
    train_grpo(network, tokenizer, out, env_kwargs={"max_turns": 1}, settings=settings)


@pytest.mark.parametrize("train", [sft, awr, grpo])
def test_the_adapter_is_continued_and_not_covered_by_a_new_one(
    train: Callable[[Path, Path, float], None], folders: tuple[Path, Path], tmp_path: Path
) -> None:
    _, start = folders
    before = adapter(start)
    assert sum(t.abs().sum() for name, t in before.items() if "lora_B" in name) > 0.01
    train(start, tmp_path / "still", 0.0)
    after = adapter(tmp_path / "still" / "best")
    assert after.keys() == before.keys()
    assert all(torch.equal(after[name], before[name]) for name in before)  # without a rate nothing is lost
    manifest = TrainingManifest.read(tmp_path / "still" / "manifest.json")
    assert manifest.adapter_sha256 is not None
    again = TrainingManifest.read(start.parent / "manifest.json")
    assert again.adapter_sha256 is None  # that one began with the base model
    assert manifest.base_sha256 == again.base_sha256


@pytest.mark.parametrize("train", [sft, awr])
def test_it_goes_on_learning(
    train: Callable[[Path, Path, float], None], folders: tuple[Path, Path], tmp_path: Path
) -> None:
    base, start = folders
    train(start, tmp_path / "more", 0.003)
    changed = adapter(tmp_path / "more" / "best")
    assert any(not torch.equal(changed[name], tensor) for name, tensor in adapter(start).items())
    scores = [
        sum(load_policy(f"hf:{p}" if p == base else str(p)).log_prob(w.context, w.action) for w in WINDOWS[:4])  # type: ignore[attr-defined]
        for p in (base, start, tmp_path / "more" / "best")
    ]
    assert scores == sorted(scores)


def test_training_the_whole_model_begins_with_the_merged_adapter(folders: tuple[Path, Path], tmp_path: Path) -> None:
    _, start = folders
    settings = AWRSettings(**STEP, policy_lr=0.0, lora_r=0)
    network, tokenizer, remark = load_for_training(str(start), settings)
    assert remark is not None
    assert "its adapter is merged into" in remark
    train_awr(network, tokenizer, WINDOWS[:4], tmp_path / "whole", settings=settings)
    whole, before = load_policy(str(tmp_path / "whole" / "best")), load_policy(str(start))
    window = WINDOWS[0]
    assert whole.log_prob(window.context, window.action) == pytest.approx(  # type: ignore[attr-defined]
        before.log_prob(window.context, window.action), rel=1e-4  # type: ignore[attr-defined]
    )  # fmt: skip
    assert not (tmp_path / "whole" / "best" / "adapter_config.json").exists()


def test_a_run_from_a_policy_can_be_resumed(folders: tuple[Path, Path], tmp_path: Path) -> None:
    _, start = folders
    settings = AWRSettings(**STEP, policy_lr=0.01, save_every=1)
    for resume in (False, True):
        network, tokenizer, _ = load_for_training(str(start), settings)
        log = train_awr(network, tokenizer, WINDOWS[:4], tmp_path, settings=settings, resume=resume)
        assert len(log["steps"]) == 2


def test_the_command_line_says_what_it_continues(
    folders: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    base, _ = folders
    monkeypatch.chdir(base.parent)
    data = ("--reward", "reply_length", "--limit", 4, "--max-steps", 1, "--max-window-tokens", 900)
    assert command("train", "awr", "first/best", "--out", tmp_path / "second", *data) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert "Continuing the adapter of 'first' (rank 4, scale 32)" in said
    assert command("train", "sft", "base", "--out", tmp_path / "third", *data) == 0
    assert "Continuing" not in capsys.readouterr().out
    # From anywhere: the base model is named by its whole path.
    monkeypatch.chdir(os.sep)
    for folder in ("second", "third"):
        policy = load_policy(str(tmp_path / folder / "best"))
        assert policy.name == folder
        assert policy.act(HISTORY) is not None
        assert json.loads((tmp_path / folder / "best" / "elicit_gym.json").read_text())["base_model"] == str(base)
    assert command("train", "merge", tmp_path / "second" / "best", "--out", tmp_path / "merged") == 0
    assert load_policy(str(tmp_path / "merged")).name == "merged"


def test_a_whole_model_is_continued_as_it_is(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    save_policy(tmp_path / "whole", tiny_model(tokenizer), tokenizer, {"base_model": "some/base"})
    _, _, remark = load_for_training(str(tmp_path / "whole"), SFTSettings())
    assert remark == "Continuing the policy 'whole', which is a whole model."
