"""Offline datasets of human interviews, in the manner of D4RL and Minari."""

from elicit_gym.offline.dataset import OfflineDataset, qlearning_dataset, sequence_dataset
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.load_dataset import list_datasets, load_dataset

__all__ = [
    "OfflineDataset",
    "list_datasets",
    "load_corpus",
    "load_dataset",
    "qlearning_dataset",
    "sequence_dataset",
]
