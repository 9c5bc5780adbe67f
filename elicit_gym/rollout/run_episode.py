"""One episode of a policy in an environment."""

from typing import Any

import gymnasium as gym
from gymnasium.error import InvalidAction

from elicit_gym.episode import Episode, EpisodeRecord, Failure, Turn
from elicit_gym.errors import EpisodeFailure, FatalModelError, PolicyFailure, boundary
from elicit_gym.policy import Policy, SpendingPolicy
from elicit_gym.rollout.seeding import unit_seed

__all__ = ["run_episode"]


def run_episode(
    env: gym.Env[Any, Any], policy: Policy, *, scenario_id: str, repeat: int = 0, seed: int = 0
) -> EpisodeRecord:
    """Roll out one episode.

    Args:
        env: an InfoQuest environment, wrapped or not.
        policy: reset here with a seed of its own.
        scenario_id: the scenario.
        repeat: which repeat of it.
        seed: the base seed; those of the user and the policy derive from (seed, scenario, repeat).

    Returns:
        The record. Whatever the policy, user simulator, judge or model raises is attributed and recorded, with the
        turns made before it; nothing is raised for it.

    Raises:
        FatalModelError: no call to a model can succeed, in this episode or another.
    """
    env_seed = unit_seed(seed, scenario_id, repeat)
    turns: list[Turn] = []
    opening_message = ""
    terminated = truncated = False
    failure: Failure | None = None
    try:
        history, _ = env.reset(seed=env_seed, options={"scenario_id": scenario_id})
        opening_message = history[0].content
        with boundary("policy", f"Resetting the policy {policy.name!r}"):
            policy.reset(unit_seed(seed, "policy", scenario_id, repeat))
        while not (terminated or truncated):
            with boundary("policy", f"Asking the policy {policy.name!r} for its message {len(turns) + 1}"):
                action = policy.act(history)
            spent, repaired = policy.take_usage() if isinstance(policy, SpendingPolicy) else ((), ())
            try:
                history, reward, terminated, truncated, info = env.step(action)
            except InvalidAction as error:
                raise PolicyFailure(str(error)) from error
            turns.append(
                Turn(
                    action=action,
                    reply=None if terminated or truncated else history[-1].content,
                    reward=float(reward),
                    newly_satisfied=info["newly_satisfied"],
                    stuck=info["stuck"],
                    unscored=info["unscored"],
                    flags=(*repaired, *info["flags"]),
                    usage=(*spent, *info["usage"]),
                )
            )
    except FatalModelError:
        raise
    except EpisodeFailure as error:
        failure = Failure(source=error.source, message=str(error), turn=len(turns) + 1 if opening_message else 0)
        terminated = truncated = False
    return EpisodeRecord(
        policy=policy.name,
        env_id=env.spec.id if env.spec is not None else type(env.unwrapped).__name__,
        scenario_id=scenario_id,
        repeat=repeat,
        seed=env_seed,
        episode=Episode(
            opening_message=opening_message, turns=tuple(turns), terminated=terminated, truncated=truncated
        ),
        failure=failure,
    )
