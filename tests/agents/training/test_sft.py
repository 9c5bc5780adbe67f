"""SFT through TRL."""

from pathlib import Path

import pytest
import torch

from elicit_gym.agents.batch import collate
from elicit_gym.agents.policy_folder import read_config
from elicit_gym.agents.training.data import encode_windows
from elicit_gym.agents.training.policy_and_value import PolicyAndValue
from elicit_gym.agents.training.settings import SFTSettings
from elicit_gym.agents.training.sft import train_sft
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.agents.training.windows import WINDOWS


def test_sft_through_trl_learns_on_the_completion_only(tmp_path: Path) -> None:
    tokenizer = tiny_tokenizer()
    settings = SFTSettings(policy_lr=1e-2, epochs=2, eval_every=4)
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
        log_probs, counts, _ = module(batch.input_ids, batch.actions, len(batch.returns))
    before = train_sft(
        tiny_model(tokenizer), tokenizer, WINDOWS[:4], tmp_path / "zero", dev=WINDOWS[:4],
        settings=SFTSettings(policy_lr=0.0, lora_dropout=0.0),
    )  # fmt: skip
    reported = next(row["eval_loss"] for row in before["steps"] if "eval_loss" in row)
    assert reported == pytest.approx(float(-log_probs.sum() / counts.sum()), abs=2e-3)
