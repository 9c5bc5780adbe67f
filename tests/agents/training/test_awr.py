"""AWR: it learns, its checkpoints, the same trajectory after a kill and over processes."""

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from accelerate.state import AcceleratorState
from safetensors.torch import load_file

from elicit_gym.agents import load_policy
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.agents.policy_folder import read_config
from elicit_gym.agents.training import awr_run
from elicit_gym.agents.training.awr import train_awr
from elicit_gym.agents.training.checkpoint import latest_checkpoint
from elicit_gym.agents.training.manifest import TrainingManifest
from elicit_gym.agents.training.settings import SFTSettings
from elicit_gym.agents.training.sft import train_sft
from elicit_gym.agents.training.value_head import load_value_head, save_value_head
from elicit_gym.errors import ManifestMismatchError, SettingError
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.agents.training.windows import FAST, WINDOWS
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("awr")
    tokenizer = tiny_tokenizer()
    return out, train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, out, dev=WINDOWS[:4], settings=FAST)


def test_it_learns_and_a_last_batch_of_one_is_no_nan(run: tuple[Path, dict[str, Any]]) -> None:
    _, log = run
    assert len(log["steps"]) == 6  # 21 windows in batches of 4: the last holds one
    for row in log["steps"]:
        assert all(math.isfinite(value) and abs(value) < 1e6 for value in row.values())
        assert row["mean_weight"] == pytest.approx(1.0, abs=0.5)  # exactly 1 where batches are normalised
    assert log["evaluations"][-1]["nll_per_token"] < log["evaluations"][0]["nll_per_token"]


