"""The environment ids, the one function that tells Gymnasium about them, and the one that finds them again."""

from typing import TYPE_CHECKING

from elicit_gym.registry import is_target, load_module, load_object, unknown_name

if TYPE_CHECKING:
    from gymnasium.envs.registration import EnvSpec

__all__ = ["DEFAULT_ENV", "ENV_IDS", "environment_spec", "register_envs"]

DEFAULT_ENV = "elicit_gym/InfoQuest-v0"
"""The environment where none is named: offline, and deterministic given the seed."""

_INFOQUEST = "elicit_gym.envs.infoquest:InfoQuestEnv"
_VECTOR = "elicit_gym.envs.infoquest_vector:InfoQuestVectorEnv"
_ENVS: dict[str, tuple[str, dict[str, object]]] = {
    # No max_episode_steps: the environment truncates by itself after `max_turns`, and a TimeLimit wrapper with
    # another number would make two clocks.
    DEFAULT_ENV: (_INFOQUEST, {}),
    "elicit_gym/YieldReplay-v0": ("elicit_gym.offline.replay_env:YieldReplayEnv", {}),
    "elicit_gym/InfoQuestLLM-v0": (_INFOQUEST, {"user_simulator": "llm", "judge": "llm"}),
}

# From the first release on, whatever changes returns raises the number in the id: docs/versioning.md.
ENV_IDS: tuple[str, ...] = tuple(sorted(_ENVS))
"""Every id that this package registers."""


def register_envs() -> None:
    """Register every environment of this package with Gymnasium; calling it again changes nothing.

    `import elicit_gym` calls it, and so does ``gym.make("elicit_gym:elicit_gym/InfoQuest-v0")``, with nothing imported
    before it. It is also the package's ``gymnasium.envs`` entry point. Gymnasium 1.0 removed the code that read this
    group, so that with Gymnasium 1.x an id alone is not enough: import `elicit_gym`, or put ``elicit_gym:`` before it.
    """
    # Inside the function, since as an entry point this file is loaded while Gymnasium itself is half imported.
    from gymnasium.envs.registration import register, registry

    for env_id, (entry_point, kwargs) in _ENVS.items():
        if env_id not in registry:
            vector = _VECTOR if entry_point == _INFOQUEST else None
            register(id=env_id, entry_point=entry_point, vector_entry_point=vector, kwargs=kwargs)


def environment_spec(env_id: str) -> "EnvSpec":
    """Return how an environment is made.

    Args:
        env_id: a registered id; Gymnasium's ``module:id``, whose module registers the id when it is imported; or
            ``module:Class``. Given on the command line or in code, and never read from a file.

    Raises:
        UnknownNameError: no such id.
        SettingError: the module cannot be imported.
    """
    from gymnasium.envs.registration import EnvSpec, registry

    _, colon, name = env_id.partition(":")
    if env_id in registry:
        return registry[env_id]
    if colon:
        load_module("environment", env_id)
        if name in registry:
            return registry[name]
        if is_target(env_id):
            load_object("environment", env_id)
            return EnvSpec(id=env_id, entry_point=env_id)
    raise unknown_name("environment", name if colon else env_id, ENV_IDS, "; or module:Class for your own")
