"""Log probabilities of utterances."""

import torch

from elicit_gym.agents.batch import Row, collate
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
        out = model(batch.input_ids, output_hidden_states=True)
        summed, counts = sequence_log_probs(
            out.hidden_states[-1], model.get_output_embeddings(), batch.input_ids, batch.actions, 3
        )
        full = out.logits[:, :-1].log_softmax(-1).gather(2, batch.input_ids[:, 1:, None]).squeeze(2)
    torch.testing.assert_close(summed, (full * (batch.actions[:, 1:] > 0)).sum(1), atol=1e-3, rtol=1e-4)
    assert counts.tolist() == (batch.actions > 0).sum(1).tolist()
    module = PolicyAndValue(model, "history_action").eval()
    with torch.no_grad():
        again, _, values = module(batch.input_ids, batch.actions, 3)
    torch.testing.assert_close(again, summed, atol=1e-3, rtol=1e-4)
    assert values.tolist() == [0, 0, 0]


def test_several_actions_of_a_row_are_scored_each_on_its_own() -> None:
    tokenizer = tiny_tokenizer()
    model = tiny_model(tokenizer).eval()
    row = Row(list(range(5, 45)), ((4, 9), (15, 16), (30, 40)), (1.0, 2.0, 3.0))
    other = Row(list(range(50, 60)), ((3, 10),), (4.0,))
    alone = [Row(row.input_ids[:end], ((start, end),), (0.0,)) for start, end in row.spans] + [other]
    with torch.no_grad():
        module = PolicyAndValue(model, "history_action")
        torch.nn.init.normal_(module.head.weight)
        module.eval()
        batch, apart = collate([row, other], 0), collate(alone, 0)
        together = module(batch.input_ids, batch.actions, 4)
        singly = module(apart.input_ids, apart.actions, 4)
    assert batch.returns.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert together[1].tolist() == [5.0, 1.0, 10.0, 7.0]
    for one, many in zip(singly, together, strict=True):
        torch.testing.assert_close(many, one, atol=1e-4, rtol=1e-4)
