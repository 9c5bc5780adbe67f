"""The OpenEnv client of an InfoQuest server."""

from typing import Any

from openenv.core.client_types import StepResult
from openenv.core.env_client import EnvClient
from openenv.core.env_server.types import State

from elicit_gym.adapters.openenv_models import Heard, Say

__all__ = ["InfoQuestClient"]


class InfoQuestClient(EnvClient[Say, Heard, State]):
    """``InfoQuestClient(base_url="http://localhost:8000")``, asynchronous, or blocking with ``.sync()``."""

    def _step_payload(self, action: Say) -> dict[str, Any]:
        return {"message": action.message}

    def _parse_result(self, payload: dict[str, Any]) -> StepResult[Heard]:
        observation = payload.get("observation", {})
        heard = Heard(**{**observation, "reward": payload.get("reward"), "done": bool(payload.get("done"))})
        return StepResult(observation=heard, reward=heard.reward, done=heard.done)

    def _parse_state(self, payload: dict[str, Any]) -> State:
        return State(**payload)
