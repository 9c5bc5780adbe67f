"""AWR and SFT: positions, weights, checkpoints, the same trajectory after a kill and over processes."""

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

from elicit_gym.agents import load_policy
from elicit_gym.agents.batch import collate
from elicit_gym.agents.local_model import load_model
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.agents.policy_folder import read_config, save_policy
from elicit_gym.agents.scoring import sequence_log_probs
from elicit_gym.agents.training import awr
from elicit_gym.agents.training.awr import AWRConfig, train_awr
from elicit_gym.agents.training.checkpoint import latest_checkpoint
from elicit_gym.agents.training.data import encode_windows, length_grouped
from elicit_gym.agents.training.losses import advantage_weights, policy_loss, value_loss
from elicit_gym.agents.training.manifest import TrainingManifest
from elicit_gym.agents.training.policy_and_value import PolicyAndValue
from elicit_gym.agents.training.settings import TrainingSettings, set_checkpointing
from elicit_gym.agents.training.sft import train_sft
from elicit_gym.agents.training.value_head import load_value_head, make_value_head, save_value_head, value_positions
from elicit_gym.errors import ManifestMismatchError, MissingExtraError, SettingError
from elicit_gym.offline import load_dataset
from elicit_gym.offline.windows import Window, WindowRules
from elicit_gym.types import Message
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.conftest import ROOT

WINDOWS: list[Window] = list(
    load_dataset("sample/all-v1", reward="new_content_words").windows(WindowRules(max_tokens=120))
)[:21]
FAST = AWRConfig(policy_lr=1e-2, value_lr=1e-2, eval_every=2, save_every=2)


def test_the_value_is_read_where_the_marker_is() -> None:
    tokenizer = tiny_tokenizer()
    encoded = encode_windows(WINDOWS[:3], tokenizer, max_length=None)
    batch = collate(encoded, tokenizer.pad_token_id)
    ends = value_positions(batch.action_mask, "history_action")
    starts = value_positions(batch.action_mask, "history")
    for row, (example, _) in enumerate(encoded):
        assert int(ends[row]) == example.end
        assert int(batch.input_ids[row, ends[row]]) == tokenizer.eos_token_id  # the marker: the end of the action
        assert int(starts[row]) == example.action_start - 1
        action_length = int(batch.action_mask[row].sum())
        assert int(ends[row]) != action_length - 1  # where the published code looks, in the prompt


def test_log_probs_are_those_of_the_full_logits() -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    batch = collate(encode_windows(WINDOWS[:3], tokenizer, max_length=None), tokenizer.pad_token_id)
    with torch.no_grad():
        out = model(batch.input_ids, attention_mask=batch.attention_mask, output_hidden_states=True)
        summed, counts = sequence_log_probs(
            out.hidden_states[-1], model.get_output_embeddings(), batch.input_ids, batch.action_mask
        )
        full = out.logits[:, :-1].log_softmax(-1).gather(2, batch.input_ids[:, 1:, None]).squeeze(2)
    torch.testing.assert_close(summed, (full * batch.action_mask[:, 1:]).sum(1), atol=1e-3, rtol=1e-4)
    assert counts.tolist() == batch.action_mask.sum(1).tolist()
    module = PolicyAndValue(model, "history_action").eval()
    with torch.no_grad():
        again, _, values = module(batch.input_ids, batch.action_mask)
    torch.testing.assert_close(again, summed, atol=1e-3, rtol=1e-4)
    assert values.tolist() == [0, 0, 0]


def test_weights_and_losses() -> None:
    returns, values = torch.tensor([1.0, -1.0, 100.0]), torch.tensor([0.0, 0.0, 0.0], requires_grad=True)
    weights = advantage_weights(returns, values, alpha=0.5, beta=2.0, max_weight=20.0)
    torch.testing.assert_close(weights, torch.tensor([0.25, -0.25, 99.0]).exp().clamp(max=20))
    assert not weights.requires_grad
    assert float(advantage_weights(returns, values, max_weight=None)[2]) > 1e10
    log_probs, counts = torch.tensor([-4.0, -9.0]), torch.tensor([2.0, 3.0])
    ones = torch.ones(2)
    assert float(policy_loss(log_probs, counts, ones)) == 2.5
    assert float(policy_loss(log_probs, counts, ones, per_token=False)) == 6.5
    assert float(value_loss(torch.tensor([1.0, 3.0]), torch.tensor([0.0, 0.0]))) == 5.0


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    out = tmp_path_factory.mktemp("awr")
    tokenizer = tiny_tokenizer()
    return out, train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, out, dev=WINDOWS[:4], config=FAST)


def test_it_learns_and_a_last_batch_of_one_is_no_nan(run: tuple[Path, dict[str, Any]]) -> None:
    _, log = run
    assert len(log["steps"]) == 6  # 21 windows in batches of 4: the last holds one
    for row in log["steps"]:
        assert all(math.isfinite(value) and abs(value) < 1e6 for value in row.values())
        assert row["mean_weight"] == pytest.approx(1.0, abs=1e-5)
    assert log["evaluations"][-1]["nll_per_token"] < log["evaluations"][0]["nll_per_token"]


