"""The environment ids, and the one function that tells Gymnasium about them."""

__all__ = ["ENV_IDS", "register_envs"]

_INFOQUEST = "elicit_gym.envs.infoquest:InfoQuestEnv"
_VECTOR = "elicit_gym.envs.infoquest_vector:InfoQuestVectorEnv"
_ENVS: dict[str, tuple[str, dict[str, object]]] = {
    # There is no max_episode_steps: the environment itself truncates after `max_turns`, and a TimeLimit wrapper with
    # another number would contradict it.
    "elicit_gym/InfoQuest-v0": (_INFOQUEST, {}),
    "elicit_gym/YieldReplay-v0": ("elicit_gym.offline.replay_env:YieldReplayEnv", {}),
    "elicit_gym/InfoQuestLLM-v0": (_INFOQUEST, {"user_simulator": "llm", "judge": "llm"}),
}

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
