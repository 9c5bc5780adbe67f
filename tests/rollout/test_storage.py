"""Records survive the file, whatever is in them."""

import json
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from elicit_gym.episode import Episode, EpisodeRecord, Failure, Turn
from elicit_gym.types import Usage

TEXT = st.text(st.characters(exclude_categories=()), max_size=30)  # lone surrogates too
INDEXES = st.lists(st.integers(0, 4), unique=True, max_size=3).map(tuple)
USAGE = st.builds(
    Usage,
    seat=st.sampled_from(["policy", "user_simulator", "judge"]),
    model=TEXT,
    calls=st.integers(0, 9),
    input_tokens=st.integers(0, 10**6),
    output_tokens=st.integers(0, 10**6),
    cost_usd=st.none() | st.floats(0, 10),
)
TURN = st.builds(
    Turn,
    action=TEXT,
    reply=st.none() | TEXT,
    reward=st.floats(-5, 5),
    newly_satisfied=INDEXES,
    stuck=st.booleans(),
    unscored=INDEXES,
    flags=st.lists(TEXT, max_size=2).map(tuple),
    usage=st.lists(USAGE, max_size=2).map(tuple),
)
RECORD = st.builds(
    EpisodeRecord,
    policy=TEXT,
    env_id=TEXT,
    scenario_id=TEXT,
    repeat=st.integers(0, 99),
    seed=st.integers(0, 2**31),
    episode=st.builds(
        Episode,
        opening_message=TEXT,
        turns=st.lists(TURN, max_size=4).map(tuple),
        terminated=st.booleans(),
        truncated=st.booleans(),
        left=st.booleans(),
    ),
    failure=st.none()
    | st.builds(Failure, source=st.sampled_from(["policy", "judge"]), message=TEXT, turn=st.integers(0, 9)),
)


@given(RECORD)
def test_round_trip(record: EpisodeRecord) -> None:
    line = json.dumps(record.to_row())
    assert "\n" not in line
    assert EpisodeRecord.from_row(json.loads(line)) == record


@given(RECORD)
def test_transitions_chain(record: EpisodeRecord) -> None:
    transitions = list(record.episode.transitions())
    assert len(transitions) == len(record.episode.turns)
    for first, second in pairwise(transitions):
        assert (first.terminated, first.truncated) == (False, False)
        if all(turn.reply is not None for turn in record.episode.turns):
            assert first.next_observation == second.observation
    assert sum(t.reward for t in transitions) == record.episode.total_reward
