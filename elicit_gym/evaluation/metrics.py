"""Metrics of one finished episode: functions from a record to a number, or to None if there is no number."""

from collections.abc import Callable

from elicit_gym.episode import EpisodeRecord
from elicit_gym.text import content_stems
from elicit_gym.understanding.clauses import questions_in

__all__ = ["METRICS", "Metric", "num_turns", "success", "total_reward"]

Metric = Callable[[EpisodeRecord], float | None]


def total_reward(record: EpisodeRecord) -> float:
    """Return the undiscounted return."""
    return record.episode.total_reward


def success(record: EpisodeRecord) -> float:
    """Return 1 when every checklist item was satisfied, else 0."""
    return float(record.episode.success)


def num_turns(record: EpisodeRecord) -> float:
    """Return how many messages the agent sent."""
    return float(len(record.episode.turns))


def turns_to_success(record: EpisodeRecord) -> float | None:
    """Return how many messages success took; None for an episode without."""
    return num_turns(record) if record.episode.success else None


def questions_per_message(record: EpisodeRecord) -> float | None:
    """Return the mean number of questions and requests per message of the agent's."""
    turns = record.episode.turns
    return sum(len(questions_in(turn.action)) for turn in turns) / len(turns) if turns else None


def words_per_message(record: EpisodeRecord) -> float | None:
    """Return the mean number of white-space separated words per message of the agent's."""
    turns = record.episode.turns
    return sum(len(turn.action.split()) for turn in turns) / len(turns) if turns else None


def repeated_questions(record: EpisodeRecord) -> float:
    """Return how many questions repeat an earlier one of the episode (the same content words, in any order)."""
    seen: set[frozenset[str]] = set()
    repeated = 0
    for turn in record.episode.turns:
        for question in questions_in(turn.action):
            key = content_stems(question) or frozenset([question])
            repeated += key in seen
            seen.add(key)
    return float(repeated)


METRICS: dict[str, Metric] = {
    "questions_per_message": questions_per_message,
    "repeated_questions": repeated_questions,
    "return": total_reward,
    "success_rate": success,
    "turns_to_success": turns_to_success,
    "words_per_message": words_per_message,
}
"""Every metric by the name that tables use."""
