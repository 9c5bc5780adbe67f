"""Many InfoQuest conversations in one environment: all judge calls go out as one batch, then all user calls."""

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from elicit_gym.envs.conversation import Conversation
from elicit_gym.envs.infoquest import InfoQuestEnv, check_action, step_info, step_reward
from elicit_gym.errors import SettingError, boundary
from elicit_gym.judges.base import judge_all
from elicit_gym.types import ChatHistory
from elicit_gym.user_simulators.base import reply_all

__all__ = ["InfoQuestVectorEnv", "Step", "talk"]

Histories = tuple[ChatHistory, ...]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


Step = tuple[float, bool, bool, dict[str, Any]]
"""Reward, terminated, truncated, info."""


def talk(conversations: Sequence[Conversation], actions: Sequence[str], parts: InfoQuestEnv) -> list[Step]:
    """Make one step in each conversation: all messages judged in one batch, all users replying in one.

    Nothing changes in any of them when judge or user fails.

    Args:
        conversations: under way.
        actions: one utterance for each.
        parts: whose judge, user simulator and reward serve.

    Raises:
        JudgeFailure: the judge raised.
        UserSimulatorFailure: the user raised.
    """
    with boundary("judge", "Judging messages"):
        requests = [c.judge_request(action) for c, action in zip(conversations, actions, strict=True)]
        verdicts = judge_all(parts.judge, requests)
        turns = [c.user_turn(action, v) for c, action, v in zip(conversations, actions, verdicts, strict=True)]
    with boundary("user_simulator", "Replying as the users"):
        replies = iter(reply_all(parts.user_simulator, [turn for turn in turns if turn is not None]))
        heard = [next(replies) if turn is not None else None for turn in turns]
    steps = []
    for c, action, own, turn, reply in zip(conversations, actions, verdicts, turns, heard, strict=True):
        c.advance(action, own, turn, reply)
        steps.append((step_reward(parts.reward, c), c.terminated, c.truncated, step_info(c, own, reply)))
    return steps


