"""Conversations in lock-step, for policies that answer many histories in one call (local models)."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, cast

import gymnasium as gym
from gymnasium.error import InvalidAction
from gymnasium.wrappers import OrderEnforcing, PassiveEnvChecker

from elicit_gym.batches import answer_all
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.envs.step_result import StepResult
from elicit_gym.envs.stepping import check_action, step_conversations
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import EpisodeFailure, FatalModelError, PolicyFailure
from elicit_gym.llm.spending import on_account_of
from elicit_gym.policy import BatchPolicy, NetworkBoundPolicy, Policy, SeededBatchPolicy, SpendingPolicy
from elicit_gym.rollout.run_episode import EpisodeUnderWay
from elicit_gym.rollout.units import Stop, Unit, UnitRunner

__all__ = ["in_lock_step", "run_in_lock_step", "step_together"]


def in_lock_step(policy: Policy) -> bool:
    """Say whether a policy's conversations go in lock-step: it answers in batches, and not over a network.

    One that spends does not either: what a batch has cost cannot be told apart by conversation.
    """
    return isinstance(policy, BatchPolicy) and not isinstance(policy, NetworkBoundPolicy | SpendingPolicy)


def run_in_lock_step(
    runner: UnitRunner, units: Iterable[Unit], concurrency: int, stop: Stop
) -> Iterator[EpisodeRecord]:
    """Yield records as they come, `concurrency` conversations of one policy at once.

    In a round the policy answers all of them in one batch, the judge judges all answers in one, and the users reply in
    one; a conversation that has ended makes room for the next at once. Where a batch fails, its conversations are tried
    one by one, so that a failure is its own conversation's.

    Args:
        runner: what makes the environments and the policy.
        units: the units of one policy. They are asked for whenever there is room, also after there were none.
        concurrency: the number of conversations at once.
        stop: says whether no more units should be started.
    """
    remaining = iter(units)
    policy: Policy | None = None
    free: list[gym.Env[Any, Any]] = []
    under_way: list[EpisodeUnderWay] = []
    while True:
        for unit in islice(remaining, 0 if stop() else concurrency - len(under_way)):
            if policy is None:
                policy = runner.policy(unit, runner.kept)
                policy.reset(runner.seed)
            episode = EpisodeUnderWay(
                free.pop() if free else runner.make_env(),
                policy.name,
                scenario_id=unit.scenario_id,
                repeat=unit.repeat,
                seed=runner.seed,
            )
            under_way.append(episode)
            _guarded(episode, episode.start)
        if policy is None or not under_way:
            return
        active = [episode for episode in under_way if not episode.done]
        with on_account_of(policy.name):
            _round(cast(BatchPolicy, policy), active)
        for episode in under_way:
            if episode.done:
                free.append(episode.env)
                yield episode.record()
        under_way = [episode for episode in under_way if not episode.done]


def _round(policy: BatchPolicy, episodes: list[EpisodeUnderWay]) -> None:
    said = [(episode, action) for episode, action in zip(episodes, _act(policy, episodes), strict=True) if action]
    if said:
        step_together([episode for episode, _ in said], [action for _, action in said])


def step_together(episodes: Sequence[EpisodeUnderWay], actions: Sequence[str]) -> None:
    """Step each episode by its action: one batch for the judge, one for the user; failures are noted on the episodes.

    Environments with wrappers are stepped one by one, since a wrapper knows nothing of batches.

    Args:
        episodes: under way, at least one; their environments share their parts.
        actions: one utterance for each.

    Raises:
        FatalModelError: no call to a model can succeed.
    """
    if any(_is_wrapped(episode.env) for episode in episodes):
        for episode, action in zip(episodes, actions, strict=True):
            _guarded(episode, partial(episode.step, action))
        return
    inner = [cast(InfoQuestEnv, episode.env.unwrapped) for episode in episodes]
    conversations = [env.conversation for env in inner if env.conversation is not None]
    results = step_conversations(inner[0].parts, conversations, actions)
    for episode, action, result in zip(episodes, actions, results, strict=True):
        if isinstance(result, StepResult):
            episode.take(action, result)
        else:
            episode.fail(result)


def _is_wrapped(env: gym.Env[Any, Any]) -> bool:
    """Say whether a step has to go through wrappers, such as those of a registered variant."""
    while isinstance(env, OrderEnforcing | PassiveEnvChecker):
        env = env.env
    return env is not env.unwrapped


def _act(policy: BatchPolicy, episodes: Sequence[EpisodeUnderWay]) -> list[str | None]:
    """Return what the policy says in each conversation; None where it failed, which is noted."""
    answers = answer_all(
        episodes,
        lambda episode: _answers(policy, [episode])[0],
        lambda several: _answers(policy, several),
        source="policy",
        doing=f"Asking the policy {policy.name!r} for a message",
    )
    actions: list[str | None] = []
    for episode, answer in zip(episodes, answers, strict=True):
        if isinstance(answer, EpisodeFailure):
            episode.fail(answer)
            actions.append(None)
            continue
        try:
            actions.append(check_action(answer))
        except InvalidAction as error:
            episode.fail(PolicyFailure(str(error)))
            actions.append(None)
    return actions


def _answers(policy: BatchPolicy, episodes: Sequence[EpisodeUnderWay]) -> list[str]:
    histories = [episode.history for episode in episodes]
    if isinstance(policy, SeededBatchPolicy):
        return policy.act_seeded(histories, [episode.policy_seed for episode in episodes])
    return policy.act_batch(histories)


def _guarded(episode: EpisodeUnderWay, function: Callable[[], Any]) -> bool:
    """Call a function; a failure ends the episode and is noted on it. Returns whether it went well."""
    try:
        function()
    except FatalModelError:
        raise
    except EpisodeFailure as error:
        episode.fail(error)
        return False
    return True
