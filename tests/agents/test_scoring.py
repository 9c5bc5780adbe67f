"""Log probabilities of utterances."""

import torch

from elicit_gym.agents.batch import collate
from elicit_gym.agents.scoring import sequence_log_probs
from elicit_gym.agents.training.data import encode_windows
from elicit_gym.agents.training.policy_and_value import PolicyAndValue
from tests.agents.tiny_model import tiny_model, tiny_tokenizer
from tests.agents.training.windows import WINDOWS


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
