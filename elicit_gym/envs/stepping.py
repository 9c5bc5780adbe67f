"""One step of any number of conversations, and the one accounting of what it did.

The environments, rollouts, online training and re-judging all step here, so that they cannot differ: the agents'
messages are judged, in one batch where the judge can; the users reply, likewise; only then does the state change; and
reward and info are made of what changed.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, overload

import numpy as np
from gymnasium.error import InvalidAction, ResetNeeded

from elicit_gym.envs.conversation import Conversation
from elicit_gym.envs.step_result import StepInfo, StepResult
from elicit_gym.errors import EpisodeFailure, JudgeFailure, RewardFailure, boundary
from elicit_gym.judges.base import JUDGING, Judge, judge_all, judge_replies
from elicit_gym.rewards import REWARDING, Reward, RewardStep, finite_reward
from elicit_gym.types import JudgeReply, JudgeRequest, Usage, UserReply, UserTurn, Verdict
from elicit_gym.user_simulators.base import REPLYING, UserSimulator, checked_reply, reply_all

__all__ = [
    "JudgedAction",
    "Parts",
    "check_action",
    "judge_actions",
    "make_step",
    "reward_of",
    "step_conversation",
    "step_conversations",
    "step_info",
]


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What an environment is made of, beside its scenarios; they keep nothing between calls and can be shared."""

    user_simulator: UserSimulator
    judge: Judge
    reward: Reward


@dataclass(slots=True)
class JudgedAction:
    """What was said in a conversation and how it was judged, before anything has changed.

    Attributes:
        conversation: as it was before.
        action: what the agent said.
        verdicts: one for each pending item.
        turn: what the user has to answer; None if the episode ends with this action.
    """

    conversation: Conversation
    action: str
    verdicts: tuple[Verdict, ...]
    turn: UserTurn | None


def check_action(action: Any) -> str:
    """Return the action if it is an utterance.

    Raises:
        InvalidAction: it is not a string, or it is empty or blank. The episode is untouched.
    """
    if isinstance(action, str) and action and not action.isspace():
        return action
    found = f"{type(action).__name__} {action!r:.60}" if not isinstance(action, str) else repr(action[:20])
    raise InvalidAction(
        f"Stepping an environment: expected a non-empty string, got {found}. Say something; the episode goes on."
    )


def step_conversation(parts: Parts, conversation: Conversation, action: str) -> StepResult:
    """Make one step in one conversation: the message is judged, the user replies, and only then the state changes.

    Args:
        parts: who judges, replies and rewards.
        conversation: under way.
        action: what the agent says.

    Raises:
        InvalidAction: the action is not an utterance. Nothing has changed, here and below.
        ResetNeeded: the conversation has ended.
        EpisodeFailure: judge, user or reward failed; attributed.
    """
    request = _request(conversation, check_action(action))
    with boundary("judge", JUDGING):
        verdicts = parts.judge.judge(request)
    judged = _judged(parts.judge, conversation, action, verdicts)
    if judged.turn is None:
        return make_step(judged, None, reward_of(parts.reward, judged, None))
    with boundary("user_simulator", REPLYING):
        reply = checked_reply(parts.user_simulator, parts.user_simulator.reply(judged.turn))
    return make_step(judged, reply, reward_of(parts.reward, judged, reply))


@overload
def step_conversations(
    parts: Parts, conversations: Sequence[Conversation], actions: Sequence[str]
) -> list[StepResult | EpisodeFailure]: ...


@overload
def step_conversations(
    parts: Parts, conversations: Sequence[Conversation], actions: Sequence[str], *, atomic: Literal[True]
) -> list[StepResult]: ...


def step_conversations(
    parts: Parts, conversations: Sequence[Conversation], actions: Sequence[str], *, atomic: bool = False
) -> list[Any]:
    """Make the step of `step_conversation` in many: all messages judged in one batch, all users replying in one.

    A conversation whose judge, user or reward fails is left as it was, and costs the others nothing.

    Args:
        parts: who judges, replies and rewards.
        conversations: under way.
        actions: one utterance for each.
        atomic: raise the first failure, and change nothing in any conversation then.

    Returns:
        For each conversation what the step did, or why it was not made.

    Raises:
        InvalidAction: an action is not an utterance; nothing has changed.
        ResetNeeded: a conversation has ended; likewise.
        EpisodeFailure: with `atomic`, the first failure.
        FatalModelError: no call to a model can succeed; nothing has changed.
    """
    for utterance in actions:
        check_action(utterance)
    judged = judge_actions(parts.judge, conversations, actions)
    if atomic:
        _raise_first(judged)
    turns = [action.turn for action in judged if isinstance(action, JudgedAction) and action.turn is not None]
    replies = reply_all(parts.user_simulator, turns)
    if atomic:
        _raise_first(replies)
    heard = iter(replies)
    steps: list[tuple[JudgedAction, UserReply | None, float] | EpisodeFailure] = []
    for action in judged:
        if isinstance(action, EpisodeFailure):
            steps.append(action)
            continue
        reply = None if action.turn is None else next(heard)
        try:
            steps.append(
                reply if isinstance(reply, EpisodeFailure) else (action, reply, reward_of(parts.reward, action, reply))
            )
        except RewardFailure as failure:
            steps.append(failure)
    if atomic:
        _raise_first(steps)
    return [step if isinstance(step, EpisodeFailure) else make_step(*step) for step in steps]


