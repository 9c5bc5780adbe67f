"""InfoQuest as a Gymnasium environment."""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
import numpy as np
from gymnasium.envs.registration import EnvSpec
from gymnasium.error import ResetNeeded

from elicit_gym.envs.arguments import as_seed, json_spec, whole_number
from elicit_gym.envs.conversation import Conversation
from elicit_gym.envs.description import EnvironmentDescription, ScenarioSet
from elicit_gym.envs.stepping import Parts, step_conversation, step_info
from elicit_gym.errors import SettingError
from elicit_gym.judges.base import Judge, check_scenarios
from elicit_gym.parts import CheckablePart, describe, json_types, kind_of
from elicit_gym.registry import JUDGES, REWARDS, USER_SIMULATORS, Registry
from elicit_gym.rewards import Reward
from elicit_gym.scenarios.load import load_scenarios, scenarios_sha256
from elicit_gym.spaces import ChatHistorySpace, Utterance
from elicit_gym.types import ChatHistory, Scenario
from elicit_gym.user_simulators.base import UserSimulator

__all__ = ["InfoQuestEnv", "check_parts", "draw_episode"]


class InfoQuestEnv(gym.Env[ChatHistory, str]):
    """A user with a hidden goal, obstacle and constraints; the agent has ten turns to uncover what matters.

    ## Description
    The user opens with an ambiguous message that would fit two different people. A checklist of five yes/no questions,
    hidden from the agent, says what a good assistant would have asked or addressed. After each of the agent's messages,
    a judge looks at the items still pending, and the user replies with one short sentence and at most one fact.

    ## Action space
    `Utterance`: a non-empty string.

    ## Observation space
    `ChatHistorySpace`: a tuple of `Message(role, content)`, oldest first. It opens with the user and alternates. Ten
    turns make twenty messages, the opening message included: after the last action the user is not asked for a reply. A
    user who leaves has the last word.

    ## Rewards
    By name: ``checklist_gain`` (default; items newly satisfied in this step, so that the return is the published
    ``total_reward``, 0 to 5), ``final_checklist`` (all of it at the last step), ``checklist_gain_per_turn_cost`` (the
    gain less ``cost`` per turn, 0.1 by default).

    ## Starting state
    `reset(seed=...)` draws a scenario; ``options={"scenario_id": "07-b"}`` picks one. The seed also seeds the user.

    ## Episode end
    `terminated` when every item is satisfied, and when the user leaves, as some simulated users do: ``info["left"]``
    tells the two apart, so that success is ``all(info["checklist"])``. `truncated` when `max_turns` is reached without
    either; never both. Stepping a finished episode raises `ResetNeeded`.

    ## Information
    New scalars and tuples at every step, never to be shown to a policy: ``scenario_id``, ``turn``, ``checklist``
    (flags), ``newly_satisfied`` (indexes), ``stuck``, ``left`` (the user has left), ``unscored`` (indexes that the
    judge could not score), ``flags`` (what user simulator and judge had to repair), ``usage`` (what they spent).

    ## Version history
    v0: not yet released, and subject to change until it is. From the first release on, whatever changes returns raises
    the number in the id, as in Gymnasium (``docs/versioning.md``).

    ## Arguments
    See below. Those that are names, paths, numbers and dictionaries can be given to `gym.make` and survive
    ``env.spec.to_json()``. Live scenarios, simulators, judges and rewards are for this constructor; `gym.make` refuses
    them.

    Args:
        scenarios: ``bundled``, ``infoquest``, a path, or a sequence of scenarios.
        split: ``train`` or ``test``; None for all.
        user_simulator: a name from `elicit_gym.registry.USER_SIMULATORS`, ``module:attribute``, or a simulator.
        user_simulator_kwargs: its arguments.
        judge: a name from `elicit_gym.registry.JUDGES`, ``module:attribute``, or a judge.
        judge_kwargs: its arguments.
        reward: a name from `elicit_gym.registry.REWARDS`, ``module:attribute``, or a reward.
        reward_kwargs: its arguments.
        max_turns: messages that the agent may send.
        render_mode: ``ansi`` (`render` returns text), ``human`` (prints after every step) or None.

    Raises:
        UnknownNameError: there is no such simulator, judge or reward.
        SettingError: an argument is invalid.
        ScenarioError: the scenarios break a rule.

    ``elicit_gym/InfoQuestLLM-v0`` is this environment with ``user_simulator="llm"`` and ``judge="llm"``: the paper's
    protocol, with the paper's models by default. Name others with ``user_simulator_kwargs={"model": ...}`` and
    ``judge_kwargs={"model": ..., "api_base": ...}``.

    References:
        InfoQuest, Section 3.2 and 3.3. Each deliberate difference is named where it is made: those of the scripted
        user and judge in their classes. The upstream code asks the user for a reply after the last message, too;
        nobody would read it here.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["human", "ansi"], "render_fps": 4}  # type: ignore[misc]
    _spec: EnvSpec | None = None

    def __init__(
        self,
        scenarios: str | Path | Sequence[Scenario] = "bundled",
        split: str | None = None,
        user_simulator: str | UserSimulator = "scripted",
        user_simulator_kwargs: Mapping[str, Any] | None = None,
        judge: str | Judge = "scripted",
        judge_kwargs: Mapping[str, Any] | None = None,
        reward: str | Reward = "checklist_gain",
        reward_kwargs: Mapping[str, Any] | None = None,
        max_turns: int = 10,
        render_mode: str | None = None,
    ) -> None:
        max_turns = whole_number("Making InfoQuest", "max_turns", max_turns, 1)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise SettingError(
                f"Making InfoQuest: expected render_mode None, 'ansi' or 'human', got {render_mode!r}. Choose one."
            )
        if isinstance(scenarios, str | Path):
            self.scenarios: tuple[Scenario, ...] = load_scenarios(scenarios, split)
            self._source = (str(scenarios), split)
        else:
            self.scenarios = tuple(scenario for scenario in scenarios if split in (None, scenario.split))
            self._source = ("objects", split)
        if not self.scenarios:
            raise SettingError("Making InfoQuest: expected at least one scenario, got none. Give some.")
        self._made_with = {"user_simulator": user_simulator_kwargs, "judge": judge_kwargs, "reward": reward_kwargs}
        self._reward_name = reward if isinstance(reward, str) else None
        self.parts = Parts(
            user_simulator=_part(
                USER_SIMULATORS, user_simulator, user_simulator_kwargs, UserSimulator, "name and reply(turn)"
            ),
            judge=_part(JUDGES, judge, judge_kwargs, Judge, "name and judge(request)"),
            reward=_part(REWARDS, reward, reward_kwargs, Reward, "a function of a RewardStep"),
        )
        check_scenarios(self.parts.judge, self.scenarios)
        self.max_turns = max_turns
        self.render_mode = render_mode
        self.observation_space = ChatHistorySpace(max_messages=2 * max_turns)
        self.action_space = Utterance()
        self._by_id = {scenario.id: scenario for scenario in self.scenarios}
        self._conversation: Conversation | None = None
        self._checked = False

    @property
    def user_simulator(self) -> UserSimulator:
        """Who plays the user."""
        return self.parts.user_simulator

    @property
    def judge(self) -> Judge:
        """Who judges."""
        return self.parts.judge

    @property
    def reward(self) -> Reward:
        """What a step is worth."""
        return self.parts.reward

    @property
    def spec(self) -> EnvSpec | None:
        """The spec that `gym.make` made this environment by; it survives ``to_json()``."""
        return self._spec

    @spec.setter
    def spec(self, spec: EnvSpec | None) -> None:
        self._spec = None if spec is None else json_spec(spec)

    def describe(self) -> EnvironmentDescription:
        """Return what the episodes of this environment depend on, beside its scenarios."""
        kwargs = self.spec.kwargs if self.spec is not None else {}
        known = inspect.signature(InfoQuestEnv.__init__).parameters
        return EnvironmentDescription(
            kind=kind_of(self),
            max_turns=self.max_turns,
            user_simulator=describe(self.user_simulator, settings=self._made_with["user_simulator"]),
            judge=describe(self.judge, settings=self._made_with["judge"]),
            reward=describe(self.reward, name=self._reward_name, settings=self._made_with["reward"]),
            settings=json_types({name: value for name, value in kwargs.items() if name not in known}, "settings"),
        )

    def describe_scenarios(self) -> ScenarioSet:
        """Return which scenarios this environment draws from."""
        source, split = self._source
        return ScenarioSet(
            count=len(self.scenarios), sha256=scenarios_sha256(self.scenarios), source=source, split=split
        )

    @property
    def conversation(self) -> Conversation | None:
        """The current episode with its hidden context, for rendering and analysis, and never for a policy."""
        return self._conversation

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ChatHistory, dict[str, Any]]:
        """Start an episode.

        Args:
            seed: seeds the choice of the scenario and the user.
            options: ``{"scenario_id": id}`` picks the scenario.

        Returns:
            The history with the opening message, and the info.

        Raises:
            SettingError: the seed is invalid, there is no such scenario, or an option is unknown.
            FatalModelError: a model in the user's or the judge's seat cannot be called (no key, no server). This is
                checked once.
        """
        super().reset(seed=as_seed("Resetting InfoQuest", seed))
        if not self._checked:
            check_parts(self.parts.user_simulator, self.parts.judge)
            self._checked = True
        unknown = set(options or {}) - {"scenario_id"}
        if unknown:
            raise SettingError(
                f"Resetting InfoQuest: expected the option 'scenario_id', got {sorted(unknown)}. Drop it."
            )
        index, episode_seed = draw_episode(self.np_random, len(self.scenarios))
        scenario = self.scenarios[index]
        if options and options.get("scenario_id") is not None:
            wanted = options["scenario_id"]
            if not isinstance(wanted, str) or wanted not in self._by_id:
                known = ", ".join(list(self._by_id)[:6])
                raise SettingError(
                    f"Resetting InfoQuest: expected the id of a scenario, got {wanted!r}. Known: {known}, ..."
                )
            scenario = self._by_id[wanted]
        self._conversation = Conversation(scenario, max_turns=self.max_turns, seed=episode_seed)
        if self.render_mode == "human":
            self.render()
        return self._conversation.history, {**step_info(self._conversation)}

    def step(self, action: str) -> tuple[ChatHistory, float, bool, bool, dict[str, Any]]:
        """Say `action`, have it judged, and hear the user's reply.

        Returns:
            history, reward, terminated, truncated, info.

        Raises:
            InvalidAction: the action is not an utterance; the episode goes on.
            ResetNeeded: there is no episode under way.
            UserSimulatorFailure: the user raised; the step was not made and can be tried again.
            JudgeFailure: the judge raised; the step was not made either.
            RewardFailure: the reward raised or was not a finite number; likewise.
        """
        if self._conversation is None:
            raise ResetNeeded("Stepping InfoQuest: expected an episode under way, got none. Call reset() first.")
        result = step_conversation(self.parts, self._conversation, action)
        if self.render_mode == "human":
            self.render()
        return result.to_gym()

    def render(self) -> str | None:
        """Return the chat with its checklist as text (``ansi``), or print its latest messages (``human``)."""
        from elicit_gym.envs.render import print_conversation, render_text

        if self._conversation is None or self.render_mode is None:
            return None
        if self.render_mode == "human":
            print_conversation(self._conversation)
            return None
        return render_text(self._conversation)


def draw_episode(np_random: np.random.Generator, num_scenarios: int) -> tuple[int, int]:
    """Draw an episode as a reset does.

    Both numbers are drawn in any case, so that picking a scenario does not shift the seed of user and judge.

    Returns:
        The index of a scenario, and the seed of the conversation.
    """
    return int(np_random.integers(num_scenarios)), int(np_random.integers(2**31))


def _part(registry: Registry[Any], given: Any, kwargs: Mapping[str, Any] | None, contract: Any, rule: str) -> Any:
    """Make a part by its name, or take the one that was given."""
    part = registry.make(given, kwargs) if isinstance(given, str) else given
    if not isinstance(part, contract):
        raise SettingError(
            f"Making InfoQuest: expected a {registry.kind} with {rule}, got {type(part).__name__}. Add what is missing."
        )
    return part


def check_parts(*parts: object) -> None:
    """Let every part that calls a model check whether it can.

    Raises:
        FatalModelError: one of them cannot; the message is one sentence.
    """
    for part in parts:
        if isinstance(part, CheckablePart):
            part.check()
