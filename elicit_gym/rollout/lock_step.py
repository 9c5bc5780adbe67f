"""Conversations in lock-step, for policies that answer many histories in one call (local models)."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any, cast

from gymnasium.error import InvalidAction

from elicit_gym.envs.infoquest import InfoQuestEnv, check_action
from elicit_gym.envs.infoquest_vector import talk
from elicit_gym.episode import EpisodeRecord
from elicit_gym.errors import EpisodeFailure, FatalModelError, PolicyFailure, boundary
from elicit_gym.policy import BatchPolicy, Policy, SeededBatchPolicy, SpendingPolicy
from elicit_gym.rollout.run_episode import EpisodeUnderWay
from elicit_gym.rollout.units import Stop, Unit, UnitRunner

__all__ = ["in_lock_step", "run_in_lock_step", "step_together"]


def in_lock_step(policy: Policy) -> bool:
    """Say whether a policy's conversations go in lock-step, which is so if it answers in batches without a network."""
    return isinstance(policy, BatchPolicy) and not isinstance(policy, SpendingPolicy)


def run_in_lock_step(
    runner: UnitRunner, units: Sequence[Unit], concurrency: int, stop: Stop
) -> Iterator[EpisodeRecord]:
    """Yield records as they come, `concurrency` conversations of one policy at once.

    In a round the policy answers all of them in one batch, the judge judges all answers in one, and the users reply in
    one; a conversation that has ended makes room for the next at once. Where a batch fails, its conversations are tried
    one by one, so that a failure is its own conversation's.

    Args:
        runner: what makes the environments and the policy.
        units: the units of one policy.
        concurrency: the number of conversations at once.
        stop: says whether no more units should be started.
    """
    remaining = iter(units)
    policy: Policy | None = None
    free = [runner.make_env() for _ in range(min(concurrency, len(units)))]
    under_way: list[EpisodeUnderWay] = []
    while True:
        for unit in islice(remaining, 0 if stop() else len(free)):
            if policy is None:
                policy = runner.policy(unit, runner.kept)
                policy.reset(runner.seed)
            episode = EpisodeUnderWay(
                free.pop(), policy.name, scenario_id=unit.scenario_id, repeat=unit.repeat, seed=runner.seed
            )
            under_way.append(episode)
            _guarded(episode, episode.start)
        if policy is None or not under_way:
            return
        active = [episode for episode in under_way if not episode.over]
        _round(cast(BatchPolicy, policy), active)
        for episode in under_way:
            if episode.over:
                free.append(episode.env)
                yield episode.record()
        under_way = [episode for episode in under_way if not episode.over]


def _round(policy: BatchPolicy, episodes: list[EpisodeUnderWay]) -> None:
    said = [(episode, action) for episode, action in zip(episodes, _act(policy, episodes), strict=True) if action]
    if said:
        step_together([episode for episode, _ in said], [action for _, action in said])


def step_together(episodes: Sequence[EpisodeUnderWay], actions: Sequence[str]) -> None:
    """Step each episode by its action: one batch for the judge, one for the user; failures are noted on the episodes.

    Args:
        episodes: at least one episode under way; their environments share user simulator, judge and reward.
        actions: one utterance for each.

    Raises:
        FatalModelError: no call to a model can succeed.
    """
    inner = [cast(InfoQuestEnv, episode.env.unwrapped) for episode in episodes]
    conversations = [env.conversation for env in inner]
    try:
        steps = talk([c for c in conversations if c is not None], actions, inner[0])
    except FatalModelError:
        raise
    except EpisodeFailure:
        # Nothing was changed: every conversation is stepped by itself, and whose fault it was shows.
        for episode, action in zip(episodes, actions, strict=True):
            _guarded(episode, partial(episode.step, action))
        return
    for episode, action, step, env in zip(episodes, actions, steps, inner, strict=True):
        assert env.conversation is not None
        episode.take(action, env.conversation.history, *step)


def _act(policy: BatchPolicy, episodes: Sequence[EpisodeUnderWay]) -> list[str | None]:
    """Return what the policy says in each conversation, or None where it failed, which is noted."""
    if not episodes:
        return []
    try:
        with boundary("policy", f"Asking the policy {policy.name!r} for {len(episodes)} messages"):
            actions: list[str | None] = list(_answers(policy, episodes))
            if len(actions) != len(episodes):
                raise PolicyFailure(f"Asking {policy.name!r}: expected {len(episodes)} messages, got {len(actions)}.")
    except FatalModelError:
        raise
    except EpisodeFailure:
        actions = [_act_alone(policy, episode) for episode in episodes]
    for i, (episode, action) in enumerate(zip(episodes, actions, strict=True)):
        if not episode.over and not _guarded(episode, partial(_check, action)):
            actions[i] = None
    return actions


def _act_alone(policy: BatchPolicy, episode: EpisodeUnderWay) -> str | None:
    answer: list[str] = []

    def ask() -> None:
        with boundary("policy", f"Asking the policy {policy.name!r} for its message {episode.next_turn}"):
            answer.extend(_answers(policy, [episode]))

    return answer[0] if _guarded(episode, ask) and answer else None


def _answers(policy: BatchPolicy, episodes: Sequence[EpisodeUnderWay]) -> list[str]:
    histories = [episode.history for episode in episodes]
    if isinstance(policy, SeededBatchPolicy):
        return policy.act_seeded(histories, [episode.policy_seed for episode in episodes])
    return policy.act_batch(histories)


def _check(action: Any) -> None:
    try:
        check_action(action)
    except InvalidAction as error:
        raise PolicyFailure(str(error)) from error


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
