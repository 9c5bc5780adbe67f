"""Settings that all ways of training share."""

from typing import Any

import pytest
import torch

from elicit_gym.agents.batch import collate
from elicit_gym.agents.training.data import encode_windows
from elicit_gym.agents.training.policy_and_value import PolicyAndValue
from elicit_gym.agents.training.settings import TrainingSettings, set_checkpointing
from elicit_gym.errors import SettingError
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.agents.training.windows import WINDOWS


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
        log_probs, _, _ = PolicyAndValue(model, "history")(batch.input_ids, batch.actions, len(batch.returns))
        log_probs.sum().backward()
        gradients.append([p.grad for p in model.parameters() if p.grad is not None])
    assert len(gradients[0]) == len(gradients[1]) > 10
    for first, second in zip(*gradients, strict=True):
        torch.testing.assert_close(first, second, atol=1e-5, rtol=1e-5)
    with pytest.raises(SettingError, match="none, selective, full"):
        TrainingSettings(gradient_checkpointing="some")  # type: ignore[arg-type]
