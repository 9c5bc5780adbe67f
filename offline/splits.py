"""Parts of a corpus for training, choosing and testing: shares of its dialogues."""

from random import Random
from typing import Final

from elicit_gym.errors import SettingError

__all__ = [
    "DEFAULT_SHARES",
    "FEW_DIALOGUES",
    "SPLITS",
    "MissingSplitsWarning",
    "Shares",
    "parse_shares",
    "shared_out",
]

Shares = tuple[float, float, float]
"""The percentages of the dialogues for training, choosing and testing."""

SPLITS: Final = ("train", "dev", "test")
DEFAULT_SHARES: Final[Shares] = (80, 10, 10)
FEW_DIALOGUES: Final = 3
"""A domain of fewer dialogues cannot be in all three parts by itself; such domains are split as if they were one."""


class MissingSplitsWarning(UserWarning):
    """Dialogues have no splits, and what was done about it."""


def parse_shares(text: str) -> Shares:
    """Return the shares that a text such as ``80/10/10`` names.

    Raises:
        SettingError: it does not name three percentages which add up to 100, the first of them above 0.
    """
    try:
        train, dev, test = (float(part) for part in text.split("/"))
    except ValueError:
        train = dev = test = -1
    if not (train > 0 and min(dev, test) >= 0 and abs(train + dev + test - 100) < 1e-9):
        raise SettingError(
            "Splitting a corpus: expected 'train', 'dev' or 'test', or three percentages which add up to 100, such as "
            f"80/10/10 (for train, dev and test), got {text!r}. Fix the split."
        )
    return train, dev, test


def shared_out(ids_by_domain: dict[str, set[str]], shares: Shares, seed: int) -> dict[str, str]:
    """Give every dialogue id a split, domain by domain; the draw of each domain derives from (seed, domain)."""
    few = {domain for domain, ids in ids_by_domain.items() if len(ids) < FEW_DIALOGUES}
    together = set().union(*(ids_by_domain[domain] for domain in few))
    strata = {domain: ids for domain, ids in ids_by_domain.items() if domain not in few} | {"": together}
    chosen: dict[str, str] = {}
    for name, ids in strata.items():
        drawn = sorted(ids)
        Random(f"{seed}/{name}".encode("utf-8", "surrogatepass")).shuffle(drawn)
        num_dev, num_test = _counts(len(drawn), shares)
        chosen |= {
            dialogue_id: "dev" if i < num_dev else "test" if i < num_dev + num_test else "train"
            for i, dialogue_id in enumerate(drawn)
        }
    return chosen


def _counts(num: int, shares: Shares) -> tuple[int, int]:
    """Return how many of `num` dialogues choose and test: at least one where a share is above 0, and one trains."""
    if num < FEW_DIALOGUES:
        return 0, 0
    dev, test = (max(1, round(share / 100 * num)) if share else 0 for share in shares[1:])
    test = min(test, num - 1 - bool(dev))
    return min(dev, num - 1 - test), test