class InfoQuestVectorEnv(VectorEnv[Histories, Sequence[str], NDArray[Any]]):
    """N conversations that step together; with the same seeds each is that of `InfoQuestEnv`.

    ``gym.make_vec("elicit_gym/InfoQuest-v0", num_envs=64)`` makes it. A step judges all messages in one batch, then
    has all users reply in one: with language models in these seats, N calls are under way at once.

    Observations are a tuple of N histories, actions a sequence of N utterances, rewards and flags arrays of shape
    (N,). Infos have an array of shape (N,) for each key of the single environment's info, and a mask ``_key``.

    Args:
        num_envs: the number N of conversations.
        autoreset_mode: ``NextStep`` (Gymnasium's default: the step after an episode's end resets, its action is not
            looked at), ``SameStep`` (the step that ends an episode resets too, its end is in ``final_obs`` and
            ``final_info``), or ``Disabled`` (reset with ``options={"reset_mask": flags}``).
        env_kwargs: the arguments of `InfoQuestEnv`.

    Raises:
        SettingError: an argument is invalid.
    """

    def __init__(
        self, num_envs: int = 1, autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP, **env_kwargs: Any
    ) -> None:
        super().__init__()
        if not isinstance(num_envs, int) or num_envs < 1:
            raise SettingError(f"Making InfoQuest: expected num_envs of 1 or more, got {num_envs!r}. Raise it.")
        try:
            self._mode = AutoresetMode(autoreset_mode)
        except ValueError as error:
            known = ", ".join(mode.value for mode in AutoresetMode)
            raise SettingError(
                f"Making InfoQuest: expected an autoreset_mode of {known}, got {autoreset_mode!r}. Choose one."
            ) from error
        first = InfoQuestEnv(**env_kwargs)
        shared = env_kwargs | {
            "scenarios": first.scenarios, "split": None, "user_simulator": first.user_simulator,
            "user_simulator_kwargs": None, "judge": first.judge, "judge_kwargs": None, "reward": first.reward,
            "reward_kwargs": None,
        }  # fmt: skip
        self.envs: list[InfoQuestEnv] = [first, *(InfoQuestEnv(**shared) for _ in range(num_envs - 1))]
        self.num_envs = num_envs
        self.metadata = {**InfoQuestEnv.metadata, "autoreset_mode": self._mode}
        self.render_mode = first.render_mode
        self.single_observation_space, self.single_action_space = first.observation_space, first.action_space
        self.observation_space: gym.Space[Any] = batch_space(first.observation_space, num_envs)
        self.action_space: gym.Space[Any] = batch_space(first.action_space, num_envs)
        self._over = np.zeros(num_envs, dtype=np.bool_)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Histories, dict[str, Any]]:
        """Start episodes.

        Args:
            seed: conversation i gets ``seed + i``; or one for each.
            options: ``scenario_id`` for all, ``scenario_ids`` with one for each (None draws), ``reset_mask`` with the
                conversations to reset, a bool array of shape (N,); all by default.

        Returns:
            All histories, and the infos of those that were reset.

        Raises:
            SettingError: a seed or an option is invalid.
        """
        options = dict(options or {})
        mask = options.pop("reset_mask", None)
        if mask is None:
            mask = np.ones(self.num_envs, dtype=np.bool_)
        if (
            not isinstance(mask, np.ndarray)
            or mask.dtype != np.bool_
            or mask.shape != (self.num_envs,)
            or not mask.any()
        ):
            raise SettingError(
                f"Resetting InfoQuest: expected reset_mask to be a bool array of shape ({self.num_envs},) with a True "
                f"in it, got {mask!r}."
            )
        counted = [seed + i for i in range(self.num_envs)] if isinstance(seed, int) else seed
        seeds = self._each("seed", counted)
        ids = self._each("options['scenario_ids']", options.pop("scenario_ids", None))
        infos: dict[str, Any] = {}
        for i in np.flatnonzero(mask).tolist():
            own = options if ids[i] is None else {**options, "scenario_id": ids[i]}
            _, info = self.envs[i].reset(seed=seeds[i], options=own)
            infos = self._add_info(infos, info, i)
        self._over[mask] = False
        return self._histories(), infos

    def step(self, actions: Sequence[str]) -> tuple[Histories, Floats, Flags, Flags, dict[str, Any]]:
        """Say one utterance in each conversation.

        Nothing changes in any of them when an action, the judge or the user fails: the step can be tried again.

        Args:
            actions: N utterances; those of conversations that this step resets are ignored.

        Returns:
            histories, rewards, terminated, truncated, infos.

        Raises:
            InvalidAction: an action is not an utterance.
            ResetNeeded: a conversation is done and autoreset is disabled, or none was started.
            JudgeFailure: the judge raised.
            UserSimulatorFailure: the user raised.
        """
        if isinstance(actions, str) or len(actions) != self.num_envs:
            raise SettingError(
                f"Stepping InfoQuest: expected {self.num_envs} utterances, got {type(actions).__name__} of length "
                f"{len(actions)}."
            )
        resets = self._over if self._mode == AutoresetMode.NEXT_STEP else np.zeros_like(self._over)
        talking = np.flatnonzero(~resets)
        results = dict(zip(talking.tolist(), self._talk(talking, actions), strict=True))
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        terminated, truncated = np.zeros_like(self._over), np.zeros_like(self._over)
        infos: dict[str, Any] = {}
        for i, env in enumerate(self.envs):
            if i not in results:
                _, info = env.reset()
            else:
                rewards[i], terminated[i], truncated[i], info = results[i]
                if self._mode == AutoresetMode.SAME_STEP and (terminated[i] or truncated[i]):
                    final = {"final_obs": self._history(i), "final_info": info}
                    infos = self._add_info(infos, final, i)
                    _, info = env.reset()
            infos = self._add_info(infos, info, i)
            if env.render_mode == "human":
                env.render()
        over = terminated | truncated
        self._over = np.zeros_like(over) if self._mode == AutoresetMode.SAME_STEP else over
        return self._histories(), rewards, terminated, truncated, infos

    def _talk(self, indexes: NDArray[np.intp], actions: Sequence[str]) -> list[Step]:
        conversations: list[Conversation] = []
        for i in indexes:
            conversation = self.envs[i].conversation
            if conversation is None or conversation.over:
                raise ResetNeeded(f"Stepping InfoQuest: expected an episode under way in conversation {i}, got none.")
            check_action(actions[i])
            conversations.append(conversation)
        return talk(conversations, [actions[i] for i in indexes], self.envs[0])

    def render(self) -> tuple[Any, ...] | None:
        """Return the chats as text (``ansi``), one for each conversation; ``human`` prints them at every step."""
        return tuple(env.render() for env in self.envs) if self.render_mode is not None else None

    def _history(self, i: int) -> ChatHistory:
        conversation = self.envs[i].conversation
        if conversation is None:
            raise ResetNeeded(
                f"Reading InfoQuest: expected an episode in conversation {i}, got none. Call reset() first."
            )
        return conversation.history

    def _histories(self) -> Histories:
        return tuple(self._history(i) for i in range(self.num_envs))

    def _each(self, what: str, values: Sequence[Any] | None) -> Sequence[Any]:
        if values is None:
            return [None] * self.num_envs
        if isinstance(values, str) or len(values) != self.num_envs:
            raise SettingError(f"Resetting InfoQuest: expected {self.num_envs} values in {what}, got {values!r}.")
        return values
