"""One episode of a policy in an environment."""

from typing import Any

import gymnasium as gym
from gymnasium.error import InvalidAction

from elicit_gym.envs.step_result import StepResult
from elicit_gym.episode import Episode, EpisodeRecord, Failure, Turn
from elicit_gym.errors import EpisodeFailure, FatalModelError, PolicyFailure, boundary
from elicit_gym.llm.spending import on_account_of
from elicit_gym.policy import Policy, SpendingPolicy
from elicit_gym.redaction import redact
from elicit_gym.seeding import unit_seed
from elicit_gym.types import ChatHistory, Usage

__all__ = ["EpisodeUnderWay", "run_episode", "turn_of"]


class EpisodeUnderWay:
    """An episode under way: whether it is stepped alone or among others, its record is the same.

    Args:
        env: an InfoQuest environment, wrapped or not.
        policy: the policy's name.
        scenario_id: the scenario to play.
        repeat: which repeat of it.
        seed: the base seed; those of the user and the policy derive from (seed, scenario, repeat).

    Attributes:
        history: what the policy sees; empty before `start`.
        done: whether the episode has ended or failed.
        policy_seed: for the policy.
    """

    def __init__(self, env: gym.Env[Any, Any], policy: str, *, scenario_id: str, repeat: int, seed: int) -> None:
        self.env = env
        self.history: ChatHistory = ()
        self.done = False
        self.policy_seed = unit_seed(seed, "policy", scenario_id, repeat)
        self._policy, self._scenario_id, self._repeat = policy, scenario_id, repeat
        self._env_seed = unit_seed(seed, scenario_id, repeat)
        self._turns: list[Turn] = []
        self._opening_message = ""
        self._terminated = self._truncated = self._left = False
        self._failure: Failure | None = None

    @property
    def next_turn(self) -> int:
        """The number of the next turn, counted from 1."""
        return len(self._turns) + 1

    def start(self) -> None:
        """Reset the environment."""
        self.history, _ = self.env.reset(seed=self._env_seed, options={"scenario_id": self._scenario_id})
        self._opening_message = self.history[0].content

    def step(self, action: str, spent: tuple[Usage, ...] = (), repaired: tuple[str, ...] = ()) -> None:
        """Step the environment.

        Raises:
            EpisodeFailure: the policy said nothing, or user, judge or model failed.
        """
        try:
            result = StepResult.from_gym(*self.env.step(action))
        except InvalidAction as error:
            raise PolicyFailure(str(error)) from error
        self.take(action, result, spent, repaired)

    def take(
        self, action: str, result: StepResult, spent: tuple[Usage, ...] = (), repaired: tuple[str, ...] = ()
    ) -> None:
        """Note a step that has been made.

        Args:
            action: what was said.
            result: of the step.
            spent: by the policy.
            repaired: flags of the policy.
        """
        self.history, self._terminated, self._truncated = result.history, result.terminated, result.truncated
        self._left, self.done = result.info["left"], result.done
        self._turns.append(turn_of(action, result, spent, repaired))

    def fail(self, error: EpisodeFailure) -> None:
        """End the episode by a failure, attributed; the turns made before it stay."""
        turn = self.next_turn if self._opening_message else 0
        self._failure = Failure(source=error.source, message=redact(str(error)), turn=turn, seat=error.seat)
        self._terminated = self._truncated = self._left = False
        self.done = True

    def record(self) -> EpisodeRecord:
        """Return the record."""
        env = self.env
        return EpisodeRecord(
            policy=self._policy,
            env_id=env.spec.id if env.spec is not None else type(env.unwrapped).__name__,
            scenario_id=self._scenario_id,
            repeat=self._repeat,
            seed=self._env_seed,
            episode=Episode(
                opening_message=self._opening_message,
                turns=tuple(self._turns),
                terminated=self._terminated,
                truncated=self._truncated,
                left=self._left,
            ),
            failure=self._failure,
        )


def turn_of(action: str, result: StepResult, spent: tuple[Usage, ...] = (), repaired: tuple[str, ...] = ()) -> Turn:
    """Return a step as a turn of an episode; for the arguments see `EpisodeUnderWay.take`."""
    info = result.info
    return Turn(
        action=action,
        reply=result.reply,
        reward=result.reward,
        newly_satisfied=info["newly_satisfied"],
        stuck=info["stuck"],
        unscored=info["unscored"],
        flags=(*repaired, *info["flags"]),
        usage=(*spent, *info["usage"]),
        judged=info["judged"],
    )


def run_episode(
    env: gym.Env[Any, Any], policy: Policy, *, scenario_id: str, repeat: int = 0, seed: int = 0
) -> EpisodeRecord:
    """Roll out one episode.

    Args:
        env: an InfoQuest environment, wrapped or not.
        policy: the policy, which is reset here with its own seed.
        scenario_id: the scenario to play.
        repeat: which repeat of it.
        seed: the base seed; those of the user and the policy derive from (seed, scenario, repeat).

    Returns:
        The record. Whatever the policy, user simulator, judge or model raises is attributed and recorded, with the
        turns made before it, and not raised.

    Raises:
        FatalModelError: no call to a model can succeed, in this episode or another.
    """
    spending = policy if isinstance(policy, SpendingPolicy) else None  # asked once: protocols are slow to ask for
    episode = EpisodeUnderWay(env, policy.name, scenario_id=scenario_id, repeat=repeat, seed=seed)
    try:
        with on_account_of(policy.name, (policy.name, scenario_id, repeat)):
            episode.start()
            with boundary("policy", f"Resetting the policy {policy.name!r}"):
                policy.reset(episode.policy_seed)
            while not episode.done:
                with boundary("policy", f"Asking the policy {policy.name!r} for a message"):
                    action = policy.act(episode.history)
                spent, repaired = spending.take_usage() if spending is not None else ((), ())
                episode.step(action, spent, repaired)
    except FatalModelError:
        raise
    except EpisodeFailure as error:
        episode.fail(error)
    return episode.record()