def judge_actions(
    judge: Judge, conversations: Sequence[Conversation], actions: Sequence[str]
) -> list[JudgedAction | EpisodeFailure]:
    """Judge what was said in each conversation, in one batch where the judge can; changes nothing.

    Returns:
        For each conversation the verdicts and what the user has to answer, or why there are none.

    Raises:
        ResetNeeded: a conversation has ended.
        FatalModelError: no call to a model can succeed.
    """
    requests = [_request(c, action) for c, action in zip(conversations, actions, strict=True)]
    judged: list[JudgedAction | EpisodeFailure] = []
    for conversation, action, verdicts in zip(conversations, actions, judge_all(judge, requests), strict=True):
        if isinstance(verdicts, EpisodeFailure):
            judged.append(verdicts)
            continue
        try:
            judged.append(_judged(judge, conversation, action, verdicts))
        except JudgeFailure as failure:
            judged.append(failure)
    return judged


def _request(conversation: Conversation, action: str) -> JudgeRequest:
    if conversation.done:
        raise ResetNeeded("Stepping InfoQuest: expected an episode under way, got one that has ended. Call reset().")
    return conversation.judge_request(action)


def _judged(judge: Judge, conversation: Conversation, action: str, verdicts: tuple[Verdict, ...]) -> JudgedAction:
    try:
        if isinstance(verdicts, tuple) and all(_is_answer(verdict.satisfied) for verdict in verdicts):
            return JudgedAction(conversation, action, verdicts, conversation.user_turn(action, verdicts))
    except (AttributeError, ValueError):
        pass  # not verdicts, or not as many as there are pending items
    raise JudgeFailure(
        f"{JUDGING}: expected a tuple of {len(conversation.pending)} verdicts, each True, False or None, got "
        f"{verdicts!r:.200} (judge {judge.name!r}). Return one for each pending item."
    )


def _is_answer(value: Any) -> bool:
    return value is True or value is False or value is None or isinstance(value, np.bool_)


def _raise_first(answers: Sequence[object]) -> None:
    for answer in answers:
        if isinstance(answer, EpisodeFailure):
            raise answer


def reward_of(reward: Reward, judged: JudgedAction, reply: UserReply | None) -> float:
    """Return what a step is worth, before it is made.

    Raises:
        RewardFailure: the reward raised, or it is not a finite number.
    """
    conversation, turn = judged.conversation, judged.turn
    newly = conversation.newly_satisfied_by(judged.verdicts) if turn is None else turn.newly_satisfied
    step = RewardStep(
        num_newly_satisfied=len(newly),
        num_satisfied=len(conversation.satisfied) - len(conversation.pending) + len(newly),
        turn=conversation.turn + 1,
        last=reply is None or reply.leaves,
    )
    with boundary("reward", REWARDING):
        value = reward(step)
    return finite_reward(value)


def make_step(judged: JudgedAction, reply: UserReply | None, reward: float) -> StepResult:
    """Change a conversation's state by a step whose verdicts and reply are there, and account for it.

    Args:
        judged: what was said and how it was judged; nothing may have happened in the conversation since.
        reply: the user's; None ends the episode, see `Conversation.advance`.
        reward: what the step is worth; see `reward_of`.
    """
    conversation = judged.conversation
    written = judge_replies(conversation.pending, judged.verdicts)
    conversation.advance(judged.action, judged.verdicts, judged.turn, reply)
    return StepResult(
        conversation.history,
        reward,
        conversation.terminated,
        conversation.truncated,
        step_info(conversation, judged.verdicts, reply, written),
    )


def step_info(
    conversation: Conversation,
    verdicts: Sequence[Verdict] = (),
    reply: UserReply | None = None,
    written: tuple[JudgeReply, ...] = (),
) -> StepInfo:
    """Return the info of the step just made, or of the reset."""
    flags: tuple[str, ...] = ()
    usage: tuple[Usage, ...] = ()
    for verdict in verdicts:
        if verdict.flags or verdict.usage:
            flags, usage = flags + verdict.flags, usage + verdict.usage
    if reply is not None:
        flags, usage = flags + reply.flags, usage + reply.usage
    return {
        "scenario_id": conversation.scenario.id,
        "turn": conversation.turn,
        "checklist": conversation.satisfied,
        "newly_satisfied": conversation.newly_satisfied,
        "stuck": conversation.stuck,
        "left": conversation.left,
        "unscored": conversation.unscored,
        "flags": flags,
        "usage": usage,
        "judged": written,
    }
