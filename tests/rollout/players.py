"""Policies and a judge that rollouts are tried out with."""

from collections.abc import Sequence
from typing import Any

from elicit_gym import EpisodeRecord, collect_episodes
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.types import ChatHistory, JudgeRequest, Verdict

IDS = ["00-a", "00-b", "07-a", "11-b", "20-a"]

WORDS = ("What is your budget?", "When is it due?", "Who else has a say?", "What have you tried?", "What matters most?")


class Chooser:
    """Draws from its seed and the history, alone or in a batch; keeps what it was asked."""

    name = "chooser"

    def __init__(self, fail_on: str = "", broken_batch: bool = False) -> None:
        self.fail_on, self.broken_batch = fail_on, broken_batch
        self.batches: list[int] = []
        self._seed = 0

    def reset(self, seed: int) -> None:
        self._seed = seed

    def _say(self, history: ChatHistory, seed: int) -> str:
        if self.fail_on and self.fail_on in history[0].content and len(history) > 3:
            raise RuntimeError("out of ideas")
        return WORDS[(seed + 7 * len(history)) % len(WORDS)]

    def act(self, history: ChatHistory) -> str:
        return self._say(history, self._seed)

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        return [self.act(history) for history in histories]

    def act_seeded(self, histories: Sequence[ChatHistory], seeds: Sequence[int]) -> list[str]:
        self.batches.append(len(histories))
        if self.broken_batch and len(histories) > 1:
            return ["too few"]
        return [self._say(history, seed) for history, seed in zip(histories, seeds, strict=True)]


class Unseeded:
    """A batch policy without randomness."""

    name = "unseeded"

    def reset(self, seed: int) -> None:
        pass

    def act(self, history: ChatHistory) -> str:
        return WORDS[len(history) % len(WORDS)]

    def act_batch(self, histories: Sequence[ChatHistory]) -> list[str]:
        return [self.act(history) for history in histories]


def run(policy: Any, concurrency: int, **kwargs: Any) -> list[EpisodeRecord]:
    return collect_episodes(policy, scenario_ids=IDS, repeats=3, seed=4, concurrency=concurrency, **kwargs)


class Picky(ScriptedJudge):
    """Fails on one scenario."""

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        if request.scenario.id == "07-a":
            raise ConnectionError("gone")
        return super().judge(request)


class Blank(Chooser):
    """Says nothing in one scenario."""

    def _say(self, history: ChatHistory, seed: int) -> str:
        return " " if len(history) == 5 and seed % 2 else super()._say(history, seed)
