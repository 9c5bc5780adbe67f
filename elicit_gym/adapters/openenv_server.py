"""InfoQuest as an OpenEnv server: ``elicit-gym serve``."""

from collections.abc import Mapping
from typing import Any

from openenv.core.env_server.http_server import create_fastapi_app
from openenv.core.env_server.interfaces import Environment
from openenv.core.env_server.types import EnvironmentMetadata, State

from elicit_gym.adapters.openenv_models import Heard, Say
from elicit_gym.envs.infoquest import InfoQuestEnv
from elicit_gym.rollout.units import make_env, sample_environment

__all__ = ["InfoQuestServerEnv", "make_app"]


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
        """
        history, info = self._env.reset(seed=seed, options={"scenario_id": scenario_id} if scenario_id else None)
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


def make_app(env_id: str, env_kwargs: Mapping[str, Any], *, max_sessions: int) -> Any:
    """Return the server's FastAPI app; sessions share the environment's parts, with their connections.

    Args:
        env_id: a registered InfoQuest environment.
        env_kwargs: the environment's arguments.
        max_sessions: the largest number of conversations at once.

    Raises:
        SettingError: it is not an InfoQuest environment, or its arguments are invalid.
    """
    parts = sample_environment(env_id, env_kwargs).parts

    def factory() -> InfoQuestServerEnv:
        env = make_env(env_id, env_kwargs, parts).unwrapped
        assert isinstance(env, InfoQuestEnv)
        return InfoQuestServerEnv(env)

    return create_fastapi_app(factory, Say, Heard, max_concurrent_envs=max_sessions)
