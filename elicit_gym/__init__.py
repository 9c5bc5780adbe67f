"""elicit-gym: Gymnasium environments, offline data and one harness for dialogue agents that must ask.

Importing this package registers its environments with Gymnasium and nothing more: torch, litellm, matplotlib, scipy
and spaCy are loaded by the functions that need them.
"""

from typing import TYPE_CHECKING, Any

from elicit_gym.registration import ENV_IDS, register_envs
from elicit_gym.version import __version__ as __version__

if TYPE_CHECKING:
    from elicit_gym.envs.infoquest import InfoQuestEnv
    from elicit_gym.envs.infoquest_vector import InfoQuestVectorEnv
    from elicit_gym.episode import Episode, EpisodeRecord, Transition
    from elicit_gym.errors import ElicitGymError
    from elicit_gym.evaluation.compare import compare
    from elicit_gym.evaluation.comparison import Comparison
    from elicit_gym.policy import BatchPolicy, Policy
    from elicit_gym.rollout.collect import collect_episodes
    from elicit_gym.rollout.run_episode import run_episode
    from elicit_gym.scenarios.load import load_scenarios
    from elicit_gym.types import ChatHistory, Message, Scenario, Usage, Verdict

__all__ = [
    "ENV_IDS",
    "BatchPolicy",
    "ChatHistory",
    "Comparison",
    "ElicitGymError",
    "Episode",
    "EpisodeRecord",
    "InfoQuestEnv",
    "InfoQuestVectorEnv",
    "Message",
    "Policy",
    "Scenario",
    "Transition",
    "Usage",
    "Verdict",
    "collect_episodes",
    "compare",
    "load_scenarios",
    "register_envs",
    "run_episode",
]

_LAZY = {
    "BatchPolicy": "elicit_gym.policy",
    "ChatHistory": "elicit_gym.types",
    "Comparison": "elicit_gym.evaluation.comparison",
    "ElicitGymError": "elicit_gym.errors",
    "Episode": "elicit_gym.episode",
    "EpisodeRecord": "elicit_gym.episode",
    "InfoQuestEnv": "elicit_gym.envs.infoquest",
    "InfoQuestVectorEnv": "elicit_gym.envs.infoquest_vector",
    "Message": "elicit_gym.types",
    "Policy": "elicit_gym.policy",
    "Scenario": "elicit_gym.types",
    "Transition": "elicit_gym.episode",
    "Usage": "elicit_gym.types",
    "Verdict": "elicit_gym.types",
    "collect_episodes": "elicit_gym.rollout.collect",
    "compare": "elicit_gym.evaluation.compare",
    "load_scenarios": "elicit_gym.scenarios.load",
    "run_episode": "elicit_gym.rollout.run_episode",
}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used (PEP 562)."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


register_envs()
