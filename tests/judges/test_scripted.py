"""The scripted judge agrees with people and cannot be gamed."""

import json
import random
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from benchmarks.judge_agreement import judge_labelled_pairs, load_labelled_pairs
from elicit_gym import collect_episodes
from elicit_gym.judges.scripted import ScriptedJudge
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.statistics.estimates import cohen_kappa
from elicit_gym.types import ChatHistory, JudgeRequest, Scenario

SCENARIOS = load_scenarios()
ALL_CUES = sorted({cue.replace("|", " ") for s in SCENARIOS for item in s.checklist for cue in item.cues})
OTHER_QUESTIONS = [item.question for s in SCENARIOS for item in s.checklist]


class Gamer:
    """A policy that writes for the judge and not for the user."""

    def __init__(self, name: str, write: Callable[[random.Random, ChatHistory], str]) -> None:
        self.name = name
        self._write = write
        self._random = random.Random(0)

    def reset(self, seed: int) -> None:
        self._random = random.Random(seed)

    def act(self, history: ChatHistory) -> str:
        return self._write(self._random, history)


def _generic_advice(rng: random.Random, history: ChatHistory) -> str:
    return ". ".join(f"You should think about {' '.join(rng.sample(ALL_CUES, 6))} and make a plan" for _ in range(180))


GAMES: dict[str, Callable[[random.Random, ChatHistory], str]] = {
    "keywords": lambda rng, h: " ".join(rng.sample(ALL_CUES, 40)),
    "keywords as one question": lambda rng, h: " ".join(rng.sample(ALL_CUES, 12)) + "?",
    "keywords with commas": lambda rng, h: "What about " + ", ".join(rng.sample(ALL_CUES, 10)) + "?",
    "keywords with and": lambda rng, h: "What is the " + " and the ".join(rng.sample(ALL_CUES, 8)) + "?",
    "ten questions": lambda rng, h: " ".join(f"What about the {cue}?" for cue in rng.sample(ALL_CUES, 10)),
    "echo": lambda rng, h: h[-1].content,
    "echo as a question": lambda rng, h: f"You say: {h[-1].content.rstrip('.!? ')}?",
    "opening message": lambda rng, h: h[0].content,
    "opening message as a question": lambda rng, h: h[0].content.rstrip(".") + "?",
    "checklists of others": lambda rng, h: " ".join(rng.sample(OTHER_QUESTIONS, 5)),
    "all checklists": lambda rng, h: " ".join(OTHER_QUESTIONS),
    "one item of a checklist": lambda rng, h: rng.choice(OTHER_QUESTIONS),
    "3,000 words of advice": _generic_advice,
}


@pytest.mark.parametrize("name", GAMES)
def test_games_do_not_pay(name: str) -> None:
    records = collect_episodes(Gamer(name, GAMES[name]), repeats=2)
    assert all(record.failure is None for record in records)
    assert fmean(record.episode.total_reward for record in records) <= 0.5


def test_agreement_with_hand_labels() -> None:
    pairs = load_labelled_pairs()
    labels = [pair["label"] for pair in pairs]
    assert len(pairs) >= 200
    assert 0.45 <= fmean(labels) <= 0.55
    assert (cohen_kappa(judge_labelled_pairs(ScriptedJudge(), pairs), labels) or 0) >= 0.8


def test_the_labelled_pairs_belong_to_the_scenarios() -> None:
    by_id = {s.id: s for s in SCENARIOS}
    path = Path(__file__).parent.parent / "data" / "labelled_pairs.jsonl"
    pairs = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({(p["scenario_id"], p["item"], p["assistant_message"]) for p in pairs}) == len(pairs)
    for pair in pairs:
        assert by_id[pair["scenario_id"]].checklist[pair["item"]].question == pair["question"]


def request(scenario: Scenario, message: str, **more: Any) -> JudgeRequest:
    settings = {
        "pending": (0, 1, 2, 3, 4), "user_message": scenario.opening_message, "disclosed": frozenset(), **more,
    }  # fmt: skip
    return JudgeRequest(scenario=scenario, assistant_message=message, **settings)


def credited(scenario: Scenario, message: str, **more: Any) -> list[int]:
    verdicts = ScriptedJudge().judge(request(scenario, message, **more))
    return [i for i, verdict in enumerate(verdicts) if verdict.satisfied]


def test_advice_needs_the_fact_it_builds_on() -> None:
    scenario, message = SCENARIOS[0], "I would put everything on shelves with wheels."
    assert credited(scenario, message) == []
    assert credited(scenario, message, disclosed=frozenset({"constraint_1"})) == [4]
    assert credited(scenario, message + " plan" * 150, disclosed=frozenset({"constraint_1"})) == []


def test_the_first_question_counts() -> None:
    scenario = SCENARIOS[0]
    assert credited(scenario, "How much money can you spend? Does your landlord allow changes?") == [2]
    assert credited(scenario, "Does your landlord allow changes? How much money can you spend?") == [0]


def test_verdicts_come_in_the_order_of_what_is_pending() -> None:
    verdicts = ScriptedJudge().judge(request(SCENARIOS[0], "How much money can you spend?", pending=(2, 4)))
    assert [verdict.satisfied for verdict in verdicts] == [True, False]
