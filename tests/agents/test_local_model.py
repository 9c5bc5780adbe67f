"""Loading a local model."""

import math
from pathlib import Path

import pytest
import torch

from elicit_gym.agents import load_policy
from elicit_gym.agents.local_model import load_model
from elicit_gym.agents.local_policy import LocalPolicy
from elicit_gym.agents.policy_folder import save_policy
from elicit_gym.agents.training.awr import train_awr
from elicit_gym.errors import MissingExtraError
from elicit_gym.types import Message
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.agents.training.windows import FAST, WINDOWS


def test_a_base_model_in_8_bit_acts_and_trains(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
