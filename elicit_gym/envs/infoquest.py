"""InfoQuest as a Gymnasium environment."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import gymnasium as gym
from gymnasium.error import InvalidAction, ResetNeeded

from elicit_gym.envs.conversation import Conversation
from elicit_gym.errors import SettingError, boundary
from elicit_gym.judges.base import Judge
from elicit_gym.registry import JUDGES, REWARDS, USER_SIMULATORS
from elicit_gym.rewards import Reward, RewardStep
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.spaces import ChatHistorySpace, Utterance
from elicit_gym.types import ChatHistory, Scenario, Usage, UserReply, Verdict
from elicit_gym.user_simulators.base import UserSimulator

__all__ = ["InfoQuestEnv", "check_action", "check_parts"]


def check_action(action: Any) -> str:
    """Return the action if it is an utterance.

    Raises:
        InvalidAction: it is not a string, or it is blank. The episode is left as it is.
    """
    if isinstance(action, str) and action and not action.isspace():
        return action
    found = f"{type(action).__name__} {action!r:.60}" if not isinstance(action, str) else repr(action[:20])
    raise InvalidAction(
        f"Stepping InfoQuest: expected a non-empty string, got {found}. Say something; the episode goes on."
    )


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
    turns make twenty messages, the opening message included: after the last action, the user is not asked for a reply.

    ## Rewards
    By name: ``checklist_gain`` (default; items newly satisfied in this step, so that the return is the published
    ``total_reward``, 0 to 5), ``final_checklist`` (all of it at the last step), ``checklist_gain_per_turn_cost`` (the
    gain less ``cost`` per turn, 0.1 by default).

    ## Starting state
    `reset(seed=...)` draws a scenario; ``options={"scenario_id": "07-b"}`` picks one. The seed also seeds the user.

    ## Episode end
    `terminated` when every item is satisfied, `truncated` when `max_turns` is reached without that; never both.
    Stepping a finished episode raises `ResetNeeded`.

    ## Information
    New scalars and tuples at every step, never to be shown to a policy: ``scenario_id``, ``turn``, ``checklist``
    (flags), ``newly_satisfied`` (indexes), ``stuck``, ``unscored`` (indexes that the judge could not score),
    ``flags`` (what user simulator and judge had to repair), ``usage`` (what they spent).

    ## Arguments
    See below; all can be given to `gym.make` and survive ``env.spec.to_json()``. Live simulators, judges and rewards
    can be handed to this constructor in place of names.

    Args:
        scenarios: ``bundled``, a path, or a sequence of scenarios.
        split: ``train`` or ``test``; None for all.
        user_simulator: a name from `elicit_gym.registry.USER_SIMULATORS`, or a simulator.
        user_simulator_kwargs: the user simulator's arguments.
        judge: a name from `elicit_gym.registry.JUDGES`, or a judge.
        judge_kwargs: the judge's arguments.
        reward: a name from `elicit_gym.registry.REWARDS`, or a reward.
        reward_kwargs: the reward's arguments.
        max_turns: the number of messages that the agent may send.
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
        if not isinstance(max_turns, int) or max_turns < 1:
            raise SettingError(f"Making InfoQuest: expected max_turns of 1 or more, got {max_turns!r}. Raise it.")
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise SettingError(
                f"Making InfoQuest: expected render_mode None, 'ansi' or 'human', got {render_mode!r}. Choose one."
            )
        if isinstance(scenarios, str | Path):
            self.scenarios: tuple[Scenario, ...] = load_scenarios(scenarios, split)
        else:
            self.scenarios = tuple(scenarios)
        if not self.scenarios:
            raise SettingError("Making InfoQuest: expected at least one scenario, got none. Give some.")
        self.user_simulator: UserSimulator = (
            USER_SIMULATORS.make(user_simulator, user_simulator_kwargs)
            if isinstance(user_simulator, str)
            else user_simulator
        )
        self.judge: Judge = JUDGES.make(judge, judge_kwargs) if isinstance(judge, str) else judge
        self.reward: Reward = REWARDS.make(reward, reward_kwargs) if isinstance(reward, str) else reward
        self.max_turns = max_turns
        self.render_mode = render_mode
        self.observation_space = ChatHistorySpace(max_messages=2 * max_turns)
        self.action_space = Utterance()
        self._by_id = {scenario.id: scenario for scenario in self.scenarios}
        self._conversation: Conversation | None = None
        self._checked = False

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
            SettingError: there is no such scenario, or an option is unknown.
            FatalModelError: a model in the user's or the judge's seat cannot be called (no key, no server). This is
                checked once.
        """
        super().reset(seed=seed)
        if not self._checked:
            check_parts(self.user_simulator, self.judge)
            self._checked = True
        unknown = set(options or {}) - {"scenario_id"}
        if unknown:
            raise SettingError(
                f"Resetting InfoQuest: expected the option 'scenario_id', got {sorted(unknown)}. Drop it."
            )
        # Both numbers are drawn in any case, so that picking a scenario does not shift the user's seed.
        index = int(self.np_random.integers(len(self.scenarios)))
        user_seed = int(self.np_random.integers(2**31))
        scenario = self.scenarios[index]
        if options and options.get("scenario_id") is not None:
            wanted = options["scenario_id"]
            if wanted not in self._by_id:
                known = ", ".join(list(self._by_id)[:6])
                raise SettingError(
                    f"Resetting InfoQuest: expected the id of a scenario, got {wanted!r}. Known: {known}, ..."
                )
            scenario = self._by_id[wanted]
        self._conversation = Conversation(scenario, max_turns=self.max_turns, seed=user_seed)
        if self.render_mode == "human":
            self.render()
        return self._conversation.history, step_info(self._conversation)

    def step(self, action: str) -> tuple[ChatHistory, float, bool, bool, dict[str, Any]]:
        """Say `action`, have it judged, and hear the user's reply.

        Returns:
            history, reward, terminated, truncated, info.

        Raises:
            InvalidAction: the action is not an utterance; the episode goes on.
            ResetNeeded: there is no episode under way.
            UserSimulatorFailure: the user raised; the step was not made and can be tried again.
            JudgeFailure: the judge raised; the step was not made either.
        """
        conversation = self._conversation
        if conversation is None or conversation.over:
            raise ResetNeeded("Stepping InfoQuest: expected an episode under way, got none. Call reset() first.")
        check_action(action)
        with boundary("judge", "Judging a message"):
            verdicts = self.judge.judge(conversation.judge_request(action))
            turn = conversation.user_turn(action, verdicts)
        reply = None
        if turn is not None:
            with boundary("user_simulator", "Replying as the user"):
                reply = self.user_simulator.reply(turn)
        conversation.advance(action, verdicts, turn, reply)
        if self.render_mode == "human":
            self.render()
        return (
            conversation.history,
            step_reward(self.reward, conversation),
            conversation.terminated,
            conversation.truncated,
            step_info(conversation, verdicts, reply),
        )

    def render(self) -> str | None:
        """Return the chat with its checklist as text (``ansi``) or print it (``human``)."""
        from elicit_gym.envs.render import print_conversation, render_text

        if self._conversation is None or self.render_mode is None:
            return None
        if self.render_mode == "human":
            print_conversation(self._conversation)
            return None
        return render_text(self._conversation)


