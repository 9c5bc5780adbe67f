"""Windows as training examples."""

from elicit_gym.agents.training.data import length_grouped


def test_batches_are_grouped_by_length_and_seeded() -> None:
    lengths = [(i * 37) % 101 for i in range(200)]
    batches = length_grouped(lengths, 4, 0, 0)
    assert sorted(i for batch in batches for i in batch) == list(range(200))
    assert batches == length_grouped(lengths, 4, 0, 0) != length_grouped(lengths, 4, 0, 1)
    padded = sum(len(b) * max(lengths[i] for i in b) for b in batches)
    assert padded < 1.35 * sum(lengths)
