"""Play an episode in the terminal, as the assistant or as the user."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated, Any

import gymnasium as gym
import typer
from gymnasium.error import InvalidAction
from rich.console import Console

from elicit_gym.cli import options as o
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.envs.render import LATEST, conversation_view
from elicit_gym.policy import Policy, ScenarioPolicy
from elicit_gym.reporting.terminal import printable
from elicit_gym.rollout.collect import DEFAULT_ENV
from elicit_gym.types import UserReply, UserTurn

__all__ = ["HumanUser", "play_assistant", "play_command", "play_user"]


def _make(env_kwargs: Mapping[str, Any], **more: Any) -> InfoQuestEnv:
    env = gym.make(DEFAULT_ENV, disable_env_checker=True, **env_kwargs, **more).unwrapped
    assert isinstance(env, InfoQuestEnv)
    return env


def _options(scenario_id: str | None) -> dict[str, Any]:
    return {} if scenario_id is None else {"scenario_id": scenario_id}


def _finish(env: InfoQuestEnv, total: float, console: Console) -> None:
    conversation = env.conversation
    assert conversation is not None
    console.print(conversation_view(conversation, show_hidden=True))
    if conversation.success:
        verdict = "Everything uncovered"
    elif conversation.left:
        verdict = "The user has left"
    else:
        verdict = "The end" if conversation.done else "Stopped"
    console.print(
        f"{verdict}: return {total:g} of {len(conversation.satisfied)} in {conversation.turn} turns.", style="bold"
    )


def play_assistant(
    *, scenario_id: str | None, seed: int, env_kwargs: Mapping[str, Any], console: Console | None = None
) -> float:
    """Let a person play the assistant; an empty line is asked for again, and the end of the input stops the game.

    Returns:
        The return.
    """
    console = console or Console()
    env = _make(env_kwargs)
    env.reset(seed=seed, options=_options(scenario_id))
    total, done = 0.0, False
    console.print(
        "You are the assistant. Find out what the user needs: one question at a time. Ctrl-D stops.", style="dim"
    )
    while not done:
        assert env.conversation is not None
        console.print(conversation_view(env.conversation, latest=LATEST))
        try:
            action = console.input("[bold green]you: [/]")
        except EOFError:
            console.print()
            break
        try:
            _, reward, terminated, truncated, _ = env.step(action)
        except InvalidAction as error:
            console.print(printable(str(error)), style="yellow", markup=False)
            continue
        total += reward
        done = terminated or truncated
    _finish(env, total, console)
    return total


class HumanUser:
    """A person at the keyboard plays the user.

    Args:
        console: the terminal to print to and read from.
    """

    name = "human"

    def __init__(self, console: Console) -> None:
        self._console = console

    def reply(self, turn: UserTurn) -> UserReply:
        """Show the agent's message and the game's progress, and read a reply."""
        console = self._console
        console.print(printable(f"assistant: {turn.history[-1].content}"), style="green", markup=False)
        for item, done in zip(turn.scenario.checklist, turn.satisfied, strict=True):
            console.print(printable(f"  [{'x' if done else ' '}] {item.question}"), style="dim", markup=False)
        if turn.stuck:
            console.print("The assistant is stuck: hint at the next open item.", style="yellow")
        text = ""
        while not text.strip():
            text = console.input("[bold cyan]you: [/]")
        return UserReply(text=text)


def play_user(
    policy: Policy,
    *,
    scenario_id: str | None,
    seed: int,
    env_kwargs: Mapping[str, Any],
    console: Console | None = None,
) -> float:
    """Let a person play the user against a policy; the end of the input stops the game.

    Returns:
        The policy's return.
    """
    console = console or Console()
    env = _make(env_kwargs)
    env.parts = replace(env.parts, user_simulator=HumanUser(console))
    history, _ = env.reset(seed=seed, options=_options(scenario_id))
    assert env.conversation is not None
    scenario = env.conversation.scenario
    console.print("You are the user. Answer in one short sentence, with at most one fact. Ctrl-D stops.", style="dim")
    console.print(printable(f"Persona: {scenario.persona} ({'; '.join(scenario.traits)})"), markup=False)
    for fact in scenario.facts:
        console.print(printable(f"  {fact.id}: {fact.statement}"), style="dim", markup=False)
    console.print(printable(f"you: {scenario.opening_message}"), style="cyan", markup=False)
    if isinstance(policy, ScenarioPolicy):
        policy = policy.for_scenario(scenario)
    policy.reset(seed)
    total, done = 0.0, False
    try:
        while not done:
            history, reward, terminated, truncated, _ = env.step(policy.act(history))
            total += reward
            done = terminated or truncated
    except Exception as error:
        if not isinstance(error.__cause__, EOFError):
            raise
        console.print()
    _finish(env, total, console)
    return total


def play_command(
    scenario: Annotated[
        str | None,
        typer.Option("--scenario", help="Play the scenario with this id; by default, one is drawn at random."),
    ] = None,
    as_user: Annotated[
        str | None, typer.Option("--as-user", help="Play the user against this policy.", metavar="POLICY")
    ] = None,
    scenarios: o.ScenariosOption = None,
    split: o.SplitOption = None,
    seed: o.SeedOption = 0,
    max_turns: o.TurnsOption = None,
) -> None:
    """Play the assistant in the terminal, beside the checklist; or, with --as-user POLICY, play the user."""
    from elicit_gym.agents import load_policy

    kwargs = o.env_kwargs(scenarios, split, max_turns)
    if as_user is None:
        play_assistant(scenario_id=scenario, seed=seed, env_kwargs=kwargs)
    else:
        play_user(load_policy(as_user), scenario_id=scenario, seed=seed, env_kwargs=kwargs)
