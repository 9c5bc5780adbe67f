"""A world of two turns whose truth can be written down: every possible episode as often as the behaviour makes it."""

import math
from collections.abc import Sequence
from dataclasses import replace

from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.types import ChatHistory, Message

STOP, GO, LEFT, RIGHT = "Goodbye.", "Tell me more.", "Left?", "Right?"
REWARDS = {STOP: 1.0, GO: 0.5, LEFT: 4.0, RIGHT: 2.0}
TARGET = {STOP: 0.2, GO: 0.8, LEFT: 0.9, RIGHT: 0.1}


def truth(gamma: float = 1.0) -> float:
    second = TARGET[LEFT] * REWARDS[LEFT] + TARGET[RIGHT] * REWARDS[RIGHT]
    return TARGET[STOP] * REWARDS[STOP] + TARGET[GO] * (REWARDS[GO] + gamma * second)


class Table:
    """Stops or goes on, and then says left or right, with fixed probabilities."""

    def __init__(self, name: str, probabilities: dict[str, float]) -> None:
        self.name = name
        self._probabilities = probabilities

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return STOP

    def action_log_probs(self, histories: Sequence[ChatHistory], actions: Sequence[str]) -> list[float]:
        return [self._log_prob(history, action) for history, action in zip(histories, actions, strict=True)]

    def _log_prob(self, history: ChatHistory, action: str) -> float:
        can = (LEFT, RIGHT) if any(message.role == "assistant" for message in history) else (STOP, GO)
        probability = self._probabilities.get(action, 0.0) if action in can else 0.0
        return math.log(probability) if probability else -math.inf


BEHAVIOUR = Table("coin", dict.fromkeys(REWARDS, 0.5))


def episode(name: str, *actions: str) -> OfflineEpisode:
    messages = [Message(role="user", content="Hello.")]
    for action in actions:
        messages += [Message(role="assistant", content=action), Message(role="user", content="Hm.")]
    rewards = tuple(REWARDS[action] for action in actions)
    return OfflineEpisode(
        id=name, domain="test", messages=tuple(messages), turn_ids=tuple(range(len(messages))), rewards=rewards,
        returns_to_go=rewards,
    )  # fmt: skip


def every_episode(copies: int = 3) -> list[OfflineEpisode]:
    """Under the coin half of all conversations end at once, a quarter goes left, a quarter goes right."""
    made = []
    for i in range(copies):
        made += [
            episode(f"a{i}", STOP),
            episode(f"b{i}", STOP),
            episode(f"c{i}", GO, LEFT),
            episode(f"d{i}", GO, RIGHT),
        ]
    return made


def with_coin(episodes: Sequence[OfflineEpisode]) -> list[OfflineEpisode]:
    return [replace(e, behaviour_log_probs=(math.log(0.5),) * len(e)) for e in episodes]
