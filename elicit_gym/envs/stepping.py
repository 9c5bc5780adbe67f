"""One step of any number of conversations, and the one accounting of what it did.

The environments, rollouts, online training and re-judging all step here, so that they cannot differ: the agents'
messages are judged, in one batch where the judge can; the users reply, likewise; only then does the state change; and
reward and info are made of what changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, SupportsFloat, TypedDict, cast, overload

from gymnasium.error import InvalidAction, ResetNeeded

from elicit_gym.envs.conversation import Conversation
from elicit_gym.errors import EpisodeFailure, JudgeFailure, boundary
from elicit_gym.judges.base import JUDGING, Judge, judge_all, judge_replies
from elicit_gym.rewards import Reward, RewardStep
from elicit_gym.types import ChatHistory, JudgeReply, JudgeRequest, Usage, UserReply, UserTurn, Verdict
from elicit_gym.user_simulators.base import REPLYING, UserSimulator, checked_reply, reply_all

__all__ = [
    "JudgedAction",
    "Parts",
    "StepInfo",
    "StepResult",
    "check_action",
    "judge_actions",
    "make_step",
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


class StepInfo(TypedDict):
    """Gymnasium's info: a new dictionary of scalars and tuples at every step, never to be shown to a policy.

    Attributes:
        scenario_id: of the conversation.
        turn: 1 for the first step; 0 after the reset.
        checklist: one flag for each item.
        newly_satisfied: indexes of the items that this step satisfied.
        stuck: two turns in a row without progress.
        left: the user has left.
        unscored: indexes of the items that the judge could not score.
        flags: what judge and user simulator had to repair.
        usage: what they spent.
        judged: what the judge wrote, by item; empty for judges that write nothing.
    """

    scenario_id: str
    turn: int
    checklist: tuple[bool, ...]
    newly_satisfied: tuple[int, ...]
    stuck: bool
    left: bool
    unscored: tuple[int, ...]
    flags: tuple[str, ...]
    usage: tuple[Usage, ...]
    judged: tuple[JudgeReply, ...]


@dataclass(frozen=True, slots=True)
class StepResult:
    """What one step did.

    Attributes:
        history: after it.
        reward: of it.
        terminated: every item is satisfied, or the user has left.
        truncated: the last turn was made, and neither is the case.
        info: the rest.
    """

    history: ChatHistory
    reward: float
    terminated: bool
    truncated: bool
    info: StepInfo

    @classmethod
    def from_gym(
        cls, history: ChatHistory, reward: SupportsFloat, terminated: bool, truncated: bool, info: Mapping[str, Any]
    ) -> "StepResult":
        """Return what `gymnasium.Env.step` returned, whatever wrappers have put into it, as a result."""
        return cls(history, float(reward), bool(terminated), bool(truncated), cast(StepInfo, info))

    def to_gym(self) -> tuple[ChatHistory, float, bool, bool, dict[str, Any]]:
        """Return it as `gymnasium.Env.step` does."""
        return self.history, self.reward, self.terminated, self.truncated, cast(dict[str, Any], self.info)

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.terminated or self.truncated

    @property
    def reply(self) -> str | None:
        """What the user said; None where nobody was asked."""
        last = self.history[-1]
        return last.content if last.role == "user" else None


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
        EpisodeFailure: judge or user failed; attributed.
    """
    request = _request(conversation, check_action(action))
    with boundary("judge", JUDGING):
        verdicts = parts.judge.judge(request)
    judged = _judged(parts.judge, conversation, action, verdicts)
    if judged.turn is None:
        return make_step(parts.reward, judged, None)
    with boundary("user_simulator", REPLYING):
        reply = parts.user_simulator.reply(judged.turn)
    return make_step(parts.reward, judged, checked_reply(parts.user_simulator, reply))


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

    A conversation whose judge or user fails is left as it was, and costs the others nothing.

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
    results: list[StepResult | EpisodeFailure] = []
    heard = iter(replies)
    for action in judged:
        if isinstance(action, EpisodeFailure):
            results.append(action)
            continue
        reply = None if action.turn is None else next(heard)
        if isinstance(reply, EpisodeFailure):
            results.append(reply)
        else:
            results.append(make_step(parts.reward, action, reply))
    return results


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
        if isinstance(verdicts, tuple):
            return JudgedAction(conversation, action, verdicts, conversation.user_turn(action, verdicts))
    except (AttributeError, ValueError):
        pass  # not verdicts, or not as many as there are pending items
    raise JudgeFailure(
        f"{JUDGING}: expected a tuple of {len(conversation.pending)} verdicts, got {verdicts!r:.200} (judge "
        f"{judge.name!r}). Return one for each pending item."
    )


def _raise_first(answers: Sequence[object]) -> None:
    for answer in answers:
        if isinstance(answer, EpisodeFailure):
            raise answer


def make_step(reward: Reward, judged: JudgedAction, reply: UserReply | None) -> StepResult:
    """Change a conversation's state by a step whose verdicts and reply are there, and account for it.

    Args:
        reward: what the step is worth.
        judged: what was said and how it was judged; nothing may have happened in the conversation since.
        reply: the user's; None ends the episode, see `Conversation.advance`.
    """
    conversation = judged.conversation
    written = judge_replies(conversation.pending, judged.verdicts)
    conversation.advance(judged.action, judged.verdicts, judged.turn, reply)
    num_items = len(conversation.satisfied)
    step = RewardStep(
        num_newly_satisfied=len(conversation.newly_satisfied),
        num_satisfied=num_items - len(conversation.pending),
        turn=conversation.turn,
        last=conversation.done,
    )
    return StepResult(
        conversation.history,
        float(reward(step)),
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