def check_parts(*parts: object) -> None:
    """Let every part that calls a model check whether it can.

    Raises:
        FatalModelError: one of them cannot; the message is one sentence.
    """
    for part in parts:
        check = getattr(part, "check", None)
        if check is not None:
            check()


def step_reward(reward: Reward, conversation: Conversation) -> float:
    """Return the reward of the step just made."""
    return float(
        reward(
            RewardStep(
                num_newly_satisfied=len(conversation.newly_satisfied),
                num_satisfied=sum(conversation.satisfied),
                turn=conversation.turn,
                last=conversation.over,
            )
        )
    )


def step_info(
    conversation: Conversation, verdicts: Sequence[Verdict] = (), reply: UserReply | None = None
) -> dict[str, Any]:
    """Return the info of the step just made (or of the reset)."""
    flags: tuple[str, ...] = reply.flags if reply else ()
    usage: tuple[Usage, ...] = reply.usage if reply else ()
    for verdict in verdicts:
        if verdict.usage or verdict.flags:
            flags, usage = verdict.flags + flags, verdict.usage + usage
    return {
        "scenario_id": conversation.scenario.id,
        "turn": conversation.turn,
        "checklist": conversation.satisfied,
        "newly_satisfied": conversation.newly_satisfied,
        "stuck": conversation.stuck,
        "unscored": conversation.unscored,
        "flags": flags,
        "usage": usage,
    }
