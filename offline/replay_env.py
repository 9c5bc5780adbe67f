"""Recorded interviews as an environment in D4RL's manner."""

from collections.abc import Mapping
from statistics import fmean
from typing import Any, ClassVar

import gymnasium as gym
from gymnasium.error import ResetNeeded

from elicit_gym.envs.arguments import as_seed
from elicit_gym.envs.stepping import check_action
from elicit_gym.errors import SettingError
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.dialogue_rewards import DIALOGUE_REWARDS
from elicit_gym.offline.episodes import CONTEXT, OfflineEpisode, episode_of_dialogue
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.load_dataset import load_dataset
from elicit_gym.spaces import ChatHistorySpace, Utterance
from elicit_gym.types import ChatHistory

__all__ = ["YieldReplayEnv"]


class YieldReplayEnv(gym.Env[ChatHistory, str]):
    """Walks through a recorded dialogue: whatever the agent says, the recorded reply comes back.

    ## Description
    This is for dry runs of any loop written for `gym.Env`, and a handle to a dataset. The action is compared with
    nothing, and the reward is the recorded one, so that every policy earns what the human did: this environment cannot
    distinguish policies. Use the windows and `elicit-gym evaluate-yield` for that.

    ## Action space
    `Utterance`: a non-empty string.

    ## Observation space
    `ChatHistorySpace`: the latest messages, up to five before an action, beginning with the respondent (``user``).

    ## Rewards
    The recorded ones.

    ## Starting state
    `reset(seed=...)` draws a dialogue of the split; ``options={"episode_id": ...}`` picks one. What the
    elicitor says before the respondent has said anything is skipped.

    ## Episode end
    `terminated` after the last recorded action.

    ## Information
    ``episode_id``, ``step``, ``behaviour_action`` (what the human said at this point), ``return_to_go``.

    ## Version history
    v0: not yet released, and subject to change until it is (``docs/versioning.md``).

    Args:
        dataset: an id from `elicit_gym.offline.list_datasets`.
        split: the held-out part to walk through; None for all.
        path: a local copy of the corpus.
        reward: a name from `elicit_gym.offline.dialogue_rewards.DIALOGUE_REWARDS`.
        cache: a SQLite file that keeps entities.
        dataset_kwargs: further arguments of `elicit_gym.offline.load_dataset`.
        render_mode: ``ansi`` or None.

    Raises:
        SettingError: the split has no dialogue that can be walked through.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["ansi"], "render_fps": 4}  # type: ignore[misc]

    def __init__(
        self,
        dataset: str = "sample/all-v1",
        split: str | None = "test",
        path: str | None = None,
        reward: str = "new_content_words",
        cache: str | None = None,
        dataset_kwargs: Mapping[str, Any] | None = None,
        render_mode: str | None = None,
    ) -> None:
        self._id = dataset
        self._settings: dict[str, Any] = {"path": path, "reward": reward, "cache": cache, **(dataset_kwargs or {})}
        held_out = load_dataset(dataset, split=split, **self._settings)
        self._split = split
        self._walkable = [episode for episode in held_out if _first_step(episode) is not None]
        if not self._walkable:
            raise SettingError(f"Making YieldReplay: expected dialogues in split {split!r} of {dataset!r}, got none.")
        self._by_id = {episode.id: episode for episode in self._walkable}
        self.observation_space = ChatHistorySpace(max_messages=CONTEXT + 1)
        self.action_space = Utterance()
        self.render_mode = render_mode
        self._episode: OfflineEpisode | None = None
        self._step = 0
        self._references: tuple[float, float] | None = None

    def get_dataset(self, split: str | None = "train") -> OfflineDataset:
        """Return the dataset to learn from.

        Args:
            split: the part to return; ``train`` by default, so that what is walked through stays unseen; None for all.
        """
        return load_dataset(self._id, split=split, **self._settings)

    def get_normalized_score(self, episode_return: float) -> float:
        """Return 0 for a random return and 1 for the human's, linear in between and beyond.

        The human's is the mean return over the split, of the steps that are walked through. The random one is that of
        the same steps of the same dialogues with their utterances shuffled (YIELD's control), which keeps what is said
        and destroys who asked for it.

        References:
            D4RL, Section 4, where it is in percent.
        """
        if self._references is None:
            corpus_name = self._id.partition("/")[0]
            ids = {episode.id for episode in self._walkable}
            corpus = load_corpus(corpus_name, self._split, path=self._settings["path"])
            shuffled = corpus.filter(where=lambda d: d.dialogue_id in ids).shuffled()
            reward = DIALOGUE_REWARDS.make(self._settings["reward"])
            human = fmean(_walked_return(episode) for episode in self._walkable)
            random = fmean(_walked_return(episode_of_dialogue(dialogue, reward)) for dialogue in shuffled)
            self._references = (random, human)
        random, human = self._references
        if human == random:
            raise SettingError(
                "Normalising a return: expected references that differ, got the same. Use more dialogues."
            )
        return (episode_return - random) / (human - random)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[ChatHistory, dict[str, Any]]:
        """Start walking through a dialogue.

        Raises:
            SettingError: the seed is invalid, or there is no such dialogue.
        """
        super().reset(seed=as_seed("Resetting YieldReplay", seed))
        self._episode = self._walkable[int(self.np_random.integers(len(self._walkable)))]
        wanted = (options or {}).get("episode_id")
        if wanted is not None:
            if wanted not in self._by_id:
                raise SettingError(f"Resetting YieldReplay: expected the id of a dialogue, got {wanted!r}.")
            self._episode = self._by_id[wanted]
        self._step = _first_step(self._episode) or 0
        return _view(self._episode, self._step), self._info(self._step)

    def step(self, action: str) -> tuple[ChatHistory, float, bool, bool, dict[str, Any]]:
        """Say anything, and hear what the respondent said to the human.

        Raises:
            InvalidAction: the action is not an utterance.
            ResetNeeded: there is no dialogue under way.
        """
        episode = self._episode
        if episode is None or self._step >= len(episode):
            raise ResetNeeded("Stepping YieldReplay: expected a dialogue under way, got none. Call reset() first.")
        check_action(action)
        step = self._step
        self._step += 1
        done = self._step >= len(episode)
        return _view(episode, self._step), float(episode.rewards[step]), done, False, self._info(step)

    def render(self) -> str | None:
        """Return the latest messages as text."""
        if self._episode is None or self.render_mode is None:
            return None
        return "\n".join(f"{m.role}: {m.content}" for m in _view(self._episode, self._step))

    def _info(self, step: int) -> dict[str, Any]:
        assert self._episode is not None
        return {
            "episode_id": self._episode.id,
            "step": step,
            "behaviour_action": self._episode.actions[step],
            "return_to_go": float(self._episode.returns_to_go[step]),
        }


def _first_step(episode: OfflineEpisode) -> int | None:
    """Return the first action that follows something the respondent said."""
    return next((step for step, position in enumerate(episode.positions) if position > 0), None)


def _walked_return(episode: OfflineEpisode) -> float:
    return sum(episode.rewards[_first_step(episode) or 0 :])


def _view(episode: OfflineEpisode, step: int) -> ChatHistory:
    window = episode.observation(step, CONTEXT if step < len(episode) else CONTEXT + 1)
    return window[1:] if window and window[0].role == "assistant" else window
