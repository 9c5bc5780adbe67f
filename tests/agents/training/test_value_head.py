"""The value head."""

from elicit_gym.agents.batch import collate
from elicit_gym.agents.training.data import encode_windows
from elicit_gym.agents.training.value_head import make_value_head, value_positions
from tests.agents.tiny_model import tiny_tokenizer
from tests.agents.training.windows import WINDOWS


def test_the_value_is_read_where_the_marker_is() -> None:
    tokenizer = tiny_tokenizer()
    encoded = encode_windows(WINDOWS[:3], tokenizer, max_length=None)
    batch = collate(encoded, tokenizer.pad_token_id)
    rows, ends = value_positions(batch.actions, 3, "history_action")
    same, starts = value_positions(batch.actions, 3, "history")
    assert rows.tolist() == same.tolist() == [0, 1, 2]
    for row, example in enumerate(encoded):
        ((first, behind),) = example.spans
        assert int(ends[row]) == behind - 1
        assert int(batch.input_ids[row, ends[row]]) == tokenizer.eos_token_id  # the marker: the end of the action
        assert int(starts[row]) == first - 1
        action_length = int((batch.actions[row] > 0).sum())
        assert int(ends[row]) != action_length - 1  # where the published code looks, in the prompt


def test_head_starts_at_zero() -> None:
    assert float(make_value_head(8).weight.detach().abs().sum()) == 0