def die_after(last: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a training be killed as soon as the checkpoint of this step is written."""
    original = awr_run.write_checkpoint

    def write(folder: Path, step: int, *rest: Any) -> Path:
        written = original(folder, step, *rest)
        if step == last:
            raise KeyboardInterrupt
        return written

    monkeypatch.setattr(awr_run, "write_checkpoint", write)


def test_a_killed_run_resumed_equals_an_unbroken_one(
    run: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = tiny_tokenizer()
    die_after(4, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path, dev=WINDOWS[:4], settings=FAST)
    monkeypatch.undo()
    (tmp_path / "checkpoints" / "step-000005.part").mkdir()  # a half-written one counts for nothing
    resumed = train_awr(
        tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path, dev=WINDOWS[:4], settings=FAST, resume=True
    )
    _, unbroken = run
    assert len(resumed["steps"]) == len(unbroken["steps"])
    for ours, theirs in zip(resumed["steps"], unbroken["steps"], strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], abs=1e-5)
    again: dict[str, Any] = {"dev": WINDOWS[:4], "settings": FAST, "resume": True}
    for changed, difference in (
        ({"settings": replace(FAST, alpha=1.0)}, "settings.alpha: 0.25 there, 1.0 here"),
        ({"dev": WINDOWS[:3]}, "dev.sha256"),
    ):
        with pytest.raises(ManifestMismatchError, match=difference):
            train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path, **{**again, **changed})
    with pytest.raises(ManifestMismatchError, match="train.sha256"):
        train_awr(tiny_model(tokenizer), tokenizer, WINDOWS[1:], tmp_path, **again)
    latest = latest_checkpoint(tmp_path / "checkpoints")
    assert latest is not None
    sound = torch.load(latest / "training_state.pt", weights_only=True)
    others: list[Any] = [
        {**sound, "step": "5"}, {**sound, "best": [1]}, {**sound, "log": None}, {**sound, "optimizer": {}},
        {**sound, "module": {"head.weight": torch.zeros(9, 9)}}, {"step": 5}, [sound],
    ]  # fmt: skip
    for other in others:
        torch.save(other, latest / "training_state.pt")
        with pytest.raises(SettingError, match=r"(?s)Resuming from .*step-\d+: expected .* Remove the folder"):
            train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path, **again)
    torch.save(sound, latest / "training_state.pt")
    (latest / "training_state.pt").write_bytes((latest / "training_state.pt").read_bytes()[:500])
    with pytest.raises(SettingError, match="expected a whole training state"):
        train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path, **again)


def test_the_best_policy_and_its_value_head_load(run: tuple[Path, dict[str, Any]], tmp_path: Path) -> None:
    out, _ = run
    head = load_value_head(out / "best")
    assert head.weight.abs().sum() > 0
    save_value_head(head, tmp_path)
    torch.testing.assert_close(load_value_head(tmp_path).weight, head.weight)
    with pytest.raises(SettingError, match="Is it an AWR checkpoint"):
        load_value_head(tmp_path / "nowhere")
    config = read_config(out / "best")
    assert config["method"] == "awr"
    assert config["settings"]["alpha"] == 0.25
    assert not list(out.rglob("*.bin"))  # safetensors only
    tokenizer = tiny_tokenizer()
    tiny_model(tokenizer).save_pretrained(tmp_path / "base")
    tokenizer.save_pretrained(tmp_path / "base")
    path = out / "best" / "elicit_gym.json"
    path.write_text(json.dumps({**config, "base_model": str(tmp_path / "base")}), encoding="utf-8")
    trained = load_policy(str(out / "best"))
    assert isinstance(trained, LocalPolicy)
    plain = LocalPolicy(tiny_model(tokenizer).eval(), tokenizer=tokenizer)
    history, action = WINDOWS[0].context, WINDOWS[0].action
    assert trained.log_prob(history, action) > plain.log_prob(history, action)
    other = tiny_model(tokenizer)
    other.config.hidden_size = 32
    from transformers import LlamaConfig, LlamaForCausalLM

    wide = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=48,
            intermediate_size=64,
            num_hidden_layers=2,
            num_attention_heads=4,
            num_key_value_heads=2,
        )
    )
    wide.save_pretrained(tmp_path / "wide")
    tokenizer.save_pretrained(tmp_path / "wide")
    with pytest.raises(SettingError, match="expected one made for"):
        LocalPolicy(str(tmp_path / "wide"), adapter=out / "best")


def test_rows_without_returns_and_long_windows_are_one_clear_error(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    flat = [replace(window, return_to_go=0.0) for window in WINDOWS]
    with pytest.raises(SettingError, match="expected windows with returns that differ"):
        train_awr(tiny_model(tokenizer), tokenizer, flat, tmp_path)
    model = tiny_model(tokenizer)
    model.config.max_position_embeddings = 50
    with pytest.raises(SettingError, match="expected windows of at most 50 tokens"):
        train_awr(model, tokenizer, WINDOWS, tmp_path)
    with pytest.raises(SettingError, match="expected windows, got none"):
        train_awr(tiny_model(tokenizer), tokenizer, [], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("option", [{"value_input": "history"}, {"standardise_returns": "batch"}, {"max_weight": None}, {"reduction": "sequence"}, {"reduction": "sum"}, {"normalise_weights": "batch"}, {"normalise_weights": "none"}, {"weight_decay": 0.01}, {"weighted": False}, {"lora_r": 0}])  # fmt: skip
def test_every_option_trains(option: dict[str, Any], tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    settings = replace(FAST, max_steps=2, **option)
    log = train_awr(tiny_model(tokenizer), tokenizer, WINDOWS[:5], tmp_path, settings=settings)
    assert len(log["steps"]) == 2
    assert (tmp_path / "best" / "value_head.safetensors").is_file()
    if option == {"normalise_weights": "batch"}:
        assert [row["mean_weight"] for row in log["steps"]] == pytest.approx([1.0, 1.0], abs=1e-5)
    if option == {"weighted": False}:
        assert [row["max_weight"] for row in log["steps"]] == [1.0, 1.0]


SCRIPT = """
import sys
from dataclasses import replace
from elicit_gym.agents.training.awr import train_awr
from tests.agents.training.windows import FAST, WINDOWS
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
tokenizer = tiny_tokenizer()
settings = replace(FAST, batch_size=int(sys.argv[2]), lora_dropout=0.0, save_every=100)
train_awr(tiny_model(tokenizer), tokenizer, WINDOWS[: int(sys.argv[3])], sys.argv[1], settings=settings)
"""


@pytest.mark.parametrize("windows", [17, 19])  # the last batch leaves a process with nothing, and with less
def test_two_processes_do_what_one_does_with_twice_the_batch(windows: int, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT, encoding="utf-8")
    env = {**os.environ, "PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    for processes, batch, out in ((1, 4, "one"), (2, 2, "two")):
        command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc_per_node", str(processes)]
        done = subprocess.run(
            [*command, str(script), str(tmp_path / out), str(batch), str(windows)], env=env, capture_output=True, text=True, check=False,
            cwd=ROOT,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-2000:]
    one, two = (json.loads((tmp_path / name / "log.json").read_text())["steps"] for name in ("one", "two"))
    assert len(one) == len(two) == 5
    for ours, theirs in zip(one, two, strict=True):
        for name, value in ours.items():
            assert theirs[name] == pytest.approx(value, abs=1e-4), name


def test_a_run_says_what_it_was_made_with(run: tuple[Path, dict[str, Any]]) -> None:
    manifest = TrainingManifest.read(run[0] / "manifest.json")
    assert manifest.method == "awr"
    assert manifest.train is not None
    assert manifest.dev is not None
    assert (manifest.train.count, manifest.dev.count) == (len(WINDOWS), 4)
    assert manifest.train.sha256 != manifest.dev.sha256
    assert manifest.settings["policy_lr"] == FAST.policy_lr
    assert {"torch", "transformers", "peft"} <= set(manifest.made.versions)


@pytest.fixture
def fresh_accelerate() -> Iterator[None]:
    """Let a test set a precision of its own: accelerate keeps one for the whole process."""
    AcceleratorState._reset_state(reset_partial_state=True)
    yield
    AcceleratorState._reset_state(reset_partial_state=True)


@pytest.mark.usefixtures("fresh_accelerate")
def test_bf16_accumulation_and_tensorboard(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer)
    before = {name: p.detach().clone() for name, p in model.named_parameters()}
    settings = replace(
        FAST, batch_size=2, gradient_accumulation_steps=4, bf16=True, max_steps=1, lora_r=0, warmup_ratio=0.25
    )
    log = train_awr(model, tokenizer, WINDOWS[:8], tmp_path / "awr", settings=settings, tensorboard=True)
    assert all(math.isfinite(row["loss"]) for row in log["steps"])
    assert list((tmp_path / "awr" / "tensorboard").glob("events*"))
    # One update for four batches of two: as far as one step of Adam at this rate goes, and no further.
    moved = max(float((p.detach() - before[name]).abs().max()) for name, p in model.named_parameters())
    assert 0 < moved <= 1.01 * FAST.policy_lr
    settings = SFTSettings(batch_size=2, gradient_accumulation_steps=2, bf16=True, max_steps=1)
    train_sft(tiny_model(tokenizer), tokenizer, WINDOWS[:4], tmp_path / "sft", settings=settings, tensorboard=True)
    assert list((tmp_path / "sft").rglob("events*"))


def final(out: Path) -> dict[str, torch.Tensor]:
    return {**load_file(out / "best" / "adapter_model.safetensors"), **load_value_head(out / "best").state_dict()}


@pytest.mark.parametrize("reduction", ["token", "sequence", "sum"])
@pytest.mark.parametrize("weighted", [True, False])
def test_how_an_update_is_cut_into_batches_changes_nothing(reduction: Any, weighted: bool, tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    logs, weights = [], []
    for batch, steps in ((8, 1), (1, 8), (2, 4)):
        settings = replace(
            FAST, batch_size=batch, gradient_accumulation_steps=steps, lora_dropout=0.0, reduction=reduction,
            weighted=weighted, alpha=2.0,
        )  # fmt: skip
        out = tmp_path / f"{batch}x{steps}"
        logs.append(train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, out, settings=settings)["steps"])
        weights.append(final(out))
    assert [row["step"] for row in logs[0]] == [1, 2, 3]  # 21 windows: the last update is made on five
    if weighted:
        assert max(row["max_weight"] for row in logs[0]) > 4  # no batch is so small that it caps the weights
    for log, found in zip(logs[1:], weights[1:], strict=True):
        for row, wanted in zip(log, logs[0], strict=True):
            assert row == pytest.approx(wanted, rel=1e-4, abs=1e-5)
        for name, tensor in weights[0].items():
            torch.testing.assert_close(found[name], tensor, atol=1e-4, rtol=1e-3)


def test_a_kill_between_two_updates_of_many_batches_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokenizer = tiny_tokenizer()
    settings = replace(FAST, batch_size=1, gradient_accumulation_steps=5, save_every=1)
    whole = train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path / "whole", settings=settings)
    die_after(3, monkeypatch)
    with pytest.raises(KeyboardInterrupt):
        train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path / "cut", settings=settings)
    monkeypatch.undo()
    cut = train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path / "cut", settings=settings, resume=True)
    assert len(cut["steps"]) == len(whole["steps"]) == 5
    for ours, theirs in zip(cut["steps"], whole["steps"], strict=True):
        assert ours == pytest.approx(theirs, abs=1e-5)


def test_a_batch_of_bad_actions_counts_for_less_than_one_of_good_ones(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    sides = [replace(w, return_to_go=10.0 if i % 2 else -10.0) for i, w in enumerate(WINDOWS[:16])]
    settings = replace(FAST, batch_size=1, alpha=1.0, value_lr=0.0, max_steps=16)
    shares = {}
    for how in ("running", "batch"):
        log = train_awr(
            tiny_model(tokenizer), tokenizer, sides, tmp_path / how, settings=replace(settings, normalise_weights=how)
        )
        shares[how] = sorted(row["mean_weight"] for row in log["steps"])
    assert shares["batch"] == pytest.approx([1.0] * 16)  # which is unweighted training
    assert shares["running"][8] > 3 * shares["running"][7]


def test_a_training_that_diverges_says_so(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    settings = replace(FAST, policy_lr=1e30)
    with pytest.raises(SettingError, match=r"expected a finite loss, got .*(nan|inf).* at step \d\. What was saved"):
        train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path, settings=settings)
    assert not (tmp_path / "best").exists()
