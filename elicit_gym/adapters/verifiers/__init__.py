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
from elicit_gym.envs.step_result import StepResult
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
        scenarios: ``bundled``, ``infoquest`` (the published ones) or a path; None for the environment's own.
        split: ``train`` or ``test``; None for all.
        seed: the base seed.
    """

    scenarios: str | None = None
    split: str | None = None
    seed: int = 0


class InfoQuestTaskset(vf.Taskset[InfoQuestTask, InfoQuestTasksetConfig]):
    """One task per scenario, with the opening message as the prompt."""

    def load(self) -> Iterator[InfoQuestTask]:
        """Yield the tasks."""
        source = {} if self.config.scenarios is None else {"source": self.config.scenarios}
        for scenario in load_scenarios(**source, split=self.config.split):
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
        assistant: the policy.
        max_turns: messages that it may send; None for the environment's own number.
        user_simulator, judge: names from `elicit_gym.registry`, or ``module:attribute``; None for the environment's
            own.
        user_simulator_kwargs, judge_kwargs: their arguments.
    """

    assistant: vf.AgentConfig = vf.AgentConfig(harness={"id": "null"})
    max_turns: int | None = None
    user_simulator: str | None = None
    user_simulator_kwargs: dict[str, Any] = {}  # noqa: RUF012 - pydantic copies it
    judge: str | None = None
    judge_kwargs: dict[str, Any] = {}  # noqa: RUF012


class InfoQuest(vf.Env[InfoQuestConfig]):
    """Runs `InfoQuestEnv` as the user of an agent's interaction."""

    async def run(self, task: Any, agents: Any) -> None:
        """Play one conversation; the return is the reward ``checklist``."""
        config, data = self.config, task.data
        given: dict[str, Any] = {
            "scenarios": self.taskset.config.scenarios, "split": self.taskset.config.split,
            "max_turns": config.max_turns, "user_simulator": config.user_simulator,
            "user_simulator_kwargs": config.user_simulator_kwargs or None, "judge": config.judge,
            "judge_kwargs": config.judge_kwargs or None,
        }  # fmt: skip
        env = InfoQuestEnv(**{name: value for name, value in given.items() if value is not None})
        # Models may sit in the user's and the judge's seat: neither may hold up other conversations.
        options = {"scenario_id": data.scenario_id}
        _, info = await asyncio.to_thread(env.reset, seed=data.seed, options=options)
        total = 0.0
        async with agents.assistant.interaction(task) as interaction:
            segment = await interaction.turn()
            while not segment.terminated:
                # An empty reply is a turn in which nothing is said; it does not end the run.
                step = await asyncio.to_thread(env.step, segment.last_reply.strip() or "...")
                result, info = StepResult.from_gym(*step), step[-1]
                total += result.reward
                if result.done:
                    break
                segment = await interaction.turn(result.history[-1].content)
        trace = interaction.trace
        trace.record_reward("checklist", total, 1.0)
        trace.record_metric("success", float(all(info["checklist"])))
        trace.record_metric("left", float(info["left"]))
        trace.record_metric("turns", float(info["turn"]))
        trace.info["checklist"] = list(info["checklist"])
