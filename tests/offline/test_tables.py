"""Tables of corpora, windows and imports keep their shape at every width."""

from collections import Counter

from elicit_gym.offline import OfflineDataset, load_corpus
from elicit_gym.offline.corpus_statistics import corpus_statistics, window_statistics
from elicit_gym.offline.dialogue_rewards import DIALOGUE_REWARDS
from elicit_gym.offline.tables import print_corpus_statistics, print_window_statistics
from elicit_gym.offline.windows import WindowRules
from tests.widths import check_widths


def test_a_corpus_and_its_windows() -> None:
    corpus = load_corpus("sample")
    stats = corpus_statistics(corpus)
    check_widths(lambda console: print_corpus_statistics(stats, "sample", console))
    dataset = OfflineDataset.from_dialogues(corpus, DIALOGUE_REWARDS.make("reply_length"))
    rules, counts = WindowRules(), Counter[str]()
    windows = window_statistics(dataset.windows(rules, counts), counts, rules)
    check_widths(lambda console: print_window_statistics(windows, "reply_length", console))