def test_a_killed_run_resumed_equals_an_unbroken_one(
    run: tuple[Path, dict[str, Any]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = awr.write_checkpoint

    def die_after(folder: Path, step: int, *rest: Any) -> Path:
        written = original(folder, step, *rest)
        if step == 4:
            raise KeyboardInterrupt
        return written

    tokenizer = tiny_tokenizer()
    monkeypatch.setattr(awr, "write_checkpoint", die_after)
    with pytest.raises(KeyboardInterrupt):
        train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path, dev=WINDOWS[:4], config=FAST)
    monkeypatch.setattr(awr, "write_checkpoint", original)
    (tmp_path / "checkpoints" / "step-000005.part").mkdir()  # a half-written one counts for nothing
    resumed = train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path, dev=WINDOWS[:4], config=FAST, resume=True)
    _, unbroken = run
    assert len(resumed["steps"]) == len(unbroken["steps"])
    for ours, theirs in zip(resumed["steps"], unbroken["steps"], strict=True):
        assert ours["loss"] == pytest.approx(theirs["loss"], abs=1e-5)
    again: dict[str, Any] = {"dev": WINDOWS[:4], "config": FAST, "resume": True}
    for changed, difference in (
        ({"config": replace(FAST, alpha=1.0)}, "settings.alpha: 0.25 there, 1.0 here"),
        ({"dev": WINDOWS[:3]}, "dev.sha256"),
    ):
        with pytest.raises(ManifestMismatchError, match=difference):
            train_awr(tiny_model(tokenizer), tokenizer, WINDOWS, tmp_path, **{**again, **changed})
    with pytest.raises(ManifestMismatchError, match="train.sha256"):
        train_awr(tiny_model(tokenizer), tokenizer, WINDOWS[1:], tmp_path, **again)
    latest = latest_checkpoint(tmp_path / "checkpoints")
    assert latest is not None
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
    assert config["config"]["alpha"] == 0.25
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


