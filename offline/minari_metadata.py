"""What Minari stores beside the episodes: the environment to recover, who made the data, and reference scores."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path
from statistics import fmean
from typing import Any

import gymnasium as gym
from gymnasium.envs.registration import EnvSpec

from elicit_gym.json_files import read_json
from elicit_gym.offline.dialogue_rewards import DIALOGUE_REWARDS
from elicit_gym.offline.episodes import OfflineEpisode
from elicit_gym.offline.load_dataset import list_datasets
from elicit_gym.registration import DEFAULT_ENV

__all__ = ["built_replay_spec", "create_minari_dataset", "replay_spec"]

VERSION = version("elicit-gym")
CODE = f"https://pypi.org/project/elicit-gym/{VERSION}/"
REPLAY = "elicit_gym/YieldReplay-v0"
CHECKLIST = (0.0, 5.0)
"""The lowest and the highest return in InfoQuest: no item of the checklist is satisfied, or all five are."""


class _Specification(gym.Env[Any, Any]):
    """Carries a spec to Minari, which would otherwise make the environment, and load its data, for the spec alone."""

    def __init__(self, spec: EnvSpec, space: gym.Space[Any]) -> None:
        self.spec = spec
        self.observation_space = self.action_space = space


def _environment_of(episodes: Sequence[OfflineEpisode], name: str) -> EnvSpec | None:
    if all(episode.domain == "infoquest" for episode in episodes):
        return gym.spec(DEFAULT_ENV)
    if name in list_datasets():
        return replay_spec(name)
    return None


def replay_spec(dataset: str, **settings: Any) -> EnvSpec:
    """Return the spec of the environment that replays a dataset.

    Args:
        dataset: its id.
        settings: further arguments of `elicit_gym.offline.replay_env.YieldReplayEnv`.
    """
    return replace(gym.spec(REPLAY), kwargs={"dataset": dataset, "split": None, **settings})


def built_replay_spec(path: Path) -> EnvSpec | None:
    """Return the spec of the environment that replays the corpus of a built file, or None for a corpus of one's own.

    Args:
        path: the Arrow file, beside which `elicit_gym.offline.annotate.build_dataset` wrote how it was built. What
            stands there is text: nothing that it names is imported.
    """
    beside = path.with_name(path.name + ".json")
    facts = read_json(beside, "the facts of a build") if beside.is_file() else None
    if not isinstance(facts, dict):
        return None
    dataset = f"{facts.get('corpus')}/{facts.get('domain') or 'all'}-v1"
    reward, _, model = str(facts.get("reward")).removesuffix(")").partition("(")
    if dataset not in list_datasets() or reward not in DIALOGUE_REWARDS.names():
        return None
    settings = {key: facts[key] for key in ("gamma", "published") if isinstance(facts.get(key), bool | int | float)}
    if model:
        settings["ner_model"] = model
    return replay_spec(dataset, reward=reward, dataset_kwargs=settings)


def _reference_scores(spec: EnvSpec | None, episodes: Sequence[OfflineEpisode]) -> tuple[float, float]:
    """Return the returns that are worth 0 and 1: of no success at all, and of whoever acted or of full success."""
    if spec is not None and all(episode.domain == "infoquest" for episode in episodes):
        return CHECKLIST
    return 0.0, fmean(sum(episode.rewards) for episode in episodes)


def create_minari_dataset(
    dataset_id: str,
    buffers: list[Any],
    space: gym.Space[Any],
    episodes: Sequence[OfflineEpisode],
    name: str,
    *,
    env: str | EnvSpec | None,
    author: str,
    contact: str | None,
    algorithm: str | None,
) -> Any:
    """Create a Minari dataset with complete metadata.

    The reference scores, by which Minari normalises, are 0 and 5 in InfoQuest; for interviews 0, for a respondent who
    gives nothing away, and the mean return of the people who asked.

    Args:
        dataset_id: Minari's id.
        buffers: Minari's episode buffers.
        space: of observations and actions.
        episodes: what the buffers hold.
        name: the dataset's name.
        env: see `elicit_gym.offline.exports.to_minari`.
        author: see there.
        contact: see there.
        algorithm: see there.
    """
    import minari

    spec = gym.spec(env) if isinstance(env, str) else env or _environment_of(episodes, name)
    played = all(episode.domain == "infoquest" for episode in episodes)
    acted = sorted({episode.id.split("/")[0] for episode in episodes}) if played else ["human"]
    lowest, highest = _reference_scores(spec, episodes)
    of_spec: dict[str, Any] = {} if spec is None else {"env": _Specification(spec, space), "eval_env": spec}
    with warnings.catch_warnings():
        # A corpus of one's own has no environment, which is no fault of the export.
        warnings.filterwarnings("ignore", message="(env_spec is None|`eval_env` is set to None)")
        made = minari.create_dataset_from_buffers(
            dataset_id,
            buffers,
            observation_space=space,
            action_space=space,
            algorithm_name=algorithm or ", ".join(acted),
            author=author,
            author_email=contact or CODE,
            code_permalink=CODE,
            description=f"{name}: histories and actions as JSON text, exported by elicit-gym",
            requirements=[f"elicit-gym=={VERSION}"],
            **of_spec,
        )
    # Given to the call above, they would make it run the environment.
    made.storage.update_metadata({"ref_min_score": lowest, "ref_max_score": highest})
    return minari.load_dataset(dataset_id)
