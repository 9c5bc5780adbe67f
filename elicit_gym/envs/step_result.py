"""What one step did, as the environments, rollouts and trainers pass it on."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, SupportsFloat, TypedDict, cast

from elicit_gym.rewards import finite_reward
from elicit_gym.types import ChatHistory, JudgeReply, Usage

__all__ = ["StepInfo", "StepResult"]


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
        """Return what `gymnasium.Env.step` returned, whatever wrappers have put into it, as a result.

        Raises:
            RewardFailure: a wrapper has made something of the reward that is not a finite number.
        """
        return cls(history, finite_reward(reward), bool(terminated), bool(truncated), cast(StepInfo, info))

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
