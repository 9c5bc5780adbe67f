"""Many InfoQuest conversations in one environment: all judge calls go out as one batch, then all user calls."""

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import NDArray

from elicit_gym.envs.arguments import as_seed, json_spec, whole_number
from elicit_gym.envs.conversation import Conversation
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.envs.step_result import StepResult
from elicit_gym.envs.stepping import step_conversations
from elicit_gym.errors import SettingError
from elicit_gym.types import ChatHistory

__all__ = ["InfoQuestVectorEnv"]

Histories = tuple[ChatHistory, ...]
Flags = NDArray[np.bool_]
Floats = NDArray[np.float64]


class InfoQuestVectorEnv(VectorEnv[Histories, Sequence[str], NDArray[Any]]):
    """N conversations that step together; with the same seeds each is that of `InfoQuestEnv`.

    ``gym.make_vec("elicit_gym/InfoQuest-v0", num_envs=64)`` makes it. A step judges all messages in one batch, then
    has all users reply in one: with language models in these seats, N calls are under way at once, as far as the limits
    of `elicit_gym.llm.runtime.Runtime` go (256 by default).

    Observations are a tuple of N histories, actions a sequence of N utterances, rewards and flags arrays of shape
    (N,). Infos have an array of shape (N,) for each key of the single environment's info, and a mask ``_key``.

    Gymnasium's own vector environments work too: ``vectorization_mode="sync"``, or ``"async"`` with
    ``vector_kwargs={"shared_memory": False}``, since texts have no fixed size to be shared in.

    Args:
        num_envs: the number N of conversations.
        autoreset_mode: ``NextStep`` (Gymnasium's default: the step after an episode's end resets, its action is not
            looked at), ``SameStep`` (the step that ends an episode resets too, its end is in ``final_obs`` and
            ``final_info``), or ``Disabled`` (reset with ``options={"reset_mask": flags}``).
        env_kwargs: the arguments of `InfoQuestEnv`.

    Raises:
        SettingError: an argument is invalid.
    """

    _spec: EnvSpec | None = None

    def __init__(
        self, num_envs: int = 1, autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP, **env_kwargs: Any
    ) -> None:
        super().__init__()
        num_envs = whole_number("Making InfoQuest", "num_envs", num_envs, 1)
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
        self._done = np.zeros(num_envs, dtype=np.bool_)

    @property
    def spec(self) -> EnvSpec | None:
        """The spec that `gym.make_vec` made this environment by; it survives ``to_json()``."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = None if spec is None else json_spec(spec)

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
        counted = [int(seed) + i for i in range(self.num_envs)] if isinstance(seed, int | Integral) else seed
        seeds = [as_seed("Resetting InfoQuest", one) for one in self._each("seed", counted)]
        ids = self._each("options['scenario_ids']", options.pop("scenario_ids", None))
        infos: dict[int, dict[str, Any]] = {}
        for i in np.flatnonzero(mask).tolist():
            own = options if ids[i] is None else {**options, "scenario_id": ids[i]}
            _, infos[i] = self.envs[i].reset(seed=seeds[i], options=own)
        self._done[mask] = False
        return self._histories(), self._batched(infos)

    def step(self, actions: Sequence[str]) -> tuple[Histories, Floats, Flags, Flags, dict[str, Any]]:
        """Say one utterance in each conversation.

        Nothing changes in any of them when an action, the judge or the user fails: the step can be tried again.

        Args:
            actions: N utterances; those of conversations that this step resets are ignored.

        Returns:
            histories, rewards, terminated, truncated, infos.

        Raises:
            InvalidAction: an action is not an utterance.
            ResetNeeded: a conversation has ended, and autoreset is disabled, or none was started.
            JudgeFailure: the judge raised.
            UserSimulatorFailure: the user raised.
        """
        if isinstance(actions, str) or len(actions) != self.num_envs:
            raise SettingError(
                f"Stepping InfoQuest: expected {self.num_envs} utterances, got {type(actions).__name__} of length "
                f"{len(actions)}."
            )
        resets = self._done if self._mode == AutoresetMode.NEXT_STEP else np.zeros_like(self._done)
        results = self._step_conversations(np.flatnonzero(~resets).tolist(), actions)
        rewards = np.zeros(self.num_envs, dtype=np.float64)
        terminated, truncated = np.zeros_like(self._done), np.zeros_like(self._done)
        infos: dict[int, Mapping[str, Any]] = {}
        final: dict[int, StepResult] = {}
        for i, env in enumerate(self.envs):
            if i not in results:
                _, infos[i] = env.reset()
                continue
            result = results[i]
            rewards[i], terminated[i], truncated[i] = result.reward, result.terminated, result.truncated
            infos[i] = result.info
            if env.render_mode == "human":
                env.render()
            if self._mode == AutoresetMode.SAME_STEP and result.done:
                final[i] = result
                _, infos[i] = env.reset()
        done = terminated | truncated
        self._done = np.zeros_like(done) if self._mode == AutoresetMode.SAME_STEP else done
        return self._histories(), rewards, terminated, truncated, self._batched(infos, final)

    def _batched(
        self, infos: Mapping[int, Mapping[str, Any]], final: Mapping[int, StepResult] | None = None
    ) -> dict[str, Any]:
        """Return what `VectorEnv._add_info` would make of them one by one, in a third of the time."""
        batched: dict[str, Any] = {}
        mask = np.zeros(self.num_envs, dtype=np.bool_)
        mask[list(infos)] = True
        for key, example in next(iter(infos.values()), {}).items():
            array = np.zeros(self.num_envs, dtype=type(example) if isinstance(example, int | float) else object)
            array = np.full(self.num_envs, None) if array.dtype == object else array
            for i, info in infos.items():
                array[i] = info[key]
            batched[key], batched[f"_{key}"] = array, mask.copy()
        if final:
            histories = np.full(self.num_envs, None)
            for i, result in final.items():
                histories[i] = result.history
            mask = np.zeros(self.num_envs, dtype=np.bool_)
            mask[list(final)] = True
            batched |= {"final_obs": histories, "_final_obs": mask, "_final_info": mask.copy()}
            batched["final_info"] = self._batched({i: result.info for i, result in final.items()})
        return batched

    def _step_conversations(self, indexes: Sequence[int], actions: Sequence[str]) -> dict[int, StepResult]:
        conversations: list[Conversation] = []
        for i in indexes:
            conversation = self.envs[i].conversation
            if conversation is None or conversation.done:
                raise ResetNeeded(f"Stepping InfoQuest: expected an episode under way in conversation {i}, got none.")
            conversations.append(conversation)
        # Atomic, so that a step which failed can be tried again as a whole.
        results = step_conversations(self.envs[0].parts, conversations, [actions[i] for i in indexes], atomic=True)
        return dict(zip(indexes, results, strict=True))

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
