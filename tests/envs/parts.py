"""Parts that environments are tried out with: they draw from seeds, leave, fail, and say what they spent."""

from collections.abc import Sequence
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any

from elicit_gym.errors import EpisodeFailure
from elicit_gym.registry import JUDGES, REWARDS, USER_SIMULATORS
from elicit_gym.rewards import RewardStep
from elicit_gym.types import JudgeRequest, Usage, UserReply, UserTurn, Verdict
from elicit_gym.user_simulators.scripted import ScriptedUserSimulator

NAMES = (
    (JUDGES, "moody", "tests.envs.parts:Moody"),
    (JUDGES, "moody-in-batches", "tests.envs.parts:MoodyInBatches"),
    (USER_SIMULATORS, "leaving", "tests.envs.parts:Leaving"),
    (USER_SIMULATORS, "leaving-in-batches", "tests.envs.parts:LeavingInBatches"),
    (REWARDS, "weighted", "tests.envs.parts:Weighted"),
)


@contextmanager
def registered_parts() -> Any:
    """Know the parts of this module by name."""
    with ExitStack() as stack:
        for registry, name, target in NAMES:
            registry.register(name, target)
            stack.callback(registry.unregister, name)
        yield


def _usage(seat: str) -> Usage:
    return Usage(seat=seat, model="m", calls=1, input_tokens=2, output_tokens=3, cost_usd=None)


class Moody:
    """Says yes, no or nothing by the seed, the message and what is pending; fails on messages with "bang"."""

    name = "moody"

    def judge(self, request: JudgeRequest) -> tuple[Verdict, ...]:
        """Draw the verdicts."""
        if "bang" in request.assistant_message:
            raise RuntimeError("the judge fell over")
        draw = Random(f"{request.seed}|{request.user_message}|{request.assistant_message}|{request.pending}").random
        answers = [(True, None, False)[(value > 0.2) + (value > 0.3)] for value in (draw() for _ in request.pending)]
        return tuple(
            Verdict(
                satisfied=answer,
                reason="no idea" if answer is None else None,
                flags=("judge:odd",) if i == 1 else (),
                usage=(_usage("judge"),) if i == 0 else (),
            )
            for i, answer in enumerate(answers)
        )


class MoodyInBatches(Moody):
    """The same, many at once; keeps the sizes of its batches."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def judge_batch(self, requests: Sequence[JudgeRequest]) -> list[tuple[Verdict, ...] | EpisodeFailure]:
        """Judge them one by one."""
        self.batches.append(len(requests))
        return [self.judge(request) for request in requests]


class Leaving(ScriptedUserSimulator):
    """Leaves by the seed and the turn, with a word of farewell; fails on messages with "crash"."""

    def reply(self, turn: UserTurn) -> UserReply:
        """Reply, or leave."""
        if "crash" in turn.history[-1].content:
            raise RuntimeError("the user fell over")
        if Random(f"{turn.seed}|{turn.turn}").random() < 0.15:
            return UserReply(text="I have to go.", leaves=True, flags=("gone",), usage=(_usage("user_simulator"),))
        text = super().reply(turn).text
        return UserReply(text=text, flags=(f"idle:{turn.idle_turns}",), usage=(_usage("user_simulator"),))


class LeavingInBatches(Leaving):
    """The same, many at once."""

    def reply_batch(self, turns: Sequence[UserTurn]) -> list[UserReply | EpisodeFailure]:
        """Reply one by one."""
        return [self.reply(turn) for turn in turns]


class Goes(Leaving):
    """Leaves after the first message."""

    def reply(self, turn: UserTurn) -> UserReply:
        """Say goodbye."""
        return UserReply(text="Goodbye.", leaves=True)


class Weighted:
    """A reward that looks at all that a reward may look at."""

    def __init__(self, gain: float = 1.0, kept: float = 0.0, turn: float = 0.0, last: float = 0.0) -> None:
        self.weights = (gain, kept, turn, last)

    def __call__(self, step: RewardStep) -> float:
        """Return the weighted sum."""
        values = (step.num_newly_satisfied, step.num_satisfied, step.turn, step.last)
        return sum(weight * value for weight, value in zip(self.weights, values, strict=True))
