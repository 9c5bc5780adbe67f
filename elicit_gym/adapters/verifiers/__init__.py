"""InfoQuest as a `verifiers` (v1) taskset and environment: ``eval elicit-gym-verifiers -m MODEL``.

This folder installs as the top-level package ``elicit_gym_verifiers``, since verifiers finds its plug-ins by their
top-level names. The simulated user is the run's user: verifiers' agent speaks, `InfoQuestEnv` judges and replies, and
the episode's return is the reward. Install both: ``pip install elicit-gym verifiers``.
"""

import asyncio
from collections.abc import Iterator
from typing import Any

import verifiers.v1 as vf

from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.scenarios.load import load_scenarios
from elicit_gym.seeding import unit_seed

__all__ = [
    "InfoQuest",
    "InfoQuestConfig",
    "InfoQuestData",
    "InfoQuestTask",
    "InfoQuestTaskset",
    "InfoQuestTasksetConfig",
]


class InfoQuestData(vf.TaskData):
    """A scenario to play, named by its id: the hidden context stays with the environment.

    Attributes:
        scenario_id: the scenario's id.
        seed: the user's seed.
    """

    scenario_id: str
    seed: int


class InfoQuestTask(vf.Task[InfoQuestData, vf.State, vf.TaskConfig]):
    """One conversation."""


class InfoQuestTasksetConfig(vf.TasksetConfig):
    """The scenarios to play.

    Attributes:
        scenarios: ``bundled``, ``infoquest`` (the published ones) or a path.
        split: ``train`` or ``test``; None for all.
        seed: the base seed.
    """

    scenarios: str = "bundled"
    split: str | None = None
    seed: int = 0


class InfoQuestTaskset(vf.Taskset[InfoQuestTask, InfoQuestTasksetConfig]):
    """One task per scenario, with the opening message as the prompt."""

    def load(self) -> Iterator[InfoQuestTask]:
        """Yield the tasks."""
        for scenario in load_scenarios(self.config.scenarios, self.config.split):
            data = InfoQuestData(
                name=scenario.id,
                prompt=scenario.opening_message,
                scenario_id=scenario.id,
                seed=unit_seed(self.config.seed, scenario.id, 0),
            )
            yield InfoQuestTask(data, self.config.task)


class InfoQuestConfig(vf.EnvConfig):
    """Who takes part.

    Attributes:
        assistant: the agent that is evaluated.
        max_turns: the number of messages that it may send.
        user_simulator, judge: names from `elicit_gym.registry`.
        user_simulator_kwargs, judge_kwargs: their arguments.
    """

    assistant: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})
    max_turns: int = 10
    user_simulator: str = "scripted"
    user_simulator_kwargs: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it
    judge: str = "scripted"
    judge_kwargs: dict[str, Any] = {}  # noqa: RUF012


class InfoQuest(vf.Env[InfoQuestConfig]):
    """Runs `InfoQuestEnv` as the user of an agent's interaction."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play one conversation; the return is the reward ``checklist``."""
        config, data = self.config, task.data
        env = InfoQuestEnv(
            scenarios=self.taskset.config.scenarios, split=self.taskset.config.split, max_turns=config.max_turns,
            user_simulator=config.user_simulator, user_simulator_kwargs=config.user_simulator_kwargs,
            judge=config.judge, judge_kwargs=config.judge_kwargs,
        )  # fmt: skip
        # The user and the judge may be models, and must not hold up other conversations.
        options = {"scenario_id": data.scenario_id}
        _, info = await asyncio.to_thread(env.reset, seed=data.seed, options=options)
        total, terminated, truncated = 0.0, False, False
        async with agents.assistant.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                # An empty reply is a turn in which nothing is said; it does not end the run.
                step = await asyncio.to_thread(env.step, segment.last_reply.strip() or "...")
                history, reward, terminated, truncated, info = step
                total += float(reward)
                if terminated or truncated:
                    break
                segment = await interaction.turn(history[-1].content)
        trace = interaction.trace
        trace.record_reward("checklist", total, 1.0)
        trace.record_metric("success", float(terminated))
        trace.record_metric("turns", float(info["turn"]))
        trace.info["checklist"] = list(info["checklist"])
