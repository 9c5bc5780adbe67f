"""Policy and value in one module."""

import pytest

from elicit_gym.agents.training.policy_and_value import PolicyAndValue
from elicit_gym.errors import SettingError


def test_a_model_that_changes_its_logits_afterwards_is_refused() -> None:
    from transformers import Gemma2Config, Gemma2ForCausalLM

    sizes = {"vocab_size": 300, "hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1, "head_dim": 8}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    capped = Gemma2ForCausalLM(Gemma2Config(**sizes, **heads, final_logit_softcapping=0.1))
    with pytest.raises(SettingError, match="'gemma2': expected a model whose logits come straight"):
        PolicyAndValue(capped, "history")
    PolicyAndValue(Gemma2ForCausalLM(Gemma2Config(**sizes, **heads, final_logit_softcapping=None)), "history")
