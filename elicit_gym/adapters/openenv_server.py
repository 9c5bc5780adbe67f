"""InfoQuest as an OpenEnv server: ``elicit-gym serve``."""

import json
from collections.abc import Mapping
from typing import Any

from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata, State

from elicit_gym.adapters.local_server import AccessRules, Guard, text_problem
from elicit_gym.adapters.openenv_models import Heard, Say
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.rollout.units import make_env, sample_environment

__all__ = ["ROUTES", "InfoQuestServerEnv", "make_app"]

ROUTES = ("/health", "/metadata", "/schema", "/ws")
"""What trainers use. OpenEnv's other routes are left out: over plain HTTP each call has an environment of its own, so
that a step never finds its reset; and sessions that ``/mcp`` opens are never closed."""


class InfoQuestServerEnv(Environment[Say, Heard, State]):
    """One session's conversation.

    Args:
        env: an InfoQuest environment that no other session uses.
    """

    SUPPORTS_CONCURRENT_SESSIONS = True

    def __init__(self, env: InfoQuestEnv) -> None:
        super().__init__()
        self._env = env
        self._state = State(episode_id=None, step_count=0)

    def reset(
        self, seed: int | None = None, episode_id: str | None = None, scenario_id: str | None = None, **_: Any
    ) -> Heard:
        """Start an episode.

        Args:
            seed: seeds the choice of the scenario, and the user.
            episode_id: the client's name for it.
            scenario_id: the scenario to play; None draws one.

        Raises:
            SettingError: there is no such scenario, or the seed is not a whole number from 0.
            ValidationError: the episode's name is not text.
        """
        self._state = State(episode_id=episode_id, step_count=0)  # refused, if need be, before anything has changed
        history, info = self._env.reset(
            seed=seed, options=None if scenario_id is None else {"scenario_id": scenario_id}
        )
        self._state = State(episode_id=episode_id, step_count=0, scenario_id=info["scenario_id"])
        return Heard(messages=[{"role": m.role, "content": m.content} for m in history])

    def step(self, action: Say, timeout_s: float | None = None, **_: Any) -> Heard:
        """Say something; the observation carries the reward of this step."""
        history, reward, terminated, truncated, info = self._env.step(action.message)
        # For analysis through `state`; it is not part of the observation, since a policy must not see it.
        self._state = State(
            episode_id=self._state.episode_id, step_count=info["turn"], scenario_id=info["scenario_id"],
            checklist=list(info["checklist"]),
        )  # fmt: skip
        return Heard(
            messages=[{"role": m.role, "content": m.content} for m in history],
            reward=float(reward),
            done=terminated or truncated,
            terminated=terminated,
            truncated=truncated,
            left=info["left"],
        )

    @property
    def state(self) -> State:
        """Return the episode, the turn, the scenario and the checklist."""
        return self._state

    def get_metadata(self) -> EnvironmentMetadata:
        """Describe the environment."""
        from elicit_gym.version import __version__

        return EnvironmentMetadata(
            name="InfoQuest", description="A user with a hidden goal: ask before you answer.", version=__version__
        )


def make_app(env_id: str, env_kwargs: Mapping[str, Any], *, max_sessions: int, rules: AccessRules) -> Guard:
    """Return the server as an ASGI app; sessions share the environment's parts, with their connections.

    Args:
        env_id: a registered InfoQuest environment.
        env_kwargs: the environment's arguments.
        max_sessions: the largest number of conversations at once.
        rules: who may use it.

    Raises:
        SettingError: it is not an InfoQuest environment, or its arguments are invalid.
    """
    from starlette.responses import JSONResponse

    parts = sample_environment(env_id, env_kwargs).parts

    def factory() -> InfoQuestServerEnv:
        env = make_env(env_id, env_kwargs, parts).unwrapped
        assert isinstance(env, InfoQuestEnv)
        return InfoQuestServerEnv(env)

    async def not_found(request: Any, error: Any) -> Any:
        found = f"{request.method} {request.url.path}"
        sentence = (
            f"Calling this server: expected GET {', '.join(ROUTES[:-1])} or the WebSocket {ROUTES[-1]}, got "
            f"{found!r:.80}. Reset, step and state are messages over the WebSocket."
        )
        return JSONResponse({"detail": sentence}, status_code=error.status_code)

    app = create_fastapi_app(factory, Say, Heard, max_concurrent_envs=max_sessions)
    app.router.routes[:] = [route for route in app.router.routes if getattr(route, "path", None) in ROUTES]
    app.add_exception_handler(404, not_found)
    app.add_exception_handler(405, not_found)
    return Guard(app, rules, _answer_to_unreadable)


def _answer_to_unreadable(text: str) -> str | None:
    """Answer a message that OpenEnv would break on, in its own form."""
    problem = text_problem(text)
    if problem is None:
        return None
    return json.dumps({"type": "error", "data": {"message": problem, "code": "INVALID_JSON"}})