@pytest.mark.parametrize("option", [{"value_input": "history"}, {"standardise_returns": "batch"}, {"max_weight": None}, {"per_token": False}, {"weighted": False}, {"lora_r": 0}])  # fmt: skip
def test_every_option_trains(option: dict[str, Any], tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    config = replace(FAST, max_steps=2, **option)
    log = train_awr(tiny_model(tokenizer), tokenizer, WINDOWS[:5], tmp_path, config=config)
    assert len(log["steps"]) == 2
    assert (tmp_path / "best" / "value_head.safetensors").is_file()
    if option == {"weighted": False}:
        assert [row["max_weight"] for row in log["steps"]] == [1.0, 1.0]


def test_batches_are_grouped_by_length_and_seeded() -> None:
    lengths = [(i * 37) % 101 for i in range(200)]
    batches = length_grouped(lengths, 4, 0, 0)
    assert sorted(i for batch in batches for i in batch) == list(range(200))
    assert batches == length_grouped(lengths, 4, 0, 0) != length_grouped(lengths, 4, 0, 1)
    padded = sum(len(b) * max(lengths[i] for i in b) for b in batches)
    assert padded < 1.35 * sum(lengths)


SCRIPT = """
import sys
from dataclasses import replace
from elicit_gym.agents.training.awr import AWRConfig, train_awr
from tests.agents.training.test_training import FAST, WINDOWS
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
tokenizer = tiny_tokenizer()
config = replace(FAST, batch_size=int(sys.argv[2]), lora_dropout=0.0, save_every=100)
train_awr(tiny_model(tokenizer), tokenizer, WINDOWS[: int(sys.argv[3])], sys.argv[1], config=config)
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


def test_sft_through_trl_learns_on_the_completion_only(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    settings = TrainingSettings(policy_lr=1e-2, epochs=2, eval_every=4)
    log = train_sft(tiny_model(tokenizer), tokenizer, WINDOWS[:12], tmp_path, dev=WINDOWS[:4], settings=settings)
    losses = [row["eval_loss"] for row in log["steps"] if "eval_loss" in row]
    assert losses[-1] < losses[0]
    assert (tmp_path / "best" / "adapter_model.safetensors").is_file()
    assert read_config(tmp_path / "best")["method"] == "sft"
    # The loss that TRL reports is that of the action's tokens, as the package counts them.
    encoded = encode_windows(WINDOWS[:4], tokenizer, max_length=None)
    batch = collate(encoded, tokenizer.pad_token_id)
    module = PolicyAndValue(tiny_model(tokenizer), "history").eval()
    with torch.no_grad():
        log_probs, counts, _ = module(batch.input_ids, batch.action_mask)
    before = train_sft(
        tiny_model(tokenizer), tokenizer, WINDOWS[:4], tmp_path / "zero", dev=WINDOWS[:4],
        settings=TrainingSettings(policy_lr=0.0, lora_dropout=0.0),
    )  # fmt: skip
    reported = next(row["eval_loss"] for row in before["steps"] if "eval_loss" in row)
    assert reported == pytest.approx(float(-log_probs.sum() / counts.sum()), abs=2e-3)


def test_a_model_that_changes_its_logits_afterwards_is_refused() -> None:
    from transformers import Gemma2Config, Gemma2ForCausalLM

    sizes = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "head_dim": 8}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    capped = Gemma2ForCausalLM(Gemma2Config(**sizes, **heads, final_logit_softcapping=0.1))
    with pytest.raises(SettingError, match="'gemma2': expected a model whose logits come straight"):
        PolicyAndValue(capped, "history")
    PolicyAndValue(Gemma2ForCausalLM(Gemma2Config(**sizes, **heads, final_logit_softcapping=None)), "history")


@pytest.mark.parametrize("how", ["none", "selective", "full"])
def test_what_is_kept_for_the_backward_pass_changes_no_gradient(how: Any) -> None:
    tokenizer = tiny_tokenizer()
    batch = collate(encode_windows(WINDOWS[:3], tokenizer, max_length=None), tokenizer.pad_token_id)
    gradients = []
    for setting in ("none", how):
        model = tiny_model(tokenizer).train()
        switch = set_checkpointing(model, TrainingSettings(gradient_checkpointing=setting))
        switch(False)
        assert not model.is_gradient_checkpointing
        switch(True)
        assert model.is_gradient_checkpointing == (setting != "none")
        log_probs, _, _ = PolicyAndValue(model, "history")(batch.input_ids, batch.action_mask)
        log_probs.sum().backward()
        gradients.append([p.grad for p in model.parameters() if p.grad is not None])
    assert len(gradients[0]) == len(gradients[1]) > 10
    for first, second in zip(*gradients, strict=True):
        torch.testing.assert_close(first, second, atol=1e-5, rtol=1e-5)
    with pytest.raises(SettingError, match="none, selective, full"):
        TrainingSettings(gradient_checkpointing="some")  # type: ignore[arg-type]


def test_a_run_says_what_it_was_made_with(run: tuple[Path, dict[str, Any]]) -> None:
    manifest = TrainingManifest.read(run[0] / "manifest.json")
    assert manifest.method == "awr"
    assert manifest.train is not None
    assert manifest.dev is not None
    assert (manifest.train.count, manifest.dev.count) == (len(WINDOWS), 4)
    assert manifest.train.sha256 != manifest.dev.sha256
    assert manifest.settings["policy_lr"] == FAST.policy_lr
    assert {"torch", "transformers", "peft"} <= set(manifest.made.versions)


def test_head_starts_at_zero() -> None:
    assert float(make_value_head(8).weight.detach().abs().sum()) == 0


def test_a_base_model_in_8_bit_acts_and_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("bitsandbytes")
    tokenizer = tiny_tokenizer()
    save_policy(tmp_path / "base", tiny_model(tokenizer), tokenizer, {"base_model": ""})
    model, tokenizer = load_model(str(tmp_path / "base"), load_in_8bit=True)
    assert model.model.layers[0].mlp.gate_proj.weight.dtype == torch.int8
    history = (Message(role="user", content="I keep bees."),)
    whole = LocalPolicy(str(tmp_path / "base"))
    quantized = LocalPolicy(model, tokenizer=tokenizer)
    assert quantized.log_prob(history, "Why?") == pytest.approx(whole.log_prob(history, "Why?"), rel=0.05)
    log = train_awr(model.train(), tokenizer, WINDOWS[:8], tmp_path / "out", config=FAST)
    assert all(math.isfinite(row["loss"]) for row in log["steps"])
    assert load_policy(str(tmp_path / "out" / "best")).act(history)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="8bit"):
        load_model(str(tmp_path / "base"), load_in_8bit=True)


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
    config = replace(FAST, batch_size=2, accumulation=4, bf16=True, max_steps=4, lora_r=0, warmup_ratio=0.25)
    log = train_awr(model, tokenizer, WINDOWS[:8], tmp_path / "awr", config=config, tensorboard=True)
    assert all(math.isfinite(row["loss"]) for row in log["steps"])
    assert list((tmp_path / "awr" / "tensorboard").glob("events*"))
    # One update for four steps of two: as far as one step of Adam at this rate goes, and no further.
    moved = max(float((p.detach() - before[name]).abs().max()) for name, p in model.named_parameters())
    assert 0 < moved <= 1.01 * FAST.policy_lr
    settings = TrainingSettings(batch_size=2, accumulation=2, bf16=True, max_steps=1)
    train_sft(tiny_model(tokenizer), tokenizer, WINDOWS[:4], tmp_path / "sft", settings=settings, tensorboard=True)
    assert list((tmp_path / "sft").rglob("events*"))
