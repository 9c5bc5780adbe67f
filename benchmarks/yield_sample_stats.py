"""The paper's Tables 2, 4 and 5 on the real 1 % sample of YIELD, and the picture of it."""

import argparse
from collections import Counter
from pathlib import Path

from common import RESULTS, write_result

from elicit_gym.offline.corpus_statistics import corpus_statistics, draw_statistics, window_statistics
from elicit_gym.offline.dataset import OfflineDataset
from elicit_gym.offline.dialogue_rewards import FactualNovelty
from elicit_gym.offline.entity_reader import EntityReader
from elicit_gym.offline.load_corpus import load_corpus
from elicit_gym.offline.windows import WindowRules

if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument(
        "--path", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "yield-v1-small1pct"
    )
    corpus = load_corpus(path=parser.parse_args().path)
    reward = FactualNovelty(reader=EntityReader(num_processes=2))
    reward.reader.warm(turn.utterance for dialogue in corpus for turn in dialogue.turns)
    dataset = OfflineDataset.from_dialogues(corpus, reward, published=True)
    counts: Counter[str] = Counter()
    rules = WindowRules()
    windows = window_statistics(dataset.windows(rules, counts), counts, rules)
    draw_statistics(corpus, dataset, RESULTS / "figures" / "yield_sample.png")
    write_result(
        "yield_sample",
        {"reward": reward.name, "published": True, "corpus": corpus_statistics(corpus), "windows": windows},
    )
